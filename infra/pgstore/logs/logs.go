// Package logs is the logs of a store in a database: their locks, and reading them by the rules of package manifest, with what the rows
// show beside their lines. It writes none: what a commit changes is up to the packages above it. Start with New.
package logs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// Logs are the logs of a store, through one handle. It is safe for use by several goroutines.
type Logs struct {
	db *db.DB

	mu    sync.Mutex // guards locks
	locks map[string]*Held
}

var _ ports.Locks = (*Logs)(nil)

// New returns the logs of a database.
func New(d *db.DB) *Logs { return &Logs{db: d, locks: map[string]*Held{}} }

// Held is a log that this handle has locked: its lock is that of a transaction, which a commit ends. It is safe for use by several
// goroutines.
type Held struct {
	logs *Logs
	log  manifest.Log

	mu   sync.Mutex // guards the fields below, and is held while conn is used
	conn *db.Conn   // nil: the transaction ended, with a commit or with its connection
	head manifest.Head
}

// Lock implements ports.Locks. The lock ends with its transaction: that of the commit, or of its connection.
func (s *Logs) Lock(ctx context.Context, l manifest.Log) (func() error, error) {
	c, head, err := s.Begin(ctx, l, false)
	if err != nil {
		return nil, err
	}
	h := &Held{logs: s, log: l, conn: c, head: head}
	s.mu.Lock()
	s.locks[l.Root] = h
	s.mu.Unlock()
	return sync.OnceValue(func() error {
		s.mu.Lock()
		if s.locks[l.Root] == h {
			delete(s.locks, l.Root)
		}
		s.mu.Unlock()
		h.End()
		return nil
	}), nil
}

// Held returns a log that this handle has locked; nil if it has not.
func (s *Logs) Held(l manifest.Log) *Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.locks[l.Root]
}

// at compares the head of the log. A lock that ended with a commit is taken again: a second append behind the same gate.
func (h *Held) at(ctx context.Context, head manifest.Head) (err error) {
	if h.conn == nil {
		if h.conn, h.head, err = h.logs.Begin(ctx, h.log, false); err != nil {
			return err
		}
	}
	if h.head != head {
		return Conflict(h.log)
	}
	return nil
}

// IsAt compares the head of the log. A lock that ended with a commit is taken again. STORE_CONFLICT: it has another head; other errors are
// those of Begin.
func (h *Held) IsAt(ctx context.Context, head manifest.Head) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(ctx, head)
}

// Commit calls do with the transaction of the lock, which do ends, if the log has a head. Errors are those of IsAt and do.
func (h *Held) Commit(ctx context.Context, head manifest.Head, do func(*db.Conn) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.at(ctx, head); err != nil {
		return err
	}
	c := h.conn
	h.conn = nil
	return do(c)
}

// Take returns the transaction of the lock, which the caller ends; nil if it ended.
func (h *Held) Take() (c *db.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, h.conn = h.conn, nil
	return c
}

// End ends the transaction: the next append locks the log again.
func (h *Held) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs.db.Rollback(h.conn)
	h.conn = nil
}

// Touch lets something happen in the transaction, so that the server does not end it. An error is found by its next user.
func (h *Held) Touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil {
		_ = h.conn.Run(context.Background(), db.Query("select"))
	}
}

// Begin begins a transaction with the lock of a log, and returns the head of the log behind it. A connection that was made earlier
// and is gone is replaced once. SESSION_LOCKED, or STORE_LOCKED for a log of the store: another process has it; other errors are those of
// db.DB.Transaction.
func (s *Logs) Begin(ctx context.Context, l manifest.Log, shared bool) (*db.Conn, manifest.Head, error) {
	if ctx.Err() != nil {
		return nil, manifest.Head{}, fault.Wrap(ctx.Err(), fault.Interrupted, "waiting for the lock was interrupted")
	}
	var head manifest.Head
	all := []db.Statement{db.IdleStatement()}
	if name, ok := rows.SideLockOf(l); ok {
		all = append(all, db.LockStatement(name, true))
	}
	all = append(all, db.LockStatement(l.Root, shared), db.Query("select "+rows.HeadColumns+" from @.logs where root = $1", l.Root).
		Into(func(r db.Row) error { head = rows.StatedHead(r, 0); return nil }))
	c, err := s.db.Transaction(ctx, all...)
	if db.IsLocked(err) {
		err = s.Busy(ctx, l)
	}
	return c, head, err
}

// Busy is the fault about a log that is locked, with its holder as far as it is known: SESSION_LOCKED, or STORE_LOCKED for a log of the
// store.
func (s *Logs) Busy(ctx context.Context, l manifest.Log) error {
	code := fault.SessionLocked
	if l.Table.OwnerField == "storeId" {
		code = fault.StoreLocked
	}
	if by, ok := s.db.Holder(ctx, l.Root); ok {
		return db.WithPID(fault.New(code, "%s: the lock is held by %s", l.Owner, by).With("holder", by), by)
	}
	return fault.New(code, "%s: the log is locked", l.Owner)
}

// BusySession is the SESSION_LOCKED fault about a session of which a log is locked, with the holder as far as it is known.
func (s *Logs) BusySession(ctx context.Context, session id.Session) error {
	l := manifest.SessionEvents(session)
	if _, ok := s.db.Holder(ctx, l.Root); !ok {
		if by, ok := s.db.Holder(ctx, rows.SideLock(session)); ok {
			return fault.New(fault.SessionLocked, "%s: the lock of a side log is held by %s", session, by).With("holder", by)
		}
	}
	return s.Busy(ctx, l)
}

// Conflict is the STORE_CONFLICT fault of a head that is not the end of its log.
func Conflict(l manifest.Log) error {
	return fault.New(fault.StoreConflict, "%s moved between reading and writing", l.Owner)
}

// WithoutChanges implements ports.Inspector. The lock is lost with its connection: do was in vain then.
func (s *Logs) WithoutChanges(ctx context.Context, log manifest.Log, do func() error) error {
	c, _, err := s.Begin(ctx, log, true)
	if err != nil {
		return err
	}
	k := db.Keep(c, 0)
	defer func() { s.db.Rollback(k.End()) }()
	if err := do(); err != nil {
		return err
	}
	return db.Failure(ctx, k.Run(context.WithoutCancel(ctx), db.Query("select")))
}

// Confirm implements ports.Logs. Rows that a commit wrote which still waits for a replica are seen by no connection, but after a crash of
// the primary they are: so a commit that is behind them is waited for.
func (s *Logs) Confirm(ctx context.Context, l manifest.Log, head manifest.Head) error {
	if head.IsZero() {
		return ctx.Err()
	}
	c, _, err := s.Begin(ctx, l, true)
	if err != nil {
		return err
	}
	defer func() { s.db.Rollback(c) }()
	var lines []byte
	err = c.Run(ctx, db.Query("select g.lines from @.groups g join @.logs l using (log) where l.root = $1 and g.at = $2 and l.bytes >= $3",
		l.Root, head.GroupAt, head.Bytes).Into(func(r db.Row) error { lines = r.Bytes(0); return nil }))
	if err != nil {
		return db.Failure(ctx, err)
	}
	// Also for the answer that the log does not have the head: a server that was replaced, and answers as a primary still, cannot
	// commit where a commit waits for replicas, and does not know what its successor has.
	if err := s.db.Commit(ctx, c); err != nil {
		return db.Failure(ctx, err)
	}
	// The digest of the head's last group covers, through the chain, every group before it.
	if lines == nil || canon.Sum(lines) != head.Digest {
		return manifest.ErrNotOnChain
	}
	return nil
}

// IsRecorded reports whether a log has the group of a head, durably. It waits up to ResolveMost for a server that answers; an error says
// that none did.
func (s *Logs) IsRecorded(ctx context.Context, l manifest.Log, head manifest.Head) (bool, error) {
	limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.db.Options().ResolveMost, db.ErrSilent)
	defer cancel()
	for {
		err := s.Confirm(limited, l, head)
		if err == nil || errors.Is(err, manifest.ErrNotOnChain) {
			return err == nil, nil
		}
		select {
		case <-limited.Done():
			return false, err
		case <-time.After(200 * time.Millisecond):
		}
	}
}
