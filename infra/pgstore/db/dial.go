package db

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waybill/waybill/durable/fault"
)

// dialFault returns the fault of a connection that no host of an address gave. VALIDATION_ERROR: the address has a parameter that the
// server does not know; INTERRUPTED: the context ended; other errors are those of Failure.
func dialFault(ctx context.Context, a Address, err error) error {
	var p *pgconn.PgError
	switch {
	case ctx.Err() != nil:
		return fault.Wrap(err, fault.Interrupted, "connecting to the database was interrupted")
	case !errors.As(err, &p):
		return dialed(err)
	case p.Code == stateNoDatabase:
		return fault.Wrap(p, fault.TargetNotFound, "there is no database %s on the server", a.config.Database).
			Suggest("Check the name in --store, or let the administrator of the server create it; then run %s.", fault.Command{"store", "init"})
	case p.Code == stateNoParameter:
		return fault.Wrap(p, fault.ValidationError, "the address of the store has a parameter that the server does not know: %s", p.Message).
			Suggest("It has the form postgres://USER@HOST/DATABASE?schema=NAME.")
	}
	return serverFault(p)
}

// dialed returns the STORE_UNREACHABLE fault of hosts that were tried, with what each of them did.
func dialed(err error) error {
	var hosts []string
	todo := "Check the hosts and ports in --store, and that the server runs. Then send the same call again."
	for _, one := range tried(err) {
		reason, own := reasonOf(one)
		hosts, todo = append(hosts, reason), cmp.Or(own, todo)
	}
	return fault.Wrap(err, fault.StoreUnreachable, "the database cannot be reached: %s", strings.Join(slices.Compact(hosts), "; ")).Suggest("%s", todo)
}

// tried returns the errors of the hosts that were tried.
func tried(err error) []error {
	var connect *pgconn.ConnectError
	if !errors.As(err, &connect) {
		return []error{err}
	}
	several, ok := connect.Unwrap().(interface{ Unwrap() []error })
	if !ok {
		return []error{connect.Unwrap()}
	}
	return several.Unwrap()
}

// reasonOf names a host with what it did, and says what to do about it; "" for what is to be done about all others.
func reasonOf(err error) (reason, todo string) {
	var name *net.DNSError
	if errors.As(err, &name) {
		return "the name " + name.Name + " of a host has no address", ""
	}
	// The text of the error of a host begins with its address, which is followed by the name in brackets.
	text := shortly(err)
	host, _, ok := strings.Cut(text, " (")
	if !ok {
		return text, ""
	}
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return host + " does not prove to be the right server: " + strings.TrimPrefix(certificate.Err.Error(), "x509: "),
			"Name the host as its certificate does, and the authority that signed it in sslrootcert=FILE or PGSSLROOTCERT."
	case strings.HasSuffix(text, "server refused TLS connection"):
		return host + " does not encrypt connections", "Switch ssl on in the configuration of the server."
	case errors.Is(err, pgconn.ErrStandbyConnection):
		return host + " is a replica, and no primary server answers", "Name the primary server in --store, or send the same call again when there is one."
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return host + " has no server that accepts connections", ""
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return host + " did not answer in time", ""
	case errors.Is(err, syscall.EACCES):
		return host + " is not open to this user", "Let the administrator of the server give access to the directory of the socket."
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return host + ": " + shortly(err), ""
}
