package runs_test

import (
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

func TestRunIsCleanAfterFixingABlockedAttempt(t *testing.T) {
	d := newDriver(t, gated)
	root := d.r().Root
	if o := d.try(root, notes("no")); o.Kind != event.Blocked ||
		o.Blockers.Blockers[0].Code != reason.BlockerInvalidOutput {
		t.Fatalf("want INVALID_REQUIRED_OUTPUT, got %+v", o)
	}
	if got := d.status(); got != runs.Blocked {
		t.Fatal("after a refused attempt:", got)
	}
	two := d.must(root, notes("ok now"))
	if got := d.status(); got != runs.InProgress {
		t.Fatal("after the accepted one:", got)
	}
	if open := d.r().Node(root).OpenGaps; len(open) != 0 {
		t.Fatal("an accepted attempt resolves the node's gaps:", open)
	}
	if d.r().Tip != two {
		t.Fatal("the tip did not move")
	}
	if o, _ := d.r().Node(root).Recap(); o.Payload.NotesMarkdown != "ok now" || len(d.r().Node(root).Outputs) != 1 {
		t.Fatal("the accepted recap supersedes the refused one:", d.r().Node(root).Outputs)
	}
}

func TestRepeatedBlockedAttemptRecordsOneGap(t *testing.T) {
	d := newDriver(t, gated)
	root := d.r().Root
	seen := map[id.Attempt]bool{}
	for range 50 {
		seen[d.r().Node(root).NextAttempt()] = true
		d.try(root, notes("no"))
	}
	n := d.r().Node(root)
	if len(n.OpenGaps) != 1 || len(n.Attempts) != 50 || len(seen) != 50 {
		t.Fatalf("%d gaps, %d attempts, %d attempt ids", len(n.OpenGaps), len(n.Attempts), len(seen))
	}
	d.must(root, notes("ok"))
	if len(d.r().Node(root).OpenGaps) != 0 {
		t.Fatal("gap left open")
	}
}

func TestBlockedAttemptRecordsContextAndPreferences(t *testing.T) {
	d := newDriver(t, gated)
	root := d.r().Root
	d.try(root, advance.Request{Notes: "no", Context: context("ticket", "T-1"),
		Preferences: []event.PreferenceChange{{Key: "riskPolicy", Value: "aggressive"}}})
	n := d.r().Node(root)
	if v, _ := n.Context.Get("ticket"); v.Text() != "T-1" {
		t.Fatal("context lost")
	}
	if n.Preferences.RiskPolicy != event.Aggressive {
		t.Fatal("preferences lost")
	}
	two := d.must(root, notes("ok"))
	if o := d.try(two, advance.Request{}); o.Kind != event.Advanced {
		t.Fatal("the input that came with a refused attempt is on record:", o.Blockers)
	}
}

func TestAbandonedBlockedBranchDoesNotBlockCompletion(t *testing.T) {
	d := newDriver(t, gated)
	two := d.must(d.r().Root, notes("ok"))
	d.try(two, advance.Request{}) // blocked: no ticket
	if d.status() != runs.Blocked {
		t.Fatal(d.status())
	}
	// A second branch from the root runs to its end.
	other := d.must(d.r().Root, notes("ok again"))
	three := d.must(other, advance.Request{Context: context("ticket", "T-2")})
	d.must(three, notes("done"))
	if got := d.status(); got != runs.CompleteStatus {
		t.Fatal("complete branch beside a blocked one:", got)
	}
	if len(d.r().Tips()) != 2 {
		t.Fatal("tips:", d.r().Tips())
	}
	if _, leaked := d.r().Node(two).Context.Get("ticket"); leaked {
		t.Fatal("context of one branch shows in the other")
	}
}

func TestBlockingARewoundNodeOfACompleteRun(t *testing.T) {
	d := newDriver(t, gated)
	root := d.r().Root
	two := d.must(root, notes("ok"))
	three := d.must(two, advance.Request{Context: context("ticket", "T")})
	d.must(three, notes("done"))
	d.try(root, notes("no")) // rewound, and refused
	gaps := d.r().Node(root).OpenGaps
	if len(gaps) != 1 || gaps[0].Severity != event.Warning {
		t.Fatal("a refused attempt at a node that was left records a warning:", gaps)
	}
	if got := d.status(); got != runs.CompleteStatus {
		t.Fatal("the run stays complete:", got)
	}
}

func TestContextAppliesToItsBranchOnly(t *testing.T) {
	d := newDriver(t, gated)
	root := d.r().Root
	a := d.must(root, advance.Request{Notes: "ok", Context: context("ticket", "A", "only", "a")})
	b := d.must(root, advance.Request{Notes: "ok", Context: context("ticket", "B")})
	for node, want := range map[id.Node]string{a: "A", b: "B"} {
		if v, _ := d.r().Node(node).Context.Get("ticket"); v.Text() != want {
			t.Errorf("ticket at the branch of %s reads %q", want, v.Text())
		}
	}
	if _, leaked := d.r().Node(b).Context.Get("only"); leaked {
		t.Error("a delta of the first branch shows in the second")
	}
	if _, leaked := d.r().Node(root).Context.Get("ticket"); leaked {
		t.Error("a delta shows at the node it left")
	}
}

func TestStatusAfterCancelAndClose(t *testing.T) {
	d := newDriver(t, gated)
	add := func(p event.Payload) {
		e := event.New(d.fold.ID, d.fold.Next, event.Scope{RunID: d.run}, event.Actor{Kind: event.Human}, 5, p)
		d.events = append(d.events, e)
		d.fold.Apply(e)
	}
	add(event.RunCancelRequested{Reason: "not needed"})
	if d.status() != runs.Cancelling {
		t.Fatal(d.status())
	}
	add(event.RunClosed{Outcome: event.OutcomeCancelled, Reason: "not needed"})
	if d.status() != runs.Cancelled {
		t.Fatal(d.status())
	}
	other := newDriver(t, gated)
	e := event.New(other.fold.ID, other.fold.Next, event.Scope{RunID: other.run}, event.Actor{Kind: event.Human}, 5,
		event.RunClosed{Outcome: event.OutcomeFailed, Reason: "broken"})
	other.fold.Apply(e)
	if other.status() != runs.Failed {
		t.Fatal(other.status())
	}
}

func TestForeignBlockedAttemptReadsAsBlocked(t *testing.T) {
	d := newDriver(t, gated)
	root, child := d.r().Root, id.RootNode(id.NewRun(id.Seed{9}))
	scope := event.Scope{RunID: d.run, NodeID: child}
	d.fold.Apply(event.New(d.fold.ID, d.fold.Next, scope, event.Actor{}, 5,
		event.NodeCreated{NodeKind: event.BlockedAttemptNode,
			ParentNodeID: &root, SnapshotRef: d.r().Node(root).SnapshotRef, WorkflowHash: d.w.Hash()}))
	if got := d.status(); got != runs.Blocked {
		t.Fatal(got)
	}
}

// Waybill never writes such a log; a forged one must not cause an endless loop.
func TestPathOfACyclicLogEnds(t *testing.T) {
	d := newDriver(t, gated)
	one, two := id.RootNode(id.NewRun(id.Seed{8})), id.RootNode(id.NewRun(id.Seed{9}))
	ref := d.r().Node(d.r().Root).SnapshotRef
	for _, n := range [][2]id.Node{{one, two}, {two, one}} {
		d.fold.Apply(event.New(d.fold.ID, d.fold.Next, event.Scope{RunID: d.run, NodeID: n[0]}, event.Actor{}, 5,
			event.NodeCreated{NodeKind: event.CheckpointNode, ParentNodeID: &n[1], SnapshotRef: ref,
				WorkflowHash: d.w.Hash()}))
	}
	if got := d.r().Path(two); len(got) != 2 || got[0] != one || got[1] != two {
		t.Error(got)
	}
}
