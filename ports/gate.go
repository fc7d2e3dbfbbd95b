package ports

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
)

// Witness proves that its holder stands inside the gate: the log is locked by
// this process and was healthy under the lock. Only WithHealthySession makes a
// live one; the zero Witness, a forged one and one kept for later are refused.
type Witness struct{ lease *lease }

// lease is a witness's life: whoever uses it holds mu shared, and the gate takes
// it exclusively before it unlocks, so that a goroutine which outlives the
// callback cannot write after the lock is gone.
type lease struct {
	mu     sync.RWMutex
	closed bool
	log    manifest.Log
}

// ErrWitness says that an append was tried without the live lock of its log: a
// bug of ours, caught before any I/O.
var ErrWitness = errors.New("append without the live lock of this log")

// Enter is called by adapters before any I/O; leave when it is done.
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

// WithHealthySession locks a log, reads it from a known head on, and calls fn
// only when it is healthy: the one way to a Witness (locks section 1.2, R6).
// What fn gets is valid until it returns.
func WithHealthySession(ctx context.Context, locks Locks, logs Logs, log manifest.Log, from manifest.Head, v Visitor,
	fn func(Witness, manifest.Verdict) error) error {
	unlock, err := locks.Lock(ctx, log)
	if err != nil {
		return err
	}
	// What was committed stays committed: a failed unlock must not turn an
	// acknowledged append into an error, and the end of the process unlocks.
	defer func() { _ = unlock() }()
	verdict, err := logs.Read(ctx, Reading{Log: log, From: from, Locked: true}, v)
	if err != nil {
		return err
	}
	if verdict.Health != manifest.Healthy {
		return Unhealthy(log, verdict)
	}
	l := &lease{log: log}
	defer func() { l.mu.Lock(); l.closed = true; l.mu.Unlock() }()
	return fn(Witness{l}, verdict)
}

// Unhealthy is the refusal to build on a log that is not healthy.
func Unhealthy(log manifest.Log, v manifest.Verdict) error {
	f := fault.New(fault.SessionUnhealthy, "%s is %s; nothing can be written to it", log.Owner, v.Health).
		With("health", string(v.Health)).With(log.Table.OwnerField, log.Owner)
	if v.Damaged() {
		// The reason is returned and never stored: nothing may be written to such a log
		// (R16).
		f.With("reason", reason.StorageCorrupt.String()).With("blocker", string(reason.StorageCorrupt.Blocker()))
	}
	if len(v.Findings) > 0 {
		last := v.Findings[len(v.Findings)-1]
		f.Message += ": " + last.Message
	}
	return f
}
