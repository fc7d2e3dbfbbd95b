package db

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/waybill/waybill/durable/fault"
)

// LockName is the name of an advisory lock of a store, as a parameter: its value is the number of that lock, 64 bits.
type LockName string

// UseLock is the advisory lock that commits hold shared, and a cleanup alone.
const UseLock = ".use"

// key is the number of the lock in a schema.
func (n LockName) key(schema string) int64 {
	sum := sha256.Sum256([]byte("waybill\x00" + schema + "\x00" + string(n)))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// LockStatement waits for an advisory lock of the transaction.
func LockStatement(name string, shared bool) Statement {
	function := "pg_advisory_xact_lock"
	if shared {
		function += "_shared"
	}
	return Query("select "+function+"($1)::text", LockName(name))
}

// IdleStatement lets the server end the transaction of a process that does nothing for a minute, with its locks.
func IdleStatement() Statement {
	return Query("set local idle_in_transaction_session_timeout = " + strconv.Itoa(idleLockMs))
}

// begin is the beginning of a transaction that waits for locks no longer than the handle does. It makes the server wait for its
// disk, and for its replicas where it has some, also against the default of the server. What is read behind a lock is as it is then,
// and not as it was at the beginning of the transaction.
func (d *DB) begin() []Statement {
	return []Statement{Query("begin isolation level read committed"), lockTimeout(d.o.LockWait),
		Query("select set_config('synchronous_commit', case when current_setting('synchronous_commit') = 'remote_apply' " +
			"then 'remote_apply' else 'on' end, true)")}
}

// lockTimeout bounds how long the transaction waits for a lock: by at least 1 ms, since 0 is no bound.
func lockTimeout(d time.Duration) Statement {
	return Query("set local lock_timeout = " + strconv.FormatInt(max(1, d.Milliseconds()), 10))
}

// Transaction begins a transaction with further statements, which take locks. A connection that was made earlier and is gone is replaced
// once. Its caller gives the connection to Rollback or Finish. Errors are those of Failure; STORE_LOCKED: another process holds a lock.
func (d *DB) Transaction(ctx context.Context, locks ...Statement) (*Conn, error) {
	return d.transaction(ctx, append(d.begin(), locks...))
}

// Snapshot begins a transaction that reads one state of the store and changes nothing. The server ends it when nothing was read for
// LongMost. Its caller gives the connection to Rollback. Errors
// are those of Failure.
func (d *DB) Snapshot(ctx context.Context) (*Conn, error) {
	return d.transaction(ctx, []Statement{Query("begin isolation level repeatable read read only"),
		Query("set local idle_in_transaction_session_timeout = " + strconv.FormatInt(LongMost.Milliseconds(), 10)),
		// Translating a statement takes longer than reading a catalogue.
		Query("set local jit = off")})
}

// transaction begins a transaction with statements, on a connection that is replaced once if it was made earlier and is gone.
func (d *DB) transaction(ctx context.Context, first []Statement) (*Conn, error) {
	for {
		if ctx.Err() != nil {
			return nil, interrupted(ctx)
		}
		c, fresh, err := d.pool.take(ctx)
		if err != nil {
			return nil, d.unreached.note(err)
		}
		limit := c.limit
		c.limit += d.o.LockWait
		err = c.Run(ctx, first...)
		c.limit = limit
		if err == nil {
			return c, nil
		}
		gone := c.pg.IsClosed()
		d.Rollback(c)
		if fresh || !gone || ctx.Err() != nil {
			return nil, d.unreached.note(Failure(ctx, err))
		}
	}
}

// Rollback ends the transaction of a connection, and gives it back; nil is none.
func (d *DB) Rollback(c *Conn) {
	if c == nil {
		return
	}
	if !c.pg.IsClosed() && c.inTransaction() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.Run(ctx, Query("rollback")) // give closes a connection that is still in a transaction
	}
	d.pool.give(c)
}

// barrier is a statement that writes to the log of the server: a commit behind it is durable only when everything before it is.
func barrier() Statement { return Query("select pg_logical_emit_message(true, 'waybill', '')::text") }

// Commit commits a transaction with a barrier: what it has seen is durable then. An error says nothing about what it did: the caller does
// not rely on it then. STORE_UNREACHABLE: the server warns that replicas may not have it.
func (d *DB) Commit(ctx context.Context, c *Conn) error {
	limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), d.o.CommitMost, ErrSilent)
	defer cancel()
	err := c.Run(limited, barrier(), Query("commit"))
	if err == nil && c.warned != nil {
		err = fault.New(fault.StoreUnreachable, "the database server does not say that it is durable: %s", c.warned.Message)
	}
	return err
}

// LongMost is how long one answer of the server may take that is about much: a large deletion, or the sizes of everything.
const LongMost = 10 * time.Minute

// Long runs reading statements in one transaction, whose answers may take as long as LongMost. Errors are those of Transaction.
func (d *DB) Long(ctx context.Context, all ...Statement) error {
	c, err := d.Transaction(ctx)
	if err != nil {
		return err
	}
	defer d.Rollback(c)
	return d.unreached.note(Failure(ctx, c.runLong(ctx, all...)))
}

// runLong is Run with answers that may take as long as LongMost.
func (c *Conn) runLong(ctx context.Context, all ...Statement) error {
	limit := c.limit
	c.limit = LongMost
	defer func() { c.limit = limit }()
	return c.Run(ctx, all...)
}
