package runs_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

// randomDriver records random attempts at random nodes: blocked and accepted ones, rewinds and
// forks.
func randomDriver(t *rapid.T, tb testing.TB) *driver {
	d := newDriver(tb, gated)
	for range rapid.IntRange(0, 14).Draw(t, "attempts") {
		open := slices.DeleteFunc(slices.Clone(d.r().Order), func(n id.Node) bool {
			return d.states[d.r().Node(n).SnapshotRef].IsComplete()
		})
		at := rapid.SampledFrom(open).Draw(t, "at")
		req := advance.Request{Notes: rapid.SampledFrom([]string{"", "no", "ok", "ok then"}).Draw(t, "notes")}
		if rapid.Bool().Draw(t, "ctx") {
			req.Context = context("ticket", rapid.SampledFrom([]string{"A", "B"}).Draw(t, "ticket"))
		}
		d.try(at, req)
	}
	return d
}

func TestReloadedFoldEqualsFreshFold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := randomDriver(rt, t)
		cut := rapid.IntRange(0, len(d.events)).Draw(rt, "cut")
		// Folds are saved between segments only: context deltas belong to their segment.
		for cut < len(d.events) && !startsSegment(d.events[cut]) {
			cut++
		}
		saved := runs.NewSession()
		for _, e := range d.events[:cut] {
			saved.Apply(e)
		}
		bytes, err := canon.Marshal(saved)
		if err != nil {
			rt.Fatal(err)
		}
		var taken runs.Session
		if err := canon.Unmarshal(bytes, &taken); err != nil {
			rt.Fatal(err)
		}
		for _, e := range d.events[cut:] {
			taken.Apply(e)
		}
		again, err := canon.Marshal(taken)
		if err != nil {
			rt.Fatal(err)
		}
		fresh, err := canon.Marshal(d.fold)
		if err != nil {
			rt.Fatal(err)
		}
		if string(again) != string(fresh) {
			rt.Fatalf("saved at %d:\n%s\nfresh:\n%s", cut, again, fresh)
		}
	})
}

func startsSegment(e event.Event) bool {
	k := e.Data.Kind()
	return k == "advance_recorded" || k == "session_created"
}

// The incremental tip equals the policy in docs/design.md#preferred-tip computed directly: the last
// activity of a leaf is the greatest event index in its history, and of equal leaves the one
// created last is preferred.
func TestTipFollowsThePolicy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := randomDriver(rt, t)
		touched := map[id.Node]int64{}
		created := map[id.Node]int64{}
		for _, e := range d.events {
			switch p := e.Data.(type) {
			case event.NodeCreated:
				touched[e.Scope.NodeID], created[e.Scope.NodeID] = e.Index, e.Index
			case event.EdgeCreated:
				touched[p.FromNodeID], touched[p.ToNodeID] = e.Index, e.Index
			case event.NodeOutputAppended, event.GapRecorded, event.PreferencesChanged:
				touched[e.Scope.NodeID] = e.Index
			}
		}
		var best id.Node
		var bestAt int64 = -1
		for _, leaf := range d.r().Tips() {
			var at int64
			for _, n := range d.r().Path(leaf) {
				at = max(at, touched[n])
			}
			if at > bestAt || at == bestAt && created[leaf] > created[best] {
				best, bestAt = leaf, at
			}
		}
		if best != d.r().Tip {
			rt.Fatalf("tip by the policy %s, by the fold %s", best, d.r().Tip)
		}
	})
}

func TestReferencesOfValidLogs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := randomDriver(rt, t)
		refs := check(d.events, d.fold.ID)
		if len(refs.Findings) > 0 {
			rt.Fatal(refs.Findings)
		}
		if len(refs.Objects) != len(d.states)+1 {
			rt.Fatalf("%d objects referred to, want %d snapshots and a workflow", len(refs.Objects), len(d.states))
		}
	})
}
