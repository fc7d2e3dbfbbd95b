package wire_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
	"github.com/waybill/waybill/projections/wire"
)

// checks sets how many sessions a property plays. -rapid.checks N plays another number of them.
func checks(t *testing.T, n string) {
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return
	}
	_ = f.Value.Set(n)
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}

// TestLawsOfTheProjection: for any session, and after each of its segments.
func TestLawsOfTheProjection(t *testing.T) {
	checks(t, "150")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSession(rt)
		d := s.run(rt, 1_700_000_000_000, 1000, func(*driver) {})
		segments := d.segments()
		all, _ := d.project(segments)
		ids := map[string]bool{}
		for i, e := range all {
			if e.Sequence != int64(i) {
				rt.Fatalf("event %d has sequence %d", i, e.Sequence)
			}
			if ids[e.EventID] {
				rt.Fatalf("id %s twice", e.EventID)
			}
			ids[e.EventID] = true
			if e.Type.Terminal() && i != len(all)-1 {
				rt.Fatalf("%s is not the last event\n%s", e.Type, lines(all))
			}
			if e.CausationID != "" && !slices.ContainsFunc(all, func(c openwop.RunEvent) bool { return c.EventID == e.CausationID }) {
				rt.Fatalf("event %d is caused by %s, which does not exist\n%s", i, e.CausationID, lines(all))
			}
		}
		if len(all) == 0 || all[0].Type != openwop.RunStarted {
			rt.Fatal("the run does not start")
		}
		for n := range len(segments) + 1 {
			prefix, l := d.project(segments[:n])
			if len(prefix) > len(all) || !slices.EqualFunc(prefix, all[:len(prefix)], sameEvent) {
				rt.Fatalf("the first %d segments give no prefix:\n%s\n\n%s", n, lines(prefix), lines(all))
			}
			if n > 0 {
				agrees(rt, prefix, l.Snapshot())
			}
		}
	})
}

// sameEvent reports that two events are equal.
func sameEvent(a, b openwop.RunEvent) bool {
	x, errX := canon.Marshal(a)
	y, errY := canon.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// agrees compares a snapshot with what a client knows from the events alone.
func agrees(t fails, events []openwop.RunEvent, s openwop.Snapshot) {
	t.Helper()
	want, nodes, at := openwop.Running, map[string]openwop.NodeStatus{}, ""
	kind, paused := openwop.InterruptKind(""), false
	for _, e := range events {
		switch e.Type {
		case openwop.NodeStarted:
			nodes[e.NodeID] = openwop.NodeIsRunning
		case openwop.NodeSuspended:
			k, _ := e.Payload.Get("kind")
			nodes[e.NodeID], at, kind = openwop.NodeIsSuspended, e.NodeID, openwop.InterruptKind(k.Text())
		case openwop.NodeResumed:
			nodes[e.NodeID], at = openwop.NodeIsRunning, ""
		case openwop.NodeCompleted:
			nodes[e.NodeID] = openwop.NodeIsCompleted
		case openwop.NodeFailed:
			nodes[e.NodeID], at = openwop.NodeIsFailed, ""
		case openwop.NodeCancelled:
			nodes[e.NodeID], at = openwop.NodeIsCancelled, ""
		case openwop.RunPaused:
			if paused {
				t.Fatalf("paused twice\n%s", lines(events))
			}
			paused = true
		case openwop.RunResumed:
			if !paused {
				t.Fatalf("resumed, and not paused\n%s", lines(events))
			}
			paused = false
		case openwop.VendorType("cancel_requested"):
			want = openwop.Cancelling
		case openwop.RunCompleted:
			want = openwop.Completed
		case openwop.RunFailed:
			want = openwop.Failed
		case openwop.RunCancelled:
			want = openwop.Cancelled
		}
	}
	if want == openwop.Running && at != "" {
		want = kind.Waits()
	}
	if !want.Terminal() && want != openwop.Cancelling && paused {
		want = openwop.Paused
	}
	if want.Terminal() {
		at = ""
	}
	if s.Status != want || s.CurrentNodeID != at && want != openwop.Cancelling || len(s.NodeStates) != len(nodes) ||
		s.Metrics.EventCount != int64(len(events)) || (s.CompletedAt != "") != want.Terminal() ||
		(s.Error != nil) != (want == openwop.Failed) {
		t.Fatalf("snapshot %+v, want %s at %q with %v\n%s", s, want, at, nodes, lines(events))
	}
	open := 0
	for id, status := range nodes {
		if s.NodeStates[id].Status != status {
			t.Fatalf("node %s is %s, want %s\n%s", id, s.NodeStates[id].Status, status, lines(events))
		}
		if status == openwop.NodeIsRunning || status == openwop.NodeIsSuspended {
			open++
		}
	}
	if wantOpen := 1; open > wantOpen || want.Terminal() && open != 0 {
		t.Fatalf("%d nodes run\n%s", open, lines(events))
	}
}

// TestPayloadsHaveNoTimes: the same session at other times, with other durations, gives the same events but for
// their timestamps.
func TestPayloadsHaveNoTimes(t *testing.T) {
	checks(t, "100")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSession(rt)
		first, _ := project(s.run(rt, 1_700_000_000_000, 1000, func(*driver) {}))
		second, _ := project(s.run(rt, 1_600_000_123_456, 77_777, func(*driver) {}))
		if len(first) != len(second) {
			rt.Fatalf("%s\n\n%s", lines(first), lines(second))
		}
		for i := range first {
			a, b := first[i], second[i]
			if a.Timestamp == b.Timestamp {
				rt.Fatalf("event %d: the time is %s in both", i, a.Timestamp)
			}
			a.Timestamp, b.Timestamp = "", ""
			if !sameEvent(a, b) {
				rt.Fatalf("event %d: %s %s\n%s %s", i, a.Type, a.Payload.JCS(), b.Type, b.Payload.JCS())
			}
		}
	})
}

// project is the projection of everything that a driver did.
func project(d *driver) ([]openwop.RunEvent, *wire.Log) { return d.project(d.segments()) }

// TestNothingSecretIsSent: no event and no snapshot has a secret of the context, a title, a reason or a comment.
func TestNothingSecretIsSent(t *testing.T) {
	checks(t, "100")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSession(rt)
		s.start.Context = requests[5].Context // with all of the secrets
		d := s.run(rt, 1_700_000_000_000, 1000, func(*driver) {})
		segments := d.segments()
		for n := range segments {
			events, l := d.project(segments[:n+1])
			doc, err := canon.Marshal(events)
			state, stateErr := canon.Marshal(l.Snapshot())
			if err != nil || stateErr != nil {
				rt.Fatal(err, stateErr)
			}
			for _, text := range []string{string(doc), string(state)} {
				for _, canary := range []string{tokenCanary, passwordCanary, pinCanary} {
					if i := strings.Index(text, canary); i >= 0 {
						rt.Fatalf("… %s …", text[max(0, i-200):min(len(text), i+50)])
					}
				}
			}
		}
	})
}

// TestEventsMatchThePublishedSchemas: events, payloads and snapshots of any session.
func TestEventsMatchThePublishedSchemas(t *testing.T) {
	published := openwoptest.Published(t)
	checks(t, "60")
	rapid.Check(t, func(rt *rapid.T) {
		events, l := project(drawSession(rt).run(rt, 1_700_000_000_000, 1000, func(*driver) {}))
		for _, e := range events {
			doc, err := canon.Marshal(e)
			if err != nil {
				rt.Fatal(err)
			}
			if err := published.Check("run-event", doc); err != nil {
				rt.Fatalf("%s: %v", doc, err)
			}
			if ok, err := published.CheckPayload(string(e.Type), e.Payload.JCS()); err != nil || !ok && e.Type.Owned() {
				rt.Fatalf("%s: %v %v", doc, ok, err)
			}
		}
		doc, err := canon.Marshal(l.Snapshot())
		if err != nil {
			rt.Fatal(err)
		}
		if err := published.Check("run-snapshot", doc); err != nil {
			rt.Fatalf("%s: %v", doc, err)
		}
	})
}
