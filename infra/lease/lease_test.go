package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/lease"
)

// granter is a store that grants renewals by a clock of its own.
type granter struct {
	t     *testing.T
	clock *lease.Manual
	calls []time.Duration // the readings at which renewals were requested
	err   error
	wait  func(context.Context) error
}

func (g *granter) renew(ctx context.Context) error {
	g.calls = append(g.calls, g.clock.Now())
	if g.wait != nil {
		return g.wait(ctx)
	}
	return g.err
}

func (g *granter) keep(asked time.Duration) *lease.Kept {
	return lease.Keep(g.clock, lease.Default(), asked, g.renew)
}

func isLost(k *lease.Kept) bool {
	select {
	case <-k.Lost():
		return true
	default:
		return false
	}
}

func newGranter(t *testing.T) *granter {
	return &granter{t: t, clock: lease.NewManual(7 * time.Hour)}
}

func (g *granter) wantCalls(want ...time.Duration) {
	g.t.Helper()
	if len(g.calls) != len(want) {
		g.t.Fatalf("renewals at %v, want %v", g.calls, want)
	}
	for i, at := range want {
		if g.calls[i]-7*time.Hour != at {
			g.t.Errorf("renewal %d at %v, want %v", i, g.calls[i]-7*time.Hour, at)
		}
	}
}

func TestDefaultTerms(t *testing.T) {
	want := lease.Terms{Length: time.Minute, Renew: 20 * time.Second, Retry: 5 * time.Second, Margin: 10 * time.Second}
	if got := lease.Default(); got != want {
		t.Errorf("%+v", got)
	}
}

func TestRenewalKeepsLease(t *testing.T) {
	g := newGranter(t)
	k := g.keep(g.clock.Now())
	g.clock.Pass(90 * time.Second)
	g.wantCalls(20*time.Second, 40*time.Second, 60*time.Second, 80*time.Second)
	if isLost(k) {
		t.Error("a renewed lease is lost")
	}
	k.Stop()
	g.clock.Pass(time.Hour)
	if isLost(k) || len(g.calls) != 4 || g.clock.Pending() != 0 {
		t.Errorf("after Stop: lost %v, %d renewals, %d timers", isLost(k), len(g.calls), g.clock.Pending())
	}
}

// A renewal that takes long counts from before it was requested: the store granted it in between.
func TestLossIsMeasuredFromBeforeTheRequest(t *testing.T) {
	g := newGranter(t)
	asked := g.clock.Now()
	g.clock.Pass(3 * time.Second) // the answer to the grant was on its way for that long
	k := g.keep(asked)
	slow := true
	g.wait = func(context.Context) error {
		if slow {
			slow = false
			g.clock.Pass(15 * time.Second)
			return nil
		}
		return errors.New("unreachable")
	}
	// Requested 20 s after the grant was, answered 15 s later: lost 50 s after the request.
	g.clock.Pass(17*time.Second + 15*time.Second + 34*time.Second)
	if isLost(k) {
		t.Fatal("lost before the margin")
	}
	g.clock.Pass(time.Second)
	if !isLost(k) {
		t.Error("not lost 10 s before the end of the lease, measured from before the request")
	}
}

func TestFailedRenewalsAreRetriedUntilTheLoss(t *testing.T) {
	g := newGranter(t)
	g.err = errors.New("unreachable")
	k := g.keep(g.clock.Now())
	g.clock.Pass(27 * time.Second)
	g.wantCalls(20*time.Second, 25*time.Second)
	g.err = nil
	g.clock.Pass(6 * time.Second) // at 30 s
	g.err = errors.New("unreachable")
	g.clock.Pass(46 * time.Second) // 79 s
	if isLost(k) {
		t.Fatal("lost, although it was renewed at 30 s")
	}
	g.clock.Pass(time.Second)
	if !isLost(k) || g.clock.Pending() != 0 {
		t.Errorf("lost: %v, %d timers", isLost(k), g.clock.Pending())
	}
	before := len(g.calls)
	g.clock.Pass(time.Hour)
	k.Stop()
	if len(g.calls) != before {
		t.Error("a lost lease is renewed")
	}
}

func TestRefusedRenewalIsTheLoss(t *testing.T) {
	g := newGranter(t)
	g.err = lease.ErrLost
	k := g.keep(g.clock.Now())
	g.clock.Pass(20 * time.Second)
	if !isLost(k) || g.clock.Pending() != 0 {
		t.Errorf("lost: %v, %d timers", isLost(k), g.clock.Pending())
	}
}

// A renewal that hangs does not delay the loss, and ends with it.
func TestHungRenewal(t *testing.T) {
	g := newGranter(t)
	asks, ended := make(chan struct{}), make(chan error, 1)
	g.wait = func(ctx context.Context) error {
		close(asks)
		<-ctx.Done()
		return ctx.Err()
	}
	k := g.keep(g.clock.Now())
	go func() { g.clock.Pass(20 * time.Second); ended <- nil }()
	<-asks
	g.clock.Pass(30 * time.Second)
	<-k.Lost()
	<-ended
}

// A process that was stopped past the loss finds it, whichever timer it meets first.
func TestLateRenewalIsTheLoss(t *testing.T) {
	clock := &stopped{Manual: lease.NewManual(0)}
	renewed := 0
	k := lease.Keep(clock, lease.Default(), 0, func(context.Context) error { renewed++; return nil })
	clock.Pass(51 * time.Second)
	for _, f := range clock.held[1:] { // the renewal alone
		f()
	}
	if !isLost(k) || renewed != 0 {
		t.Errorf("lost: %v, renewed %d times", isLost(k), renewed)
	}
}

// stopped is a clock whose timers do not fire.
type stopped struct {
	*lease.Manual
	held []func()
}

func (s *stopped) After(_ time.Duration, f func()) func() {
	s.held = append(s.held, f)
	return func() {}
}
