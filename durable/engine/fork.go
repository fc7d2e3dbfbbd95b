package engine

import (
	"context"
	"maps"
	"slices"

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
func (g *Engine) Fork(ctx context.Context, by Caller, seed id.Seed, req ForkRequest) (Answer, error) {
	w, source, err := g.forkSource(ctx, req.At)
	if err != nil {
		return Answer{}, err
	}
	plan, dropped, err := advance.Branch(w, source, advance.Fork{Session: id.NewSession(seed), Run: id.NewRun(seed),
		Title:        req.Title,
		Observations: req.Observations, Actor: by.Actor, AtMs: by.AtMs})
	if err != nil {
		return Answer{}, err
	}
	keys, err := g.Keyring.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	fold, recorded := runs.NewFold(), false
	err = ports.WithHealthySession(ctx, g.Locks, g.Logs, plan.Log, manifest.Head{}, fold,
		func(w ports.Witness, v manifest.Verdict) error {
			if recorded = !v.Unborn(); recorded {
				return nil
			}
			return g.append(ctx, w, fold, plan)
		})
	if err != nil {
		return Answer{}, adviseOnRestart(err, "")
	}
	g.cacheStates(plan)
	at := Position{id.NewSession(seed), id.NewRun(seed), id.RootNode(id.NewRun(seed))}
	if recorded {
		return g.replayStart(ctx, keys, at, plan)
	}
	p, err := resolvePosition(fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answer(ctx, keys, p)
	if err != nil {
		return Answer{}, adviseOnRestart(answerUnread(err), "")
	}
	g.putFold(at.Session, fold)
	a.warnDropped(dropped)
	return a, nil
}

// forkSource collects the recorded inputs of a fork from the source session and
// makes them durable: the first event of the fork names the source's head,
// which a power cut must not remove.
func (g *Engine) forkSource(ctx context.Context, at Position) (w compile.Compiled, out advance.Source, err error) {
	// A saved head may prove a loss that the log alone does not show, so health
	// is checked first.
	if _, err := g.openRun(ctx, at, runs.NewFold()); err != nil {
		return w, out, err
	}
	history := &lineage{Fold: runs.NewFold(), run: at.Run}
	v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(at.Session)}, history)
	if err != nil {
		return w, out, err
	}
	if v.Health != manifest.Healthy {
		return w, out, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	}
	p, err := findRun(history.Fold, at)
	if err != nil {
		return w, out, err
	}
	if p.node = p.run.Node(at.Node); p.node == nil {
		return w, out, fault.New(fault.RunNotFound, "run %s has no node %s", at.Run, at.Node).
			Suggest("See its nodes with 'waybill runs show %s'.", at.Run)
	}
	if w, err = g.workflow(ctx, p.run.Started.WorkflowHash); err != nil {
		return w, out, err
	}
	state, err := g.state(ctx, p.node)
	if err != nil {
		return w, out, err
	}
	out = advance.Source{State: state, Started: p.run.Started, Preferences: p.node.Preferences, Context: p.node.Context,
		From: event.ForkedFrom{SessionID: at.Session, RunID: at.Run, NodeID: at.Node,
			Head: history.Head.Digest},
		Capabilities: history.capabilities(p.run, p.node)}
	return w, out, g.confirm(ctx, at.Session, history.Fold)
}

// lineage folds a log and also keeps its strong capability observations. The
// fold keeps those without their provenance, which the fork has to copy.
type lineage struct {
	*runs.Fold
	run      id.Run
	observed []event.Event
}

// Reset implements ports.Visitor.
func (l *lineage) Reset() {
	l.Fold.Reset()
	l.observed = nil
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
