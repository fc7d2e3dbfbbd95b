package session

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// Position names a node of a run durably. It remains valid as long as the
// session exists.
type Position struct {
	Session id.Session
	Run     id.Run
	Node    id.Node
}

// Resolved is a position with its run and node in a fold. Node is nil when a run
// as a whole was looked up.
type Resolved struct {
	At   Position
	Fold *runs.Fold
	Run  *runs.Run
	Node *runs.Node
}

// AtNode is the place of another node of the same run.
func (p Resolved) AtNode(n *runs.Node) Resolved {
	p.Node = n
	return p
}

// errFoldIncomplete reports that a fold skipped events that an answer may need.
// It wraps manifest.ErrNotOnChain: the log is read from its beginning, as for a head of another history.
var errFoldIncomplete = fmt.Errorf("the fold left out what is asked about: %w", manifest.ErrNotOnChain)

// Resolve looks a position up in a fold. An unknown node is
// TOKEN_UNKNOWN_NODE: the caller's token was made from a longer log
// (docs/design.md#log-tail). A fold that skipped events cannot prove that, and
// returns errFoldIncomplete.
func Resolve(f *runs.Fold, at Position) (Resolved, error) {
	p := Resolved{At: at, Fold: f, Run: f.Runs[at.Run]}
	// A windowed fold cannot distinguish an unknown node from a dropped one.
	if f.Missed() || !f.Covers(at.Run, at.Node) {
		return p, errFoldIncomplete
	}
	if p.Run != nil {
		p.Node = p.Run.Node(at.Node)
	}
	if p.Node == nil {
		return p, fault.New(fault.TokenUnknownNode, "session %s holds no node %s of run %s", at.Session, at.Node, at.Run).
			Suggest("If a backup was restored that is older than this token, import what is missing from a store or a bundle that has it. "+
				"Otherwise continue with %s from what is stored.", fault.Command{"continue", "--run", at.Run.String()})
	}
	return p, nil
}

// WholePath returns a place in a fold of the whole log, with every node on the path to it. It reads the
// log from its beginning.
func (r *Reader) WholePath(ctx context.Context, p Resolved) (Resolved, error) {
	h := r.NewHistory(p.At.Session)
	if err := h.Healthy(h.readAll(ctx)); err != nil {
		return p, err
	}
	at := p.At
	at.Node = p.Node.ID
	return Resolve(h.Fold, at)
}

// FindRun looks a run up in a fold. A fold always contains every run, but one
// that skipped an event may have an outdated state of it, which is
// errFoldIncomplete.
func FindRun(f *runs.Fold, at Position) (Resolved, error) {
	p := Resolved{At: at, Fold: f, Run: f.Runs[at.Run]}
	switch {
	case f.Missed():
		return p, errFoldIncomplete
	case p.Run == nil:
		return p, fault.New(fault.RunNotFound, "session %s holds no run %s", at.Session, at.Run)
	}
	return p, nil
}

// StepsDone counts the steps that were completed before a node: those acknowledged on the path to
// it and, for a fork in form 2, those that its first snapshot lists. The keys of loops are not
// counted. The number never falls along a path.
func (r *Reader) StepsDone(ctx context.Context, w compile.Compiled, run *runs.Run, n *runs.Node) (int64, error) {
	root := run.Node(run.Root)
	if run.Started.ForkedFrom == nil || root == nil || !w.Form2() {
		return n.Depth, nil
	}
	s, err := r.State(ctx, root)
	if err != nil {
		return 0, err
	}
	done := n.Depth
	for _, key := range s.CompletedKeys() {
		_, stepID, err := snapshot.ParseKey(key)
		if _, loop := w.Loop(stepID); err == nil && !loop {
			done++
		}
	}
	return done, nil
}

// TipState extracts from a node's snapshot what projections.Run.StatusAt needs.
func TipState(w compile.Compiled, n *runs.Node, s snapshot.State) runs.TipState {
	return runs.TipState{Complete: s.IsComplete(), NeedsApproval: interpreter.NeedsApproval(w, s, n.Context)}
}
