package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
)

const twoRounds = `{"id":"test.rounds","name":"Rounds","description":"d","version":"1.0.0","steps":[
 {"id":"plan","title":"Plan","prompt":"p"},
 {"id":"r","type":"loop","title":"R","loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"work","title":"Work","prompt":"p"}]},
 {"id":"end","title":"End","prompt":"p"}]}`

// drawn is a graph in lines: each node with its parent's line, its step and marks.
func drawn(g views.Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		from := -1
		for j, p := range g.Nodes {
			if n.ParentNodeID != nil && p.NodeID == *n.ParentNodeID {
				from = j
			}
		}
		fmt.Fprintf(&b, "%d %s %s %s", from, n.NodeKind, n.StepInstanceKey, n.Title)
		if n.Complete {
			b.WriteString(" complete")
		}
		if n.Tip {
			b.WriteString(" tip")
		}
		if n.PreferredTip {
			b.WriteString(" preferred")
		}
		b.WriteByte('\n')
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, e.Cause)
	}
	return b.String()
}

// TestGraphIsTheRun: every node in its order, with loops, branches and checkpoints, and every edge
// with its cause (docs/design.md#preferred-tip, docs/design.md#edges-and-tips).
func TestGraphIsTheRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	plan := w.start(twoRounds)
	first := w.must(plan, note("planned"))
	second := w.must(w.mustKeep(first, note("half")), note("worked"))
	w.must(w.must(second, note("worked")), note("ended"))
	w.must(w.look(first.StateToken), note("worked otherwise"))
	g, err := w.process().Graph(context.Background(), plan.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	want := `-1 step plan Plan
0 step r@0::work Work
1 checkpoint r@0::work Work
1 step r@1::work Work
3 step end End
4 step  The end complete tip
1 step r@1::work Work tip preferred
acked_step intentional_fork
checkpoint checkpoint_created
acked_step intentional_fork
acked_step intentional_fork
acked_step intentional_fork
acked_step non_tip_advance
`
	if got := drawn(g); got != want || g.Title != "Rounds" {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if _, err := w.g.Graph(context.Background(), "nothing"); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
}

func TestLocateNode(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	plan := w.start(twoRounds)
	first := w.must(plan, note("planned"))
	second := w.must(first, note("worked"))
	run := plan.Session.RunID.String()
	for ref, want := range map[string]string{
		"": second.NodeID.String(), plan.NodeID.String(): plan.NodeID.String(),
		first.NodeID.String()[:16]:                              first.NodeID.String(),
		strings.TrimPrefix(first.NodeID.String(), "node_")[:10]: first.NodeID.String(), "plan": plan.NodeID.String(),
		"work": second.NodeID.String(), "r@0::work": first.NodeID.String(), "r@1::work": second.NodeID.String(),
	} {
		if at, err := w.g.LocateNode(context.Background(), run, ref); err != nil || at.Node.String() != want {
			t.Errorf("%q: %v, %v; want %s", ref, at.Node, err, want)
		}
	}
	for _, ref := range []string{"node_", "end", "r@7::work", "nothing"} {
		if _, err := w.g.LocateNode(context.Background(), run, ref); !fault.Is(err, fault.TokenUnknownNode) ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "runs graph") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := w.g.LocateNode(context.Background(), "nothing", "plan"); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
}

// TestFollowReportsEachFactOnce: from now on or from the beginning, each event once and in words,
// until no more can follow.
func TestFollowReportsEachFactOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a := w.start(twoSteps)
	run := a.Session.RunID.String()
	late, err := w.process().Follow(ctx, run, false)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := w.process().Follow(ctx, run, true)
	if err != nil {
		t.Fatal(err)
	}
	kinds := func(f *views.Follower) (out string) {
		facts, err := nextFacts(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			if f.Moment.Text == "" {
				t.Errorf("%s is described without words", f.Event.Data.Kind())
			}
			out += f.Event.Data.Kind() + " "
		}
		return out
	}
	begun := "session_created run_started node_created preferences_changed decision_trace_appended "
	if got := kinds(late); got != "" {
		t.Errorf("reported an earlier one: %s", got)
	}
	if got := kinds(whole); got != begun {
		t.Errorf("reported %s", got)
	}
	b := w.must(a, note("done"))
	advanced := "advance_recorded decision_trace_appended node_created edge_created node_output_appended "
	for _, f := range []*views.Follower{late, whole} {
		if got := kinds(f); got != advanced {
			t.Errorf("reported %s", got)
		}
		if got := kinds(f); got != "" {
			t.Errorf("reported twice: %s", got)
		}
		if over, err := f.Ended(ctx); over || err != nil {
			t.Errorf("over before the end: %v", err)
		}
	}
	w.start(longOne) // another run is not followed
	w.must(b, note("the end"))
	if got := kinds(late); got != advanced {
		t.Errorf("reported %s", got)
	}
	if over, err := late.Ended(ctx); !over || err != nil {
		t.Errorf("not over at the end: %v", err)
	}
	if _, err := w.g.Follow(ctx, "nothing", true); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
}

// TestApproveWhatWasShown: an approval of what a person was shown is none of a later submission;
// the same content again is the same content.
func TestApproveWhatWasShown(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a := w.must(w.start(approving), note("plan A"))
	shown, err := w.g.Approvable(ctx, w.person("ada"), a.Position())
	if err != nil || shown.Notes != "plan A" || shown.Approved || shown.Step.StepID != "plan" {
		t.Fatalf("%+v, %v", shown, err)
	}
	b := w.must(a, note("plan B"))
	n := w.events(a)
	if _, err := w.process().Decide(ctx, w.person("ada"), shown, event.Approved, "fine"); !fault.Is(err, fault.DecisionRefused) ||
		!strings.Contains(err.Error(), "have changed since they were shown") || w.events(a) != n {
		t.Fatal(err)
	}
	b = w.must(b, note("plan A")) // the outputs that were shown, submitted again
	if _, err := w.process().Decide(ctx, w.person("ada"), shown, event.Approved, "fine"); err != nil {
		t.Fatal(err)
	}
	again, err := w.g.Approvable(ctx, w.person("ada"), a.Position())
	if err != nil || !again.Approved {
		t.Fatalf("%+v, %v", again, err)
	}
	if done := w.must(w.look(b.StateToken), advance.Request{}); done.Pending.StepID != "build" {
		t.Errorf("%+v", done)
	}
	if _, err := w.g.Approvable(ctx, engine.Caller{Actor: event.Actor{Kind: event.Agent}}, w.start(longOne).
		Position()); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
}

// TestAForkedRunShowsItsHistory: steps that were done before the fork are neither open nor skipped.
func TestAForkedRunShowsItsHistory(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(twoRounds), note("planned"))
	f := w.mustFork(a.Position(), "Again")
	r, err := w.process().Run(context.Background(), f.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, s := range r.Steps {
		rows = append(rows, s.StepInstanceKey+" "+string(s.State))
	}
	if got := strings.Join(rows, ", "); got != "plan done, r@0::work pending, end to_come" {
		t.Error(got)
	}
	if r.ForkedFrom == nil || r.ForkedFrom.RunID != a.Session.RunID || r.ForkedFrom.NodeID != a.NodeID {
		t.Errorf("%+v", r.ForkedFrom)
	}
}
