package memstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/hosts"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// faulty is a handle of which a change replaces some methods.
type faulty struct {
	handle
	hold   func(ctx context.Context, h handle, s id.Session) (ports.Lease, error)                                         // nil: as it is
	lock   func(ctx context.Context, h handle, l manifest.Log) (func() error, error)                                      // nil: as it is
	change func(h handle, p manifest.Plan) manifest.Plan                                                                  // nil: as it is
	extend bool                                                                                                           // the lease of an extension is not compared
	append func(ctx context.Context, h handle, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) // nil: as it is
}

// Performers implements suite.Store.
func (f faulty) Performers() ports.Performers { return f }

// Hold implements ports.Performers.
func (f faulty) Hold(ctx context.Context, s id.Session) (ports.Lease, error) {
	if f.hold == nil {
		return f.handle.Performers().Hold(ctx, s)
	}
	return f.hold(ctx, f.handle, s)
}

// Lock implements ports.Locks.
func (f faulty) Lock(ctx context.Context, l manifest.Log) (func() error, error) {
	if f.lock == nil {
		return f.handle.Lock(ctx, l)
	}
	return f.lock(ctx, f.handle, l)
}

// Append implements ports.Logs.
func (f faulty) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	if f.change != nil {
		p = f.change(f.handle, p)
	}
	if f.append != nil {
		return f.append(ctx, f.handle, w, at, p)
	}
	return f.handle.Append(ctx, w, at, p)
}

// BeginExtension implements ports.SessionImporter.
func (f faulty) BeginExtension(ctx context.Context, s id.Session, logs []ports.Extended) (ports.SessionImport, error) {
	logs = slices.Clone(logs)
	for i := range logs {
		if f.extend {
			logs[i].Lease = 0
		}
	}
	return f.handle.BeginExtension(ctx, s, logs)
}

// mutated returns the setup of a store whose handles are changed.
func mutated(change faulty) suite.Setup {
	return func(testing.TB) suite.Bench {
		w := hosts.New(suite.Seed(1))
		return suite.Bench{Open: func(wait time.Duration) suite.Store {
			f := change
			f.handle = handle{w.Open(wait), w}
			return f
		}}
	}
}

// changed returns a hold whose lease is changed.
func changed(change func(h handle, s id.Session, l *ports.Lease)) faulty {
	return faulty{hold: func(ctx context.Context, h handle, s id.Session) (ports.Lease, error) {
		l, err := h.Performers().Hold(ctx, s)
		if err == nil {
			change(h, s, &l)
		}
		return l, err
	}}
}

// withoutHolder returns an error without the detail "holder".
func withoutHolder(err error) error {
	if f := fault.Of(err); err != nil {
		delete(f.Details, "holder")
		return f
	}
	return nil
}

func TestMutantsOfLeasesAreDetected(t *testing.T) {
	t.Parallel()
	constant := changed(func(_ handle, _ id.Session, l *ports.Lease) { l.Token = 1 })
	constant.change = func(h handle, p manifest.Plan) manifest.Plan {
		if s, err := id.ParseSession(p.Log.Owner); err == nil && p.Lease == 1 {
			p.Lease = h.w.Disk.Token(s)
		}
		return p
	}
	storetest.DetectMutants(t, setup, []storetest.Mutant{
		{Name: "the lease of an append is not compared", In: "an append under a lease that is not present is refused",
			Setup: mutated(faulty{change: func(_ handle, p manifest.Plan) manifest.Plan { p.Lease = 0; return p }})},
		{Name: "only tokens that were never granted are refused", In: "an append under a lease that is not present is refused",
			Setup: mutated(faulty{change: func(h handle, p manifest.Plan) manifest.Plan {
				if s, err := id.ParseSession(p.Log.Owner); err == nil && p.Lease <= h.w.Disk.Token(s) {
					p.Lease = 0
				}
				return p
			}})},
		{Name: "the end of the present lease is not compared", In: "an append under a lease that is not present is refused",
			Setup: mutated(faulty{change: func(h handle, p manifest.Plan) manifest.Plan {
				if s, err := id.ParseSession(p.Log.Owner); err == nil && p.Lease == h.w.Disk.Token(s) {
					p.Lease = 0
				}
				return p
			}})},
		{Name: "the lease is compared behind the commit", In: "an append under a lease that is not present is refused",
			Setup: mutated(faulty{append: func(ctx context.Context, h handle, w ports.Witness, at manifest.Head,
				p manifest.Plan) (manifest.Head, error) {
				head, err := h.Append(ctx, w, at, p)
				if fault.Is(err, fault.RunBusy) {
					unleased := p
					unleased.Lease = 0
					_, _ = h.Append(ctx, w, at, unleased)
				}
				return head, err
			}})},
		{Name: "the refusal of a lost lease does not name the holder", In: "an append under a lease that is not present is refused",
			Setup: mutated(faulty{append: func(ctx context.Context, h handle, w ports.Witness, at manifest.Head,
				p manifest.Plan) (manifest.Head, error) {
				head, err := h.Append(ctx, w, at, p)
				return head, withoutHolder(err)
			}})},
		{Name: "the lease of an extension is not compared", In: "an extension under a lease that is not present is refused",
			Setup: mutated(faulty{extend: true})},
		{Name: "performers do not exclude each other", In: "a session has one performer at a time",
			Setup: mutated(faulty{hold: func(ctx context.Context, h handle, s id.Session) (ports.Lease, error) {
				l, err := h.Performers().Hold(ctx, s)
				if fault.Is(err, fault.RunBusy) {
					return ports.Lease{Token: h.w.Disk.Token(s), Lost: make(chan struct{}), Release: func() error { return nil }}, nil
				}
				return l, err
			}})},
		{Name: "a busy session does not name its performer", In: "a session has one performer at a time",
			Setup: mutated(faulty{hold: func(ctx context.Context, h handle, s id.Session) (ports.Lease, error) {
				l, err := h.Performers().Hold(ctx, s)
				return l, withoutHolder(err)
			}})},
		{Name: "a release does nothing", In: "a session has one performer at a time",
			Setup: mutated(changed(func(_ handle, _ id.Session, l *ports.Lease) { l.Release = func() error { return nil } }))},
		{Name: "a second release ends the lease of another holder", In: "a session has one performer at a time",
			Setup: mutated(releasing())},
		{Name: "the token does not grow", In: "the tokens of leases grow", Setup: mutated(constant)},
		{Name: "a late release ends the lease of another holder", In: "a late release does not end the next lease",
			Setup: mutated(releasing())},
		{Name: "no lease is renewed", In: "a lease is renewed while its holder lives",
			Setup: mutated(changed(func(h handle, _ id.Session, _ *ports.Lease) { h.Stop() }))},
		{Name: "a lease has no end", In: "the lease of a holder that hangs ends",
			Setup: mutated(faulty{hold: func(ctx context.Context, h handle, s id.Session) (ports.Lease, error) {
				before := h.w.Disk.Token(s)
				l, err := h.Performers().Hold(ctx, s)
				if err == nil && before != 0 {
					_ = l.Release()
					return ports.Lease{}, ports.BusyPerformer(s, ports.Holder{PID: 1})
				}
				return l, err
			}})},
		{Name: "the loss of a lease is not reported", In: "a token orders leases where a store has them",
			Setup: mutated(changed(func(_ handle, _ id.Session, l *ports.Lease) { l.Lost = nil }))},
		{Name: "a released lease is reported as lost", In: "a lease is renewed while its holder lives",
			Setup: mutated(changed(func(_ handle, _ id.Session, l *ports.Lease) {
				lost, release := make(chan struct{}), l.Release
				l.Lost, l.Release = lost, func() error { close(lost); return release() }
			}))},
		{Name: "a log has no lock", In: "a log has one writer at a time",
			Setup: mutated(faulty{lock: func(ctx context.Context, h handle, l manifest.Log) (func() error, error) {
				unlock, err := h.Lock(ctx, l)
				if fault.Is(err, fault.SessionLocked) {
					return func() error { return nil }, nil
				}
				return unlock, err
			}})},
		{Name: "a busy lock does not name its holder", In: "a log has one writer at a time",
			Setup: mutated(faulty{lock: func(ctx context.Context, h handle, l manifest.Log) (func() error, error) {
				unlock, err := h.Lock(ctx, l)
				return unlock, withoutHolder(err)
			}})},
	})
}

// releasing is a store whose releases are not compared with the present lease.
func releasing() faulty {
	return changed(func(h handle, s id.Session, l *ports.Lease) {
		release := l.Release
		l.Release = func() error { h.w.Disk.ReleasePresent(s); return release() }
	})
}
