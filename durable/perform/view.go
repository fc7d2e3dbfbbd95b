package perform

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// view is a fold of the run's session: where its tip is, and what the engine's
// answers do not say about a node. It is brought up to date where a step asks for
// it, by what is new in the log only, so that a step costs the same however long
// the run is.
type view struct {
	log  manifest.Log
	at   engine.Position // Node is not used
	fold *projections.Fold
}

func newView(session id.Session, run id.Run) *view {
	return &view{log: manifest.SessionEvents(session), at: engine.Position{Session: session, Run: run},
		fold: projections.NewFold()}
}

// refresh reads on; moved says that there was something new.
func (v *view) refresh(ctx context.Context, logs ports.Logs) (moved bool, err error) {
	before := v.fold.Head
	_, err = logs.Read(ctx, ports.Reading{Log: v.log, From: before}, v.fold)
	if errors.Is(err, manifest.ErrNotOnChain) {
		v.fold.Reset()
		_, err = logs.Read(ctx, ports.Reading{Log: v.log}, v.fold)
	}
	return v.fold.Head != before, err
}

func (v *view) run() *projections.Run { return v.fold.Runs[v.at.Run] }

func (v *view) tip() (engine.Position, error) {
	run := v.run()
	if run == nil || run.Tip.IsZero() {
		return v.at, fault.New(fault.RunNotFound, "session %s holds no run %s", v.at.Session, v.at.Run)
	}
	at := v.at
	at.Node = run.Tip
	return at, nil
}

// known is what is on record about the node that a step is pending at.
type known struct {
	vars    canon.Value
	draft   string           // its notes so far
	refused []reason.Blocker // what the last attempt lacked; what an earlier one did may be there by now
	kinds   map[string]bool  // of the artifacts that lie with it
}

// refusedAt reports that the last attempt was refused at a place.
func (k known) refusedAt(p reason.Pointer) bool {
	return slices.ContainsFunc(k.refused, func(b reason.Blocker) bool { return b.Pointer == p })
}

func (v *view) node(n id.Node) known {
	run := v.run()
	if run == nil || run.Node(n) == nil {
		return known{}
	}
	node := run.Node(n)
	k := known{vars: node.Context, kinds: map[string]bool{}}
	if n := len(node.Attempts); n > 0 && node.Attempts[n-1].Outcome.Kind == event.Blocked {
		k.refused = node.Attempts[n-1].Outcome.Blockers.Blockers
	}
	if o, ok := node.Recap(); ok {
		k.draft = o.Payload.NotesMarkdown
	}
	for _, o := range node.Artifacts() {
		k.kinds[o.Payload.ArtifactKind] = true
	}
	return k
}
