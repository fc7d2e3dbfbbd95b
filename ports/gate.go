package ports

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
)

// Witness proves that its holder has locked the log in this process and found it healthy under that
// lock. Only WithHealthySession creates a valid one, for the duration of its callback; the zero
// Witness, one of another log and an expired one are refused with ErrWitness.
type Witness struct{ lease *lease }

// lease is the validity of a Witness. Every use holds mu shared; WithHealthySession takes it
// exclusively to close the lease before it unlocks, so that a goroutine that outlives the callback
// cannot write after the lock is released.
type lease struct {
	mu     sync.RWMutex
	closed bool
	log    manifest.Log
}

// ErrWitness reports an append without a valid Witness of the log: a bug in the caller, detected
// before any I/O.
var ErrWitness = errors.New("append without holding the lock of this log")

// Enter is called by implementations of Logs before any I/O of an append. While the caller has not
// called leave, the lock cannot be released. ErrWitness: the witness is not valid for log.
func (w Witness) Enter(log manifest.Log) (leave func(), err error) {
	if w.lease == nil || w.lease.log.Root != log.Root || w.lease.log.Owner != log.Owner || !w.lease.mu.TryRLock() {
		return nil, ErrWitness
	}
	if w.lease.closed {
		w.lease.mu.RUnlock()
		return nil, ErrWitness
	}
	return w.lease.mu.RUnlock, nil
}

// WithHealthySession locks a log, reads it from a known head to its end, and calls fn only
// if the log is healthy. It is the only source of a valid Witness (docs/design.md#tokens,
// docs/design.md#commit-protocol). Witness and verdict are valid until fn returns. Errors: those of
// Locks.Lock and Logs.Read, SESSION_UNHEALTHY, or the error of fn.
func WithHealthySession(ctx context.Context, locks Locks, logs Logs, log manifest.Log, from manifest.Head,
	visit NewVisitor, fn func(Witness, manifest.Verdict) error) error {
	unlock, err := locks.Lock(ctx, log)
	if err != nil {
		return err
	}
	// An error of unlock is ignored: the append is committed and must be acknowledged, and the end
	// of the process releases the lock.
	defer func() { _ = unlock() }()
	verdict, err := logs.Read(ctx, ReadRequest{Log: log, From: from, Locked: true}, visit)
	if err != nil {
		return err
	}
	if verdict.Health != manifest.Healthy {
		return Unhealthy(log, verdict)
	}
	l := &lease{log: log}
	defer func() { l.mu.Lock(); l.closed = true; l.mu.Unlock() }()
	defer Enter(ctx, Deciding)()
	return fn(Witness{l}, verdict)
}

// Unhealthy returns the SESSION_UNHEALTHY fault for a log that must not be written to, with its
// health in the details and its last finding in the message.
func Unhealthy(log manifest.Log, v manifest.Verdict) error {
	f := fault.New(fault.SessionUnhealthy, "%s is %s; nothing can be written to it", log.Owner, v.Health).
		With("health", string(v.Health)).With(log.Table.OwnerField, log.Owner)
	if v.Damaged() {
		// The reason is returned only, not recorded: nothing may be written to such a log
		// (docs/design.md#blocked-attempts).
		f.With("reason", reason.StorageCorrupt.String()).With("blocker", string(reason.StorageCorrupt.Blocker()))
	}
	if len(v.Findings) > 0 {
		last := v.Findings[len(v.Findings)-1]
		f.Message += ": " + last.Message
	}
	return f
}
