package memstore

import (
	"context"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/ports"
)

// process is the process that has a handle, with what a test does to it. A test stops it, as SIGSTOP does, or cuts it off
// from the store, as a network does.
type process struct {
	who   ports.Holder
	clock lease.Clock // of its machine

	mu      sync.Mutex // guards the fields below
	stopped bool
	due     []*wakeup // what became due while it was stopped
	calls   int       // of ports so far
	cut     *Cut      // nil: the store can be reached
	late    bool      // the answer to the commit in progress is lost
	// unreached counts the calls that were cut off.
	unreached int64
}

// Cut is when a handle is cut off from its store.
type Cut struct {
	// Calls is how many further calls of ports are answered.
	Calls int
	// Late loses the answer to the next call instead, if it is an Append: it is performed, and its outcome unknown.
	Late bool
}

// Stop stops the process of the handle, as SIGSTOP does: nothing is renewed, and a lease that is lost is not noticed. The
// caller makes no call of the handle that a stopped process could not make.
func (p *process) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

// Continue continues a stopped process, and returns after everything that became due meanwhile has been done.
func (p *process) Continue() {
	p.mu.Lock()
	p.stopped = false
	due := p.due
	p.due = nil
	p.mu.Unlock()
	for _, w := range due {
		p.wake(w)
	}
}

// CutOff cuts the handle off: STORE_UNREACHABLE is returned by every call that is not answered any more.
func (p *process) CutOff(c Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Calls += p.calls
	p.cut = &c
}

// Reconnect ends the effect of CutOff.
func (p *process) Reconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.late = nil, false
}

// Calls returns the number of calls of ports so far.
func (p *process) Calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// reach begins a call of a port: INTERRUPTED if the context has ended, STORE_UNREACHABLE if the handle is cut off.
//
//go:noinline
func (p *process) reach(ctx context.Context) error { return p.begin(ctx, false) }

// begin is reach for a call that may be a commit.
func (p *process) begin(ctx context.Context, commit bool) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(err, fault.Interrupted, "using the store was interrupted")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.cut == nil || p.calls <= p.cut.Calls {
		return nil
	}
	if commit && p.cut.Late && p.calls == p.cut.Calls+1 {
		p.late = true
		return nil
	}
	p.unreached++
	return fault.New(fault.StoreUnreachable, "the store cannot be reached")
}

// committed ends a commit: STORE_OUTCOME_UNKNOWN if its answer is lost.
func (p *process) committed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.late {
		return nil
	}
	p.late = false
	return fault.New(fault.StoreOutcomeUnknown, "the connection to the store was lost while the answer to a commit was awaited")
}

// wakeup is a timer of a process; f is nil once it is cancelled or was called.
type wakeup struct{ f func() }

// timers is the clock of a process, whose timers do not fire while the process is stopped.
type timers struct{ *process }

// Now implements lease.Clock.
func (t timers) Now() time.Duration { return t.clock.Now() }

// After implements lease.Clock.
func (t timers) After(d time.Duration, f func()) func() {
	w := &wakeup{f}
	stop := t.clock.After(d, func() { t.wake(w) })
	return func() {
		stop()
		t.mu.Lock()
		defer t.mu.Unlock()
		w.f = nil
	}
}

// wake calls what is due, or keeps it until the process continues.
func (p *process) wake(w *wakeup) {
	p.mu.Lock()
	f := w.f
	if p.stopped {
		p.due, f = append(p.due, w), nil
	} else {
		w.f = nil
	}
	p.mu.Unlock()
	if f != nil {
		f()
	}
}
