package perform

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// sessionView is a fold of the run's session. It has the preferred tip, and
// what the engine's answers do not contain about a node. It is refreshed where
// a step needs it and reads only what is new, so that the cost of a step does
// not depend on the length of the run.
type sessionView struct {
	log  manifest.Log
	at   engine.Position // Node is empty
	fold *runs.Fold
}

// newView returns a view that has read nothing.
func newView(session id.Session, run id.Run) *sessionView {
	return &sessionView{log: manifest.SessionEvents(session), at: engine.Position{Session: session, Run: run},
		fold: runs.NewFold()}
}

// refresh reads what is new; moved reports that the head changed.
func (v *sessionView) refresh(ctx context.Context, logs ports.Logs) (moved bool, err error) {
	before := v.fold.Head
	_, err = ports.Continue(ctx, logs, ports.ReadRequest{Log: v.log, From: before}, ports.Into(&v.fold, runs.NewFold))
	return v.fold.Head != before, err
}

// run is the run in the fold, nil before the first refresh.
func (v *sessionView) run() *runs.Run { return v.fold.Runs[v.at.Run] }

// tip is the position of the run's preferred tip, or RUN_NOT_FOUND.
func (v *sessionView) tip() (engine.Position, error) {
	run := v.run()
	if run == nil || run.Tip.IsZero() {
		return v.at, fault.New(fault.RunNotFound, "session %s holds no run %s", v.at.Session, v.at.Run)
	}
	at := v.at
	at.Node = run.Tip
	return at, nil
}

// nodeRecord is what is recorded at the node of a pending step.
type nodeRecord struct {
	given   []string         // context keys that refused attempts set
	draft   string           // its current notes
	refused []reason.Blocker // of the last attempt, if that was refused
	kinds   map[string]bool  // of its artifacts
}

// refusedAt reports that the last attempt was refused at a pointer.
func (n nodeRecord) refusedAt(p reason.Pointer) bool {
	return slices.ContainsFunc(n.refused, func(b reason.Blocker) bool { return b.Pointer == p })
}

// lacks reports that the node has no artifact of the kind, or that the last
// attempt was refused at one of the pointers.
func (n nodeRecord) lacks(kind string, at ...reason.Pointer) bool {
	return !n.kinds[kind] || slices.ContainsFunc(at, n.refusedAt)
}

// node collects what is recorded at a node, the zero value for an unknown one. Artifacts of branches
// that left the node do not count.
func (v *sessionView) node(n id.Node) nodeRecord {
	run := v.run()
	if run == nil || run.Node(n) == nil {
		return nodeRecord{}
	}
	node := run.Node(n)
	k := nodeRecord{given: node.Given, kinds: map[string]bool{}}
	if n := len(node.Attempts); n > 0 && node.Attempts[n-1].Outcome.Kind == event.Blocked {
		k.refused = node.Attempts[n-1].Outcome.Blockers.Blockers
	}
	if o, ok := node.Recap(); ok {
		k.draft = o.Payload.NotesMarkdown
	}
	for _, o := range node.Artifacts() {
		if node.OfBranch(o) {
			k.kinds[o.Payload.ArtifactKind] = true
		}
	}
	return k
}
