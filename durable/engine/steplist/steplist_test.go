package steplist_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/steplist"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// history is a log of one run, which is composed event by event.
type history struct {
	run    id.Run
	nodes  []id.Node
	points []id.Node // checkpoints
	events []event.Event
	fold   *runs.Fold // whole
	made   byte       // ids
	many   byte
}

var agent = event.Actor{Kind: event.Agent}

func newHistory() *history {
	h := &history{run: id.NewRun(id.Seed{1}), fold: runs.NewFold()}
	h.add(id.Node{}, event.RunStarted{WorkflowID: "test.w"})
	h.node(nil, event.StepNode)
	return h
}

// raw returns the bytes of the next id.
func (h *history) raw() [16]byte {
	if h.made++; h.made == 0 {
		h.many++
	}
	return [16]byte{1, h.many, h.made}
}

func (h *history) add(n id.Node, p event.Payload) {
	e := event.New("sess_test", int64(len(h.events)), event.Scope{RunID: h.run, NodeID: n}, agent, int64(1000+len(h.events)), p)
	h.events = append(h.events, e)
	h.fold.Apply(e)
}

func (h *history) node(parent *id.Node, kind event.NodeKind) id.Node {
	n := id.Node{}.OfRaw(h.raw())
	h.add(n, event.NodeCreated{NodeKind: kind, ParentNodeID: parent, SnapshotRef: canon.Sum([]byte(n.String()))})
	if kind == event.CheckpointNode {
		h.points = append(h.points, n)
	} else {
		h.nodes = append(h.nodes, n)
	}
	return n
}

func (h *history) recap(n id.Node) {
	h.add(n, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: id.Output{}.OfRaw(h.raw()),
		Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: fmt.Sprint("note ", len(h.events))}})
}

// advance leaves a node. late is what is recorded at it afterwards.
func (h *history) advance(from id.Node, kind event.NodeKind) {
	at := id.Node{}.OfRaw([16]byte{1, h.many, h.made + 2})
	if h.made >= 254 {
		at = id.Node{}.OfRaw([16]byte{1, h.many + 1, h.made + 2})
	}
	h.add(from, event.AdvanceRecorded{AttemptID: id.Attempt{}.OfRaw(h.raw()), Outcome: event.AdvancedTo(at)})
	h.add(id.Node{}, event.ContextSet{NodeID: &at, Source: event.ContextAgentDelta,
		Context: canon.OfMembers(canon.Member{Name: "n", Value: canon.OfInt(int64(len(h.events)))})})
	h.node(&from, kind)
	h.add(id.Node{}, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: from, ToNodeID: at})
	h.recap(from)
}

// step appends a random record, mostly an advance at the tip.
func (h *history) step(rt *rapid.T, recent int) {
	some := func(of []id.Node) id.Node {
		return of[max(0, len(of)-rapid.IntRange(1, max(recent, 1)).Draw(rt, "age"))]
	}
	tip := h.fold.Runs[h.run].Tip
	switch rapid.IntRange(0, 14).Draw(rt, "what") {
	case 0:
		h.advance(some(h.nodes), event.StepNode)
	case 1:
		h.recap(some(h.nodes))
	case 2:
		at := some(h.nodes)
		h.recap(h.node(&at, event.CheckpointNode))
	case 3:
		if len(h.points) > 0 {
			h.recap(some(h.points))
		}
	case 4:
		h.add(some(h.nodes), event.GuardNoted{Client: "c", Verdict: event.GuardLetGo})
	case 5:
		at := some(h.nodes)
		h.add(id.Node{}, event.ContextSet{NodeID: &at, Source: event.ContextInitial,
			Context: canon.OfMembers(canon.Member{Name: "late", Value: canon.OfInt(int64(len(h.events)))})})
	case 6:
		h.advance(tip, event.BlockedAttemptNode)
	case 7: // of another program: without an edge
		h.node(&tip, event.StepNode)
	default:
		h.advance(tip, event.StepNode)
	}
}

// shown is what a row may show of a node of the path; next is the node behind it, nil at the tip.
func shown(r *runs.Run, n, next *runs.Node) string {
	text := fmt.Sprintf("%s: %d attempts, context %s, guarded %v, checkpoints %v", n.ID, len(n.Attempts), n.Context.JCS(),
		n.Guarded, r.CheckpointsAt(n))
	if next != nil {
		text += fmt.Sprint(", left at ", next.CreatedAtMs)
		n = r.Before(next)
	}
	for _, o := range n.Outputs {
		text += ", " + o.Payload.NotesMarkdown
	}
	return text
}

// first reads a history as a first reading does, with a window of so many nodes; 0: all of them. nil: a window does not
// suffice.
func (h *history) first(newest int) *steplist.Nodes {
	fold, nodes := runs.NewFold(), &steplist.Nodes{}
	for from, i := 0, 0; i < len(h.events); i++ {
		if _, pending := h.events[i].Data.(event.ContextSet); pending && i+1 < len(h.events) {
			continue // a delta precedes its node in one segment
		}
		segment := h.events[from : i+1]
		from = i + 1
		_ = fold.Visit(manifest.Segment{Events: segment}, manifest.Head{})
		nodes.Add(fold.Runs[h.run], segment)
		if fold.Missed() || nodes.Missed() {
			return nil
		}
		if newest > 0 && i%7 == 0 {
			if w, ok := fold.Window(newest); ok {
				fold.Session = w
				nodes.Forget(fold.Runs[h.run])
			}
		}
	}
	return nodes
}

// group is that of a node in a list with groups of its own.
func group(at, groups int) int { return at * groups / 40 % groups }

// plan lists the path in so many groups; each fifth node has no step.
func (h *history) plan(nodes *steplist.Nodes, groups int) *steplist.Plan {
	p := nodes.Path(h.fold.Runs[h.run].Tip)
	for at := range p.PathLen() {
		if at%5 == 4 {
			p.NoStep()
		} else {
			p.Step(fmt.Sprint("step ", at/2), "", group(at, groups), true)
		}
	}
	p.Order(slices.Repeat([]bool{true}, groups), 0)
	return p
}

// TestRowsAreThoseOfTheWholeFold: each row is shown once, as a fold of the whole log shows it, although nodes are taken
// out of the fold of the reading; records come at any time, also at nodes that were left long ago.
func TestRowsAreThoseOfTheWholeFold(t *testing.T) {
	var plans, windows, released int
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory()
		recent, groups := rapid.IntRange(1, 30).Draw(rt, "recent"), rapid.IntRange(1, 4).Draw(rt, "groups")
		for range rapid.IntRange(0, 400).Draw(rt, "steps") {
			h.step(rt, recent)
		}
		plan := h.plan(h.first(0), groups)
		if nodes := h.first(rapid.IntRange(1, 20).Draw(rt, "window")); nodes != nil {
			plan = h.plan(nodes, groups)
			windows++
		}
		plans++
		whole := h.fold.Runs[h.run]
		path := whole.Path(whole.Tip)
		if plan.PathLen() != len(path) {
			rt.Fatalf("%d nodes of a path of %d", plan.PathLen(), len(path))
		}
		pass, fold, rows, stops := plan.Pass(), runs.NewSession(), map[int]int{}, map[int]bool{}
		before, inOrder := -1, true
		for from := 0; from < len(h.events); {
			to := min(len(h.events), from+rapid.IntRange(1, 60).Draw(rt, "segment"))
			for _, e := range h.events[from:to] {
				fold.Apply(e)
			}
			r := fold.Runs[h.run]
			pass.Meet(r)
			for stop, ok := pass.Ready(int64(to)); ok; stop, ok = pass.Ready(int64(to)) {
				for at := stop.First; at < stop.End; at++ {
					var wholeNext *runs.Node
					if at+1 < len(path) {
						wholeNext = whole.Node(path[at+1])
					}
					got := shown(r, pass.Node(at), pass.Node(at+1))
					if want := shown(whole, whole.Node(path[at]), wholeNext); got != want {
						rt.Fatalf("node %d of the path is\n%s, want\n%s", at, got, want)
					}
				}
				if stops[stop.Number] {
					rt.Fatalf("stop %d is shown twice", stop.Number)
				}
				if stops[stop.Number] = true; stop.Row >= 0 {
					rows[stop.Row] = stop.First
					inOrder, before = inOrder && stop.Row > before, stop.Row
				}
			}
			pass.Release(r, int64(to), func(id.Node) { released++ })
			from = to
		}
		checkRows(rt, plan, rows, groups)
		if inOrder != plan.InOrder() {
			rt.Fatalf("rows are shown in order: %v, the plan reports %v", inOrder, plan.InOrder())
		}
	})
	t.Logf("%d plans, %d by a window, %d nodes released", plans, windows, released)
	if !testing.Short() && (windows*8 < plans || released == 0) { // a short run is too small a sample
		t.Error("too few windows suffice, or nothing is released")
	}
}

// checkRows compares the rows with the groups one after the other, each in the order of the path.
func checkRows(rt *rapid.T, plan *steplist.Plan, rows map[int]int, groups int) {
	last, in := -1, 0
	for row := range plan.Len() {
		g, unvisited := plan.Unvisited(row)
		first, visited := rows[row]
		switch {
		case unvisited == visited:
			rt.Fatalf("row %d: shown %v, without a step %v", row, visited, unvisited)
		case visited:
			g = group(first, groups)
		}
		if g < in || visited && g == in && first < last {
			rt.Fatalf("row %d of group %d, node %d is behind one of group %d, node %d", row, g, first, in, last)
		}
		last, in = first, g
	}
}

// TestRecordOfAHookAtANodeThatWasLeftOutIsMissed: the fold ignores it there, and the row of the node has it.
func TestRecordOfAHookAtANodeThatWasLeftOutIsMissed(t *testing.T) {
	h := newHistory()
	for range 30 {
		h.advance(h.fold.Runs[h.run].Tip, event.StepNode)
	}
	for _, at := range []id.Node{h.fold.Runs[h.run].Tip, h.nodes[3]} {
		h.add(at, event.GuardNoted{Client: "c", Verdict: event.GuardLetGo})
		if got := h.first(10) == nil; got != (at == h.nodes[3]) {
			t.Errorf("at %s: missed %v", at, got)
		}
	}
}

// TestRefusedAttemptsOfOtherProgramsAreOneStep: nodes of kind blocked_attempt at the step before, also behind a node
// without a step; not at another step.
func TestRefusedAttemptsOfOtherProgramsAreOneStep(t *testing.T) {
	h := newHistory()
	for range 4 {
		h.advance(h.fold.Runs[h.run].Tip, event.BlockedAttemptNode)
	}
	p := h.first(0).Path(h.fold.Runs[h.run].Tip)
	p.Step("a", "", 0, true)
	p.Step("a", "", 0, true)
	p.NoStep()
	p.Step("a", "", 0, true)
	p.Step("b", "", 1, true)
	if omitted := p.Order([]bool{true, true, true}, 2); omitted != 1 || p.Len() != 2 {
		t.Errorf("%d rows, %d omitted", p.Len(), omitted)
	}
	pass, r := p.Pass(), h.fold.Runs[h.run]
	pass.Meet(r)
	var got []steplist.Stop
	for s, ok := pass.Ready(int64(len(h.events))); ok; s, ok = pass.Ready(int64(len(h.events))) {
		got = append(got, s)
	}
	want := []steplist.Stop{{Number: 0, Row: -1, First: 0, End: 4}, {Number: 1, Row: 0, First: 4, End: 5}}
	slices.SortFunc(got, func(a, b steplist.Stop) int { return a.Number - b.Number })
	if !slices.Equal(got, want) {
		t.Errorf("stops %+v, want %+v", got, want)
	}
	if g, unvisited := p.Unvisited(1); !unvisited || g != 2 {
		t.Errorf("row 1 is of group %d, %v", g, unvisited)
	}
}
