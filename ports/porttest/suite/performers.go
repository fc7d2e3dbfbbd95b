package suite

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Leases is implemented by the handles of a store with leases, for the cases about leases; the suite skips these for
// other stores.
type Leases interface {
	// Pass lets time pass on the clocks of the store and of all handles, of which the handles that are not stopped notice
	// what is due: a renewal every limits.LeaseRenewMs, the loss limits.LeaseMarginMs before the end. A fixture with shorter
	// leases scales d.
	Pass(d time.Duration)
	// Stop stops the handle as SIGSTOP stops a process: it neither renews its leases nor notices their loss.
	Stop()
	// Continue ends the effect of Stop.
	Continue()
}

// The times of a lease.
const (
	length = limits.LeaseMs * time.Millisecond
	short  = time.Second // a moment before or after
)

// hold makes a handle the performer of a session and fails the test on an error.
func hold(t testing.TB, s Store, session id.Session) ports.Lease {
	t.Helper()
	l, err := s.Performers().Hold(context.Background(), session)
	must(t, err)
	return l
}

// namesHolder reports that the detail "holder" is this process, which holds everything that tests hold.
func namesHolder(f *fault.Fault) bool {
	by, ok := f.Details["holder"].(ports.Holder)
	return ok && by.PID == os.Getpid()
}

// wantBusy fails the test unless a session has a performer, which the fault names.
func wantBusy(t testing.TB, s Store, session id.Session, when string) {
	t.Helper()
	l, err := s.Performers().Hold(context.Background(), session)
	if err == nil {
		_ = l.Release()
		t.Fatalf("%s: a second performer of the session", when)
	}
	f := fault.Of(err)
	if f.Code != fault.RunBusy || f.Retry.Kind != fault.RetryableAfterMs || !namesHolder(f) {
		t.Errorf("%s: %v (retry %+v, details %v); want RUN_BUSY with the holder", when, err, f.Retry, f.Details)
	}
}

// onePerformer: a session has at most one performer, across handles and within one.
//   - RUN_BUSY is returned at once, also by a handle that waits for busy logs, and names the holder.
//   - The performers of other sessions, and the writers of logs, are not affected.
//   - A release lets the next performer in. A second one has no effect, also on that performer.
func onePerformer(t testing.TB, open func(time.Duration) Store) {
	s, other, r := open(0), open(time.Hour), NewSessionFixture(1)
	commit(t, s, r, 0)
	first := hold(t, s, r.Session)
	wantBusy(t, other, r.Session, "another handle")
	wantBusy(t, s, r.Session, "the same handle")
	unrelated := NewSessionFixture(2)
	commit(t, other, unrelated, 0)
	must(t, hold(t, other, unrelated.Session).Release())
	if _, err := Gate(other, r.Advance(3)); err != nil {
		t.Errorf("a log is not written while its session has a performer: %v", err)
	}
	must(t, first.Release())
	second := hold(t, other, r.Session)
	_ = first.Release()
	wantBusy(t, s, r.Session, "after a second release")
	must(t, second.Release())
	third := hold(t, s, r.Session)
	must(t, third.Release())
}

// leaseTokens: where a store has no leases the token is 0 and never lost, and an append takes no notice of one. Where it has
// them the token is greater than 0, and the loss is reported.
func leaseTokens(t testing.TB, open func(time.Duration) Store) {
	s, r := open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 0)
	l := hold(t, s, r.Session)
	if _, ok := s.(Leases); ok || l.Token != 0 {
		if l.Token <= 0 || l.Lost == nil {
			t.Errorf("a lease with token %d, and a loss that is reported: %v", l.Token, l.Lost != nil)
		}
		must(t, l.Release())
		return
	}
	p := r.Advance(heads[0].Next)
	p.Lease = 7
	if _, err := Gate(s, p); err != nil {
		t.Errorf("an append with a lease to a store without leases: %v", err)
	}
	must(t, l.Release())
}

// leased returns the handle as one of a store with leases, and skips the case for other stores.
func leased(t testing.TB, s Store) Leases {
	t.Helper()
	l, ok := s.(Leases)
	if !ok {
		t.Skip("the store has no leases")
	}
	return l
}

// leasedPlan returns a plan that a performer makes.
func leasedPlan(p manifest.Plan, token int64) manifest.Plan {
	p.Lease = token
	return p
}

// wantLost fails the test unless an append under a lease is refused and leaves the log as it is.
func wantLost(t testing.TB, s Store, p manifest.Plan, held bool, when string) {
	t.Helper()
	_, before := Read(t, s, p.Log, manifest.Head{})
	_, err := Gate(s, p)
	f := fault.Of(err)
	if err == nil || f.Code != fault.RunBusy || f.Details["leaseLost"] != true || namesHolder(f) != held {
		t.Errorf("%s: %v, want RUN_BUSY for a lost lease, with its holder: %v", when, err, held)
	}
	if _, v := Read(t, s, p.Log, manifest.Head{}); v.Head != before.Head || len(v.Findings) > 0 {
		t.Errorf("%s: the refused append moved the log from %+v to %+v", when, before.Head, v.Head)
	}
}

// staleLease: an append under a lease that is not the present one of its session is refused, and the log is unchanged. So
// is one under a lease that has ended without a successor, was released, was never granted, or is that of another session;
// and an append to a side log. An append under the present lease, and one under none, is committed.
func staleLease(t testing.TB, open func(time.Duration) Store) {
	a, b, r := open(0), open(0), NewSessionFixture(1)
	hung := leased(t, a)
	heads := commit(t, a, r, 0)
	first := hold(t, a, r.Session)
	head, err := Gate(a, leasedPlan(r.Advance(heads[0].Next), first.Token))
	must(t, err)
	plan := func(token int64) manifest.Plan { return leasedPlan(r.Advance(head.Next), token) }
	wantLost(t, a, plan(first.Token+1), true, "a token that was never granted")
	hung.Stop()
	hung.Pass(length + short)
	wantLost(t, a, plan(first.Token), false, "a lease that has ended")
	second := hold(t, b, r.Session)
	wantLost(t, a, plan(first.Token), true, "a lease that another handle has taken over")
	if err := first.Confirm(t.Context()); !fault.Is(err, fault.RunBusy) || second.Confirm(t.Context()) != nil {
		t.Errorf("a lease that another handle has taken over is confirmed: %v", err)
	}
	wantLost(t, b, plan(first.Token), true, "the same by another handle")
	wantLost(t, a, leasedPlan(Notes(SessionNotes(r.Session), 0, "x"), first.Token), true, "a side log")
	if _, err := Gate(b, leasedPlan(Notes(SessionNotes(r.Session), 0, "x"), second.Token)); err != nil {
		t.Errorf("a side log under the present lease: %v", err)
	}
	head, err = Gate(b, plan(second.Token))
	must(t, err)
	if head, err = Gate(a, plan(0)); err != nil {
		t.Errorf("an append by a caller that is no performer: %v", err)
	}
	other := NewSessionFixture(2)
	next := commit(t, b, other, 0)[0].Next
	wantLost(t, b, leasedPlan(other.Advance(next), second.Token), false, "the lease of another session")
	must(t, second.Release())
	wantLost(t, b, plan(second.Token), false, "a released lease")
}

// staleExtension: an extension under a lease that is not present is refused as an append is, and no log is extended.
func staleExtension(t testing.TB, open func(time.Duration) Store) {
	s := open(0)
	leased(t, s)
	x := NewExtensionFixture(t, 1, 3, 2, 1)
	must(t, x.Prepare(s))
	l := hold(t, s, x.Session)
	x.Lease = l.Token + 1
	err := x.Extend(s)
	if f := fault.Of(err); err == nil || f.Code != fault.RunBusy || !namesHolder(f) {
		t.Errorf("extended under another lease: %v; want RUN_BUSY with the holder", err)
	}
	before, _ := x.OwnHeads()
	if _, v := Read(t, open(0), x.Log, manifest.Head{}); v.Head != before {
		t.Errorf("the refused extension moved the log to %+v", v.Head)
	}
	x.Lease = l.Token
	must(t, x.Extend(s))
	must(t, l.Release())
}

// growingTokens: each lease of a session has a greater token than the one before, after a release and after a loss, by
// any handle.
func growingTokens(t testing.TB, open func(time.Duration) Store) {
	a, b, r := open(0), open(0), NewSessionFixture(1)
	hung := leased(t, a)
	commit(t, a, r, 0)
	last := int64(0)
	for i := range 3 {
		for _, s := range []Store{a, b} {
			l := hold(t, s, r.Session)
			if l.Token <= last {
				t.Errorf("round %d: token %d follows %d", i, l.Token, last)
			}
			last = l.Token
			must(t, l.Release())
		}
	}
	lost := hold(t, a, r.Session)
	hung.Stop()
	hung.Pass(length + short)
	if l := hold(t, b, r.Session); l.Token <= lost.Token {
		t.Errorf("token %d follows the lost lease %d", l.Token, lost.Token)
	}
}

// lateRelease: the release of a lost lease does not end the lease of the next holder.
func lateRelease(t testing.TB, open func(time.Duration) Store) {
	a, b, r := open(0), open(0), NewSessionFixture(1)
	hung := leased(t, a)
	heads := commit(t, a, r, 0)
	lost := hold(t, a, r.Session)
	hung.Stop()
	hung.Pass(length + short)
	present := hold(t, b, r.Session)
	hung.Continue()
	_ = lost.Release()
	wantBusy(t, open(0), r.Session, "after the release of the lost lease")
	if _, err := Gate(b, leasedPlan(r.Advance(heads[0].Next), present.Token)); err != nil {
		t.Errorf("the present lease is not in force after the release of the lost one: %v", err)
	}
}

// renewal: a lease that is not released stays in force for as long as its holder lives.
func renewal(t testing.TB, open func(time.Duration) Store) {
	a, b, r := open(0), open(0), NewSessionFixture(1)
	clock := leased(t, a)
	heads := commit(t, a, r, 0)
	l := hold(t, a, r.Session)
	for range 5 {
		clock.Pass(length - short)
		wantBusy(t, b, r.Session, "a renewed lease")
	}
	if isClosed(l.Lost) {
		t.Error("a renewed lease is reported as lost")
	}
	if _, err := Gate(a, leasedPlan(r.Advance(heads[0].Next), l.Token)); err != nil {
		t.Errorf("an append under a renewed lease: %v", err)
	}
	must(t, l.Release())
	clock.Pass(length)
	if isClosed(l.Lost) {
		t.Error("a released lease is reported as lost")
	}
}

// hungHolder: a holder that hangs keeps its lease until it ends by the clock of the store, and then another one has it. A
// holder that continues finds that it was lost, also where it never learned of the other one.
func hungHolder(t testing.TB, open func(time.Duration) Store) {
	a, b, r := open(0), open(0), NewSessionFixture(1)
	hung := leased(t, a)
	commit(t, a, r, 0)
	lost := hold(t, a, r.Session)
	hung.Stop()
	hung.Pass(length - short)
	wantBusy(t, b, r.Session, "before the end of the lease")
	hung.Pass(2 * short)
	next := hold(t, b, r.Session)
	if isClosed(lost.Lost) {
		t.Error("a holder that hangs notices something")
	}
	hung.Continue()
	select {
	case <-lost.Lost:
	case <-time.After(time.Minute):
		t.Error("the holder never finds that its lease is lost")
	}
	wantBusy(t, a, r.Session, "the holder that lost it")
	must(t, next.Release())
	must(t, hold(t, a, r.Session).Release())
}

// isClosed reports that a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
