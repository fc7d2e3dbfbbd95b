package db

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
)

// Change is a statement of a commit with what its failure means.
type Change struct {
	Statement
	// Refused is the fault of a division by zero, which Require raises, and of a unique key that exists; nil: that of Failure.
	Refused func() error
}

// Require makes a statement fail where a query returns no row: the rows are counted, and 1 is divided by their number. A
// pipeline has no other condition. The parameters are those of the query.
func Require(refused func() error, query string, args ...any) Change {
	return Change{Query("with found as ("+query+") select 1 / count(*) from found", args...), refused}
}

// Changes returns statements as changes.
func Changes(all []Statement) (out []Change) {
	for _, one := range all {
		out = append(out, Change{Statement: one})
	}
	return out
}

// Finish makes changes and commits the transaction of a connection, which is given back; places are what it changes, for those who
// watch it. done promises that the changes are durable, an error that none was made. With neither it is unknown, and the caller finds
// out. Errors are those of the changes and of Failure. STORE_LOCKED: a cleanup is under way.
func (d *DB) Finish(ctx context.Context, c *Conn, changes []Change, places ...string) (done bool, err error) {
	defer func() { d.Rollback(c) }()
	var all []Statement
	all = append(all, LockStatement(UseLock, true))
	for _, one := range changes {
		all = append(all, one.Statement)
	}
	reached := 0
	all = append(all, barrier(), Query("commit"))
	commits := len(all)
	// A notification takes a lock of the whole database until its transaction ends: it has one of its own, which waits for no disk.
	for _, place := range places {
		all = append(all, Query("select pg_notify($1, $2)::text", d.channel(), place))
	}
	limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), d.o.CommitMost+d.o.LockWait, ErrSilent)
	defer cancel()
	limit := c.limit
	c.limit = 0
	err = c.runCounted(limited, &reached, all...)
	c.limit = limit
	var own *fault.Fault // of a statement that was not sent
	switch state := stateOf(err); {
	case reached >= commits && c.warned == nil:
		d.committed(places...)
		return true, nil
	case reached >= commits-1:
		return false, nil // the commit was sent: its answer is missing, an error, or a warning that replicas may not have it
	case state == "" && !errors.As(err, &own):
		return false, nil // the server may have committed, although the connection is broken
	case state == stateLocked && reached == 0:
		return false, inUse()
	case (state == stateDivision || state == stateUnique) && reached > 0 && reached <= len(changes):
		if refused := changes[reached-1].Refused; refused != nil {
			return false, refused()
		}
	case state != "" && c.pg.IsClosed():
		return false, nil
	}
	return false, Failure(ctx, err)
}

// inUse is the fault of a use-lock that was not free in time.
func inUse() error { return fault.New(fault.StoreLocked, "the store is in use") }

// Locked begins a transaction with locks, calls decide in it and commits the changes that it returns; none, and an error, change
// nothing. Errors are those of decide, Transaction and Finish. STORE_OUTCOME_UNKNOWN: each caller may be called again.
func (d *DB) Locked(ctx context.Context, locks []Statement, decide func(*Conn) ([]Change, error), places ...string) error {
	c, err := d.Transaction(ctx, locks...)
	if err != nil {
		return err
	}
	changes, err := decide(c)
	if err != nil || len(changes) == 0 {
		d.Rollback(c)
		return Failure(ctx, err)
	}
	done, err := d.Finish(ctx, c, changes, places...)
	if err != nil || done {
		return err
	}
	return fault.New(fault.StoreOutcomeUnknown, "the connection to the database was lost during a commit, and it is not known whether this was recorded")
}

// Transact makes changes in a transaction and waits until they are durable. What is read is read at its end. Errors are those of
// Locked.
func (d *DB) Transact(ctx context.Context, changes []Change, reads ...Statement) error {
	return d.Locked(ctx, nil, func(*Conn) ([]Change, error) { return append(changes, Changes(reads)...), nil })
}
