package db

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/waybill/waybill/durable/fault"
)

// Codes of errors of a server, by SQLSTATE.
const (
	stateDivision     = "22012" // what Require raises
	stateUnique       = "23505"
	stateReadOnly     = "25006"
	stateSerialize    = "40001"
	stateDeadlock     = "40P01"
	stateNoRight      = "42501"
	stateNoTable      = "42P01"
	stateNoSchema     = "3F000"
	stateNoDatabase   = "3D000"
	stateNoParameter  = "42704"
	stateDiskFull     = "53100"
	stateLocked       = "55P03"
	stateCancelled    = "57014"
	stateCorrupt      = "XX001"
	stateCorruptIndex = "XX002"
)

// stateOf returns the SQLSTATE of an error of the server, "" for any other.
func stateOf(err error) string {
	var p *pgconn.PgError
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

// Failure returns the fault of an error of a connection; nil, faults and the errors of receivers stay as they are. Nothing was recorded by
// the call, but for a commit, whose outcome its caller finds out. INTERRUPTED: the context ended. STORE_UNREACHABLE: the connection, or
// the server. STORE_READ_ONLY: a right is missing, or the server is a replica. STORE_CONFLICT: a concurrent change. STORE_LOCKED: a lock
// was not free in time. TARGET_NOT_FOUND: there is no store. STORE_FULL, STORE_CORRUPT, STORE_IO: as the server says.
func Failure(ctx context.Context, err error) error {
	var f *fault.Fault
	if err == nil || errors.As(err, &f) {
		return err
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		return serverFault(p)
	}
	var long *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &long) {
		return fault.Wrap(err, fault.StoreCorrupt, "the database has a row of %d bytes; a store has none above %d", long.ActualBodyLen, messageMost)
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrSilent) {
		return fault.Wrap(err, fault.Interrupted, "using the store was interrupted")
	}
	if isConnection(err) {
		return unreachable(err)
	}
	return err
}

// IsLocked reports that the server did not get a lock in time.
func IsLocked(err error) bool { return stateOf(err) == stateLocked }

// IsDeadlock reports that the server ended a transaction that waited for another one, which waited for it.
func IsDeadlock(err error) bool { return stateOf(err) == stateDeadlock }

// IsRefused reports that a statement of Require found no row.
func IsRefused(err error) bool { return stateOf(err) == stateDivision }

// isConnection reports an error of connecting or of a connection.
func isConnection(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.Is(err, ErrSilent) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) || isNetwork(err)
}

// unreached counts the calls of a handle that failed since the server could not be reached, or ended them.
type unreached struct{ atomic.Int64 }

// note counts an error, if it is of such a call, and returns it.
func (u *unreached) note(err error) error {
	if fault.Is(err, fault.StoreUnreachable) {
		u.Add(1)
	}
	return err
}

// Unreached returns how many calls of the handle failed since the server could not be reached.
func (d *DB) Unreached() int64 { return d.unreached.Load() }

// unreachable returns the STORE_UNREACHABLE fault of an error of a connection.
func unreachable(err error) error {
	reason := "the connection was lost"
	if errors.Is(err, ErrSilent) || errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
		reason = "it did not answer in time"
	}
	return fault.Wrap(err, fault.StoreUnreachable, "the database cannot be reached: %s", reason).
		Suggest("Try again when it can be reached. See what is wrong: %s.", fault.Command{"store", "check"})
}

// shortly is the last part of an error that names each host it tried, without line breaks.
func shortly(err error) string {
	text := strings.TrimSpace(err.Error())
	if lines := strings.Split(text, "\n"); len(lines) > 1 {
		text = strings.TrimSpace(lines[len(lines)-1])
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// serverFault returns the fault of an error that the server reported.
func serverFault(p *pgconn.PgError) error {
	check := fault.Command{"store", "check"}
	switch {
	case p.Code == stateNoTable, p.Code == stateNoSchema, p.Code == stateNoDatabase:
		return fault.Wrap(p, fault.TargetNotFound, "there is no store in this schema: %s", p.Message).
			Suggest("Check --store, or create the store with %s.", fault.Command{"store", "init"})
	case p.Code == stateReadOnly:
		return fault.Wrap(p, fault.StoreReadOnly, "the database allows no writing: %s", p.Message).
			Suggest("Connect to the primary server with a role that may write. See which one answers: %s.", check)
	case p.Code == stateNoRight:
		return fault.Wrap(p, fault.StoreReadOnly, "the role of this connection lacks a right: %s", p.Message).
			Suggest("Connect with a role that has it, or let the owner of the schema grant the rights: %s or %s.",
				fault.Command{"store", "init", "--writer", "ROLE", "--store", "URL"}, fault.Command{"store", "init", "--reader", "ROLE", "--store", "URL"})
	case p.Code == stateDiskFull:
		return fault.Wrap(p, fault.StoreFull, "the disk of the database server is full: %s", p.Message)
	case p.Code == stateCorrupt, p.Code == stateCorruptIndex:
		return fault.Wrap(p, fault.StoreCorrupt, "the database is damaged: %s", p.Message).
			Suggest("Restore a backup of the database. See what is readable: %s.", fault.Command{"verify"})
	case p.Code == stateSerialize, p.Code == stateDeadlock, p.Code == stateUnique:
		return fault.Wrap(p, fault.StoreConflict, "the database refused a concurrent change: %s", p.Message)
	case p.Code == stateLocked:
		return fault.Wrap(p, fault.StoreLocked, "the store is in use")
	case p.Code == stateCancelled, isClass(p, "08", "53", "57"):
		return fault.Wrap(p, fault.StoreUnreachable, "the database server ended the call: %s", p.Message).
			Suggest("Try again. See how the server is: %s.", check)
	case isClass(p, "28"):
		return fault.Wrap(p, fault.StoreIO, "the database refuses the connection: %s", p.Message).
			Suggest("Check the role, and its password in PGPASSFILE, in the service file or in PGPASSWORD.")
	}
	return fault.Wrap(p, fault.StoreIO, "the database reports an error: %s (SQLSTATE %s)", p.Message, p.Code)
}

// isClass reports an error whose SQLSTATE has one of the classes.
func isClass(p *pgconn.PgError, classes ...string) bool {
	for _, class := range classes {
		if strings.HasPrefix(p.Code, class) {
			return true
		}
	}
	return false
}

// isNetwork reports an error of a network connection.
func isNetwork(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
