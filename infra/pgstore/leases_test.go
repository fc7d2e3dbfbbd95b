package pgstore_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// hosts are machines that share a store, with clocks of their own. Time passes on the clock of the database by moving the ends of leases
// back.
type hosts struct {
	t       testing.TB
	address pgstore.Address
	admin   *pgstore.Store

	mu     sync.Mutex // guards the fields below
	all    []*host
	began  time.Time     // when time began to pass; zero: it did not
	passed time.Duration // since then, as Pass says
	moved  time.Duration // the ends of leases, back: what passed, less what the clock of the database did by itself
}

// host is a handle of one of the machines. It implements suite.Leases.
type host struct {
	*pgstore.Store
	of      *hosts
	clock   *lease.Manual
	stopped bool          // its clock waits, as seen by a process that does not run
	missed  time.Duration // while it was stopped
}

var _ suite.Leases = (*host)(nil)

// leased returns the machines of a store.
func leased(t testing.TB, a pgstore.Address) *hosts {
	return &hosts{t: t, address: a, admin: openAt(t, a, pgstore.Options{})(time.Second)}
}

// open returns a handle of another machine.
func (h *hosts) open(wait time.Duration) suite.Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.all) + 1
	clock := lease.NewManual(time.Duration(n*n) * time.Hour)
	who := ports.Holder{Host: fmt.Sprintf("host-%d", n), PID: os.Getpid(), Ref: fmt.Sprintf("worker-%d", n)}
	one := &host{Store: openAt(h.t, h.address, pgstore.Options{Who: who, Clock: clock})(wait), of: h, clock: clock}
	h.all = append(h.all, one)
	return one
}

// Pass implements suite.Leases.
func (o *host) Pass(d time.Duration) {
	const step = 500 * time.Millisecond // small beside the times of a lease
	for ; d > 0; d -= step {
		o.of.pass(min(d, step))
		o.of.mu.Lock()
		all := append([]*host(nil), o.of.all...)
		o.of.mu.Unlock()
		for _, one := range all {
			one.pass(min(d, step))
		}
	}
}

// pass lets time pass on the clock of the database. The time that the test itself takes does not count.
func (h *hosts) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.began.IsZero() {
		h.began = time.Now()
	}
	h.passed += d
	move := h.passed - time.Since(h.began) - h.moved
	h.moved += move
	h.admin.Exec(h.t, "update @.leases set until = until - $1 * interval '1 microsecond'", move.Microseconds())
}

// pass lets time pass on one clock, unless its process is stopped.
func (o *host) pass(d time.Duration) {
	o.of.mu.Lock()
	stopped := o.stopped
	if stopped {
		o.missed += d
	}
	o.of.mu.Unlock()
	if !stopped {
		o.clock.Pass(d)
	}
}

// Stop implements suite.Leases.
func (o *host) Stop() {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.stopped = true
}

// Continue implements suite.Leases.
func (o *host) Continue() {
	o.of.mu.Lock()
	missed := o.missed
	o.stopped, o.missed = false, 0
	o.of.mu.Unlock()
	o.clock.Pass(missed)
}
