package runs_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// noted is a record of a chat, which is named by one letter.
func noted(chat string, refusals int64, verdict event.GuardVerdict) event.GuardNoted {
	return event.GuardNoted{Client: "codex", Chat: canon.Sum([]byte(chat)), Refusals: refusals, Verdict: verdict}
}

// TestGuardedChats: records are counted for each node, client and chat, also in a fold that was saved.
func TestGuardedChats(t *testing.T) {
	s := newSegmentWriter(t)
	root := s.r().Root
	other := noted("a", 1, event.GuardRefused)
	other.Client = "opencode"
	for _, p := range []event.GuardNoted{noted("a", 1, event.GuardRefused), noted("b", 1, event.GuardRefused),
		noted("a", 2, event.GuardRefused), other, noted("a", 2, event.GuardLetGo)} {
		s.write(fact{root, p})
	}
	child := s.advance(root)
	s.write(fact{child, noted("a", 1, event.GuardRefused)})
	for name, f := range map[string]*runs.Fold{"fresh": s.fold, "saved": reload(t, s.fold, 16)} {
		var got [][3]any
		for _, g := range f.Runs[s.run].Node(root).Guarded {
			got = append(got, [3]any{g.Client, g.Refusals, g.LetGo})
		}
		want := [][3]any{{"codex", int64(2), true}, {"codex", int64(1), false}, {"opencode", int64(1), false}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		n := f.Runs[s.run].Node(child)
		if g := n.GuardedChat("codex", canon.Sum([]byte("a"))); len(n.Guarded) != 1 || g.Refusals != 1 || g.LetGo {
			t.Errorf("%s: the next node has %+v", name, n.Guarded)
		}
		if g := n.GuardedChat("opencode", canon.Sum([]byte("a"))); g.Refusals != 0 || g.Client != "opencode" {
			t.Errorf("%s: a chat without a record has %+v", name, g)
		}
	}
}

// TestIgnorableEventsAreNoActivity: they change neither the order of runs nor the preferred tip, whether the kind is
// known or not.
func TestIgnorableEventsAreNoActivity(t *testing.T) {
	d := newDriver(t, gated)
	left := d.must(d.r().Root, notes("ok"))
	right := d.must(d.r().Root, notes("ok again"))
	before, last := d.fold.Runs[d.run].LastIndex, d.fold.LastAtMs
	add := func(e event.Event) {
		t.Helper()
		d.fold.Apply(e)
		r := d.r()
		if r.LastIndex != before || r.LastAtMs != last || d.fold.LastAtMs != last || r.Tip != right {
			t.Errorf("%s: last %d at %d, of the session %d, tip %s; want %d at %d, tip %s", e.Data.Kind(), r.LastIndex,
				r.LastAtMs, d.fold.LastAtMs, r.Tip, before, last, right)
		}
		if d.fold.Next != e.Index+1 {
			t.Errorf("%s: the next event is %d", e.Data.Kind(), d.fold.Next)
		}
	}
	at := event.Scope{RunID: d.run, NodeID: left}
	add(event.New(d.fold.ID, d.fold.Next, at, event.Actor{Kind: event.Engine}, last+1000,
		noted("a", 1, event.GuardRefused)))
	unknown, err := event.Domain.DecodeLine(fmt.Appendf(nil, `{"data":{},"eventIndex":99,"ignorable":true,`+
		`"kind":"praised","scope":{"runId":%q},"sessionId":%q,"timestampMs":9999999,"v":1}`, d.run, d.fold.ID))
	if err != nil {
		t.Fatal(err)
	}
	add(unknown)
	if len(d.r().Node(left).Guarded) != 1 {
		t.Error("the record is lost")
	}
}

// TestGuardNoteOfALeftOutNode: a window stays usable when a record names a node that it left out.
func TestGuardNoteOfALeftOutNode(t *testing.T) {
	s := newSegmentWriter(t)
	second := s.advance(s.r().Root)
	for range 40 {
		s.advance(s.r().Tip)
	}
	part := reload(t, s.fold, 1)
	if part.Runs[s.run].Node(second) != nil {
		t.Fatal("the node is in the window")
	}
	s.write(fact{second, noted("a", 1, event.GuardRefused)})
	s.write(fact{id.RootNode(id.NewRun(id.Seed{6})), noted("a", 1, event.GuardRefused)}) // no node of the run
	for i := len(s.segs) - 2; i < len(s.segs); i++ {
		_ = part.Visit(s.segs[i], s.heads[i])
	}
	if part.Missed() {
		t.Error("the fold is incomplete")
	}
	if _, err := compare(s.fold, part, s.run); err != nil {
		t.Error(err)
	}
}
