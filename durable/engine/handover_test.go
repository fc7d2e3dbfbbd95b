package engine_test

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/advance"
)

// TestAHandedOverSessionTakesNoSteps: in the store that handed it over, until it comes home or the hand-over is revoked. A
// repeated hand-over records nothing, and other stores are not bound by it.
func TestAHandedOverSessionTakesNoSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(approving)
	run, s := first.Session.RunID, first.Session.SessionID
	planned := a.must(first, note("planned"))
	out, err := a.g.HandOver(ctx, a.by(), run.String(), "desk")
	if err != nil || out.Already || out.SessionID != s {
		t.Fatalf("%+v, %v", out, err)
	}
	before := a.headOf(s)
	if out, err := a.g.HandOver(ctx, a.by(), run.String(), ""); err != nil || !out.Already || out.To != "desk" {
		t.Errorf("again: %+v, %v", out, err)
	}
	if _, err := a.g.HandOver(ctx, a.by(), run.String(), "laptop"); !fault.Is(err, fault.ValidationError) {
		t.Errorf("to another receiver: %v", err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !fault.Is(err, fault.SessionHandedOver) || fault.ExitOf(err) != fault.ExitWaiting {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = a.next(planned, note("more"))
	refused("an ack", err)
	_, err = a.g.Approve(ctx, a.person("ada"), planned.Position(), "fine")
	refused("an approval", err)
	_, err = a.keep(planned, note("so far"))
	refused("a checkpoint", err)
	_, err = a.cancel(&performerStub{}, planned.Position(), engine.CancelRequest{Reason: "r"})
	refused("a cancellation", err)
	fold, _, err := a.g.ReadWindowed(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	refused("a performer", a.g.Ledger().RefuseHandedOver(ctx, s, fold))
	if again, err := a.next(first, note("planned")); err != nil || len(again.Blockers) == 0 {
		t.Errorf("what is recorded is not answered: %v", err)
	}
	a.say(first, "annotated")
	if a.headOf(s) != before {
		t.Error("something was appended")
	}
	away := export(t, a.g, s, 1)
	b.mustBring(away, travel.NewSession)
	b.mustApprove(b.at(run), "there")
	b.must(b.at(run), advance.Request{})
	a.mustBring(export(t, b.g, s, 2), travel.FastForward)
	a.must(a.at(run), note("built at home"))
	for _, w := range []*fixture{a, b} {
		w.sound()
		w.replays(engine.Position{Session: s, Run: run})
	}
	if _, err := a.g.HandOver(ctx, a.by(), run.String(), ""); !fault.Is(err, fault.RunClosed) {
		t.Errorf("a session that has ended: %v", err)
	}
}

// TestASessionIsReclaimed: it continues in the store that handed it over, and what another store adds has diverged.
func TestASessionIsReclaimed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run, s := first.Session.RunID, first.Session.SessionID
	if _, err := a.g.Reclaim(ctx, a.by(), run.String()); !fault.Is(err, fault.ValidationError) {
		t.Errorf("without a hand-over: %v", err)
	}
	for range 2 {
		if _, err := a.g.HandOver(ctx, a.by(), run.String(), ""); err != nil {
			t.Fatal(err)
		}
		b.g = newFixture(t).g
		if _, err := b.bring(export(t, a.g, s, 1)); err != nil {
			t.Fatal(err)
		}
		b.must(b.at(run), note("there"))
		if _, err := b.g.Reclaim(ctx, b.by(), run.String()); !fault.Is(err, fault.ValidationError) {
			t.Errorf("in another store: %v", err)
		}
		if _, err := a.g.Reclaim(ctx, a.by(), run.String()); err != nil {
			t.Fatal(err)
		}
		a.must(a.at(run), note("here"))
		if _, err := a.bring(export(t, b.g, s, 2)); !fault.Is(err, fault.SessionDiverged) {
			t.Errorf("what was added elsewhere: %v", err)
		}
	}
	a.sound()
	a.replays(engine.Position{Session: s, Run: run})
}
