package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// ForkRequest requests a run that continues from a node of another run.
type ForkRequest struct {
	At Position
	// Title is that of the new run; "" means the title of the source run.
	Title        string
	Observations []event.ObservationRecorded
}

// Fork creates a session with a run that continues from a node of another run,
// and returns the answer for its first step (docs/design.md#ends-and-branches).
// The source is read and never written. It must be healthy, and may be complete
// or closed at its tip. A repeated call with the same seed returns the answer
// of the first.
//
// Errors: VALIDATION_ERROR if no step is pending at the node, RUN_NOT_FOUND,
// SESSION_UNHEALTHY.
func (e *Engine) Fork(ctx context.Context, by Caller, seed id.Seed, req ForkRequest) (Answer, error) {
	w, source, err := e.forkSource(ctx, req.At)
	if err != nil {
		return Answer{}, err
	}
	plan, dropped, err := advance.Branch(w, source, advance.Fork{Session: id.NewSession(seed), Run: id.NewRun(seed),
		Title:        req.Title,
		Observations: req.Observations, Actor: by.Actor, AtMs: by.AtMs})
	if err != nil {
		return Answer{}, err
	}
	run := id.NewRun(seed)
	a, err := e.begin(ctx, Position{Session: id.NewSession(seed), Run: run, Node: id.RootNode(run)}, plan, "", "")
	a.warnDropped(dropped)
	return a, err
}

// forkSource collects the recorded inputs of a fork from the source session and
// makes them durable: the first event of the fork names the source's head,
// which a power cut must not remove.
func (e *Engine) forkSource(ctx context.Context, at Position) (w compile.Compiled, out advance.Source, err error) {
	// A saved head may prove a loss that the log alone does not show, so health
	// is checked first.
	h := e.NewHistory(at.Session)
	if _, err := h.OpenRun(ctx, at); err != nil {
		return w, out, err
	}
	var source *lineage
	err = h.Healthy(e.store.Read(ctx, ports.ReadRequest{Log: h.Log}, ports.Into(&source, func() *lineage {
		return &lineage{Fold: runs.NewFold(), run: at.Run}
	})))
	if err != nil {
		return w, out, err
	}
	h.Fold = source.Fold
	p, err := session.FindRun(h.Fold, at)
	if err != nil {
		return w, out, err
	}
	if p.Node = p.Run.Node(at.Node); p.Node == nil {
		return w, out, fault.New(fault.RunNotFound, "run %s has no node %s", at.Run, at.Node).
			Suggest("See its nodes with %s.", fault.Command{"runs", "show", at.Run.String()})
	}
	w, state, err := e.Load(ctx, p)
	if err != nil {
		return w, out, err
	}
	out = advance.Source{State: state, Started: p.Run.Started, Preferences: p.Node.Preferences, Context: p.Node.Context,
		From: event.ForkedFrom{SessionID: at.Session, RunID: at.Run, NodeID: at.Node,
			Head: h.Fold.Head.Digest},
		Capabilities: source.capabilities(p.Run, p.Node)}
	return w, out, h.Confirm(ctx)
}

// lineage folds a log and also keeps its strong capability observations. The
// fold keeps those without their provenance, which the fork has to copy.
type lineage struct {
	*runs.Fold
	run      id.Run
	observed []event.Event
}

// Visit implements ports.Visitor.
func (l *lineage) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if c, ok := e.Data.(event.CapabilityObserved); ok && e.Scope.RunID == l.run &&
			c.Provenance.EnforcementGrade == "strong" {
			l.observed = append(l.observed, e)
		}
	}
	return l.Fold.Visit(seg, head)
}

// capabilities returns the observations that are valid at a node, one per
// capability, in order of their names: the latest one made at the node, or at
// an ancestor before the path left it (docs/design.md#capabilities). Event
// indexes grow along a path, so the last match is the nearest.
func (l *lineage) capabilities(r *runs.Run, n *runs.Node) []event.CapabilityObserved {
	left := map[id.Node]int64{n.ID: l.Next} // the index at which the path left a node
	path := r.Path(n.ID)
	for i, nodeID := range path[1:] {
		left[path[i]] = r.Node(nodeID).CreatedIndex
	}
	latest := map[string]event.CapabilityObserved{}
	for _, e := range l.observed {
		if c := e.Data.(event.CapabilityObserved); e.Index < left[e.Scope.NodeID] {
			latest[c.Capability] = c
		}
	}
	var out []event.CapabilityObserved
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		out = append(out, latest[name])
	}
	return out
}
