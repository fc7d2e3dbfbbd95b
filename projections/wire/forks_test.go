package wire_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/replay"
	sessions "github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/verify"
	enginewire "github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// wire reads the runs of the driver's store as clients do.
func (d *driver) wire() *enginewire.Wire {
	return enginewire.New(d.g.Reader, d.store, enginewire.About{})
}

// read returns the run events of a run, and its snapshot.
func (d *driver) read(run id.Run) (out []openwop.RunEvent, s openwop.Snapshot) {
	d.t.Helper()
	w := d.wire()
	_, err := w.Each(context.Background(), run.String(), -1, func(events []openwop.RunEvent) error {
		out = append(out, events...)
		return nil
	})
	if err == nil {
		s, _, err = w.Snapshot(context.Background(), run.String())
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return out, s
}

// sameShape reports that two run events differ in ids and times alone.
func sameShape(a, b openwop.RunEvent) bool {
	return a.Type == b.Type && a.NodeID == b.NodeID && a.Sequence == b.Sequence && a.Payload.Equal(b.Payload)
}

// fork forks the run of a driver before a run event, and returns a driver of the fork; nil if no step is left there.
func (d *driver) fork(t fails, sequence int64, seed byte, c engine.ClientFork) *driver {
	ctx := context.Background()
	at := enginewire.Place{Session: d.last.Session.SessionID, Run: d.last.Session.RunID}
	place, err := d.wire().ForkAt(ctx, at, sequence)
	if err != nil {
		t.Fatal(err)
	}
	if place.Complete {
		return nil
	}
	point, err := d.g.ForkPoint(ctx, engine.Position{Session: place.Session, Run: place.Run, Node: place.Node})
	if err != nil {
		t.Fatal(err)
	}
	out := *d
	c.Sequence = sequence
	out.last, err = d.g.Fork(ctx, d.by(event.Agent), id.Seed{seed}, engine.ForkRequest{From: point, Client: &c})
	if err != nil {
		t.Fatal(err)
	}
	out.t, out.nodes = t, []engine.Answer{out.last}
	return &out
}

// lawful requires of the run events of a fork what holds for every run, and that they begin as the source's before the
// sequence, which cause them; those before earlier, which the source inherits itself, may be caused where it has them from.
func lawful(t fails, got, source []openwop.RunEvent, sequence, earlier int64) {
	t.Helper()
	ids, starts := map[string]bool{}, map[string]float64{}
	for i, e := range got {
		inherited := int64(i) < sequence
		switch {
		case e.Sequence != int64(i) || ids[e.EventID] || e.RunID != got[0].RunID || e.Type.Terminal() && i != len(got)-1:
			t.Fatalf("event %d of %d: %+v\n%s", i, len(got), e, lines(got))
		case inherited && (!sameShape(e, source[i]) || e.Timestamp != source[i].Timestamp || e.CausationID != source[i].EventID &&
			(int64(i) >= earlier || e.CausationID != source[i].CausationID)):
			t.Fatalf("event %d is %+v, that of the source %+v", i, e, source[i])
		case !inherited && e.CausationID != "" && !slices.ContainsFunc(got, func(c openwop.RunEvent) bool { return c.EventID == e.CausationID }):
			t.Fatalf("event %d is caused by %s, which does not exist\n%s", i, e.CausationID, lines(got))
		case (e.Type == openwop.RunStarted) != (i == 0):
			t.Fatalf("%s at %d\n%s", e.Type, i, lines(got))
		}
		ids[e.EventID] = true
		if e.Type == openwop.NodeStarted {
			starts[e.NodeID]++
			if nth, _ := e.Payload.Get("attempt"); nth.Float() != starts[e.NodeID] {
				t.Fatalf("event %d is start %v of %s, and names %s\n%s", i, starts[e.NodeID], e.NodeID, nth.JCS(), lines(got))
			}
		}
	}
}

// TestLawsOfForks: a fork of any session before any of its run events, of a fork too, and after each of its moves.
func TestLawsOfForks(t *testing.T) {
	checks(t, "40")
	forked := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := drawSession(rt).run(rt, 1_700_000_000_000, 1000, func(*driver) {})
		earlier := int64(0)
		for depth := range byte(2) {
			source, _ := d.read(d.last.Session.RunID)
			sequence := int64(rapid.IntRange(0, len(source)-1).Draw(rt, "sequence"))
			inherited := source[:sequence]
			if slices.ContainsFunc(inherited, func(e openwop.RunEvent) bool { return e.Type == openwop.VendorType("cancel_requested") }) {
				return // what was requested of the source alone
			}
			client := engine.ClientFork{Context: requests[rapid.IntRange(2, 5).Draw(rt, "overlay")].Context}
			if d = d.fork(rt, sequence, 100+depth, client); d == nil {
				return
			}
			forked++
			var before []openwop.RunEvent
			check := func() {
				got, s := d.read(d.last.Session.RunID)
				lawful(rt, got, source, sequence, earlier)
				if len(before) > len(got) || !slices.EqualFunc(before, got[:len(before)], sameEvent) {
					rt.Fatalf("no prefix:\n%s\n\n%s", lines(before), lines(got))
				}
				agrees(rt, got, s)
				before = got
			}
			check()
			for range 6 {
				d.play(move{rapid.IntRange(0, 15).Draw(rt, "kind"), rapid.IntRange(0, 50).Draw(rt, "which")}, 1000)
				check()
			}
			earlier = sequence
		}
	})
	if forked < 15 {
		t.Errorf("%d forks", forked)
	}
}

// TestALostSourceKeepsSequences: the run events of a fork whose source is gone have the sequences that they had, where it
// was forked at the start of a node.
func TestALostSourceKeepsSequences(t *testing.T) {
	d := newDriver(t, workflowOf([]int{1, 1, 1}), engine.Start{}, 1_700_000_000_000, 1000)
	d.ack(requests[1])
	source, _ := d.read(d.last.Session.RunID)
	from := int64(len(source)) - 3
	f := d.fork(t, from, 7, engine.ClientFork{})
	was, _ := f.read(f.last.Session.RunID)
	lawful(t, was, source, from, 0)
	gone := without{f.store, manifest.SessionEvents(d.last.Session.SessionID).Root}
	var got []openwop.RunEvent
	_, err := enginewire.New(sessions.NewReader(gone), gone, enginewire.About{}).Each(context.Background(),
		f.last.Session.RunID.String(), -1, func(events []openwop.RunEvent) error { got = append(got, events...); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(was) || got[0].Type != openwop.RunStarted || got[1].Type != openwop.VendorType("source_missing") {
		t.Fatalf("%s\n\n%s", lines(got), lines(was))
	}
	ids := map[string]bool{}
	for i, e := range got {
		if e.Sequence != int64(i) || ids[e.EventID] || int64(i) >= from && !sameEvent(e, was[i]) {
			t.Errorf("event %d: %+v", i, e)
		}
		ids[e.EventID] = true
	}
}

// without is a store from which a log is gone.
type without struct {
	*memstore.Store
	root string
}

// Read implements ports.Logs.
func (w without) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	if r.Log.Root == w.root {
		r.Log = manifest.SessionEvents(id.NewSession(id.Seed{99}))
	}
	return w.Store.Read(ctx, r, visit)
}

// failing is a store whose appends fail once some were made.
type failing struct {
	*memstore.Store
	left *int
}

var errPower = errors.New("the power is cut")

// Append implements ports.Logs.
func (f failing) Append(ctx context.Context, w ports.Witness, head manifest.Head, p manifest.Plan) (manifest.Head, error) {
	if *f.left--; *f.left < 0 {
		return manifest.Head{}, errPower
	}
	return f.Store.Append(ctx, w, head, p)
}

// replay replays the run of a driver; the power is cut behind some appends, and the replay continued.
func (d *driver) replay(t fails, seed byte, cut int) (engine.Position, bool) {
	ctx := context.Background()
	left, wasCut := cut, false
	at, err := replay.New(d.g.Engine, failing{d.store, &left}, noPerformers{}).Begin(ctx, d.by(event.Agent), id.Seed{seed},
		replay.Request{Source: d.last.Position()})
	if errors.Is(err, errPower) {
		wasCut = true
		at, err = replay.New(d.g.Engine, d.store, noPerformers{}).Begin(ctx, d.by(event.Agent), id.Seed{seed},
			replay.Request{Source: d.last.Position()})
	}
	if err != nil {
		t.Fatal(err)
	}
	err = replay.New(d.g.Engine, failing{d.store, &left}, noPerformers{}).Continue(ctx, at)
	if errors.Is(err, errPower) {
		wasCut = true
		err = replay.New(d.g.Engine, d.store, noPerformers{}).Continue(ctx, at)
	}
	for range 2 { // a replay that has ended is left alone
		if err != nil {
			t.Fatal(err)
		}
		err = replay.New(d.g.Engine, failing{d.store, new(int)}, noPerformers{}).Continue(ctx, at)
	}
	return at, wasCut
}

// TestReplaysAreTheirSource: a replay of any session has the run events of its source, and those of a second replay, with
// the power cut at any moment, are the same but for ids. A source that has not ended has no input for the end. What a
// replay records can be decided again, and it takes no step of its own.
func TestReplaysAreTheirSource(t *testing.T) {
	checks(t, "30")
	rapid.Check(t, func(rt *rapid.T) {
		d := drawSession(rt).run(rt, 1_700_000_000_000, 1000, func(*driver) {})
		source, state := d.read(d.last.Session.RunID)
		at, _ := d.replay(rt, 50, 1000)
		got, s := d.read(at.Run)
		if len(got) < len(source) || !slices.EqualFunc(source, got[:len(source)], sameShape) {
			rt.Fatalf("the replay has\n%s\n\nthe source\n%s", lines(got), lines(source))
		}
		agrees(rt, got, s)
		switch {
		case state.Status.Terminal() && (len(got) > len(source) || s.Status != state.Status):
			rt.Fatalf("%s, the source %s\n%s", s.Status, state.Status, lines(got))
		case !state.Status.Terminal() && (s.Status != openwop.Failed || s.Error.Code != "replay_source_missing"):
			rt.Fatalf("%s %+v\n%s", s.Status, s.Error, lines(got))
		}
		for cut := 0; ; cut++ {
			if cut > 0 && rapid.IntRange(0, 3).Draw(rt, "skipped") > 0 {
				continue
			}
			other, wasCut := d.replay(rt, byte(51+cut), cut)
			again, _ := d.read(other.Run)
			if !slices.EqualFunc(got, again, sameShape) {
				rt.Fatalf("cut behind %d appends\n%s\n\n%s", cut, lines(again), lines(got))
			}
			if !wasCut {
				break
			}
		}
		report, err := verify.NewReplayer(d.g.Engine, d.store).Replay(context.Background(), at)
		if err != nil || !report.OK {
			rt.Fatalf("%+v %v", report.Difference, err)
		}
		due, _, err := d.g.Ledger().Facts(context.Background(), manifest.SessionEvents(at.Session), manifest.Head{}, d.g.Ledger().NewImports())
		if err != nil || len(due.Facts) > 0 { // the audit log has what was decided in the source
			rt.Fatalf("%+v %v", due.Facts, err)
		}
		_, err = d.g.Advance(context.Background(), d.by(event.Agent), at, id.NextAttempt(at.Node, id.OpAck, 99), requests[1])
		if !fault.Is(err, fault.RunClosed) {
			rt.Fatalf("a step of the replay: %v", err)
		}
	})
}
