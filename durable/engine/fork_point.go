package engine

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/lineage"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// ForkPoint is a node from which a run can be forked, with all that the fork copies. It may be of
// another store than the fork.
type ForkPoint struct {
	workflow compile.Compiled
	pinned   canon.Digest // the workflow's hash in the source run
	from     advance.Source
}

// ForkPoint reads a node as the source of a fork, and makes what it read durable: the first event
// of the fork names the source's head, which a power cut must not remove. The session is not
// written. One by another program or a newer version is a source if every kind of its events is
// known (docs/design.md#foreign-stores): its workflow is compiled again and its state adopted, from
// the node before a refused attempt.
//
// Errors: RUN_NOT_FOUND; SESSION_UNHEALTHY for a damaged session and for facts, a snapshot or a
// workflow of a form that is not known; WORKFLOW_INVALID if the workflow does not compile here.
func (e *Engine) ForkPoint(ctx context.Context, at Position) (out ForkPoint, err error) {
	h := e.NewHistory(at.Session)
	// A saved head may prove a loss that the log alone does not show, so health
	// is checked first.
	if err := readable(h.Log)(h.ReadSaved(ctx)); err != nil {
		return out, err
	}
	var lines *lineage.Lineage
	err = readable(h.Log)(e.store.Read(ctx, ports.ReadRequest{Log: h.Log}, ports.Into(&lines, func() *lineage.Lineage {
		return lineage.New(at.Run)
	})))
	if err != nil {
		return out, err
	}
	h.Fold = lines.Fold
	p, err := session.FindRun(h.Fold, at)
	if err != nil {
		return out, err
	}
	if err := lines.Known(at.Session); err != nil {
		return out, err
	}
	for p.Node = p.Run.Node(at.Node); p.Node != nil && p.Node.Kind == event.BlockedAttemptNode; {
		p.Node = parentOf(p) // the step is pending there as well
	}
	if p.Node == nil {
		return out, fault.New(fault.RunNotFound, "run %s has no node %s", at.Run, at.Node).
			Suggest("See its nodes with %s.", fault.Command{"runs", "show", at.Run.String()})
	}
	out.pinned = p.Run.Started.WorkflowHash
	out.from = advance.Source{Started: p.Run.Started, Preferences: p.Node.Preferences, Context: p.Node.Context,
		From: event.ForkedFrom{SessionID: at.Session, RunID: at.Run, NodeID: p.Node.ID,
			Head: h.Fold.Head.Digest},
		Capabilities: lines.Capabilities(p.Run, p.Node)}
	if out.workflow, out.from.State, err = adopted(ctx, e, p); err != nil {
		return out, err
	}
	out.markSource(ctx, e.Origins)
	return out, h.Confirm(ctx)
}

// readable passes a verdict of a log that is not damaged.
func readable(log manifest.Log) func(manifest.Verdict, error) error {
	return func(v manifest.Verdict, err error) error {
		if err == nil && v.Health != manifest.Healthy && v.Health != manifest.UnknownVersion {
			err = ports.Unhealthy(log, v)
		}
		return err
	}
}

// markSource records the source of a reserved workflow that is not the one which is bundled: it
// came with a bundle, or was compiled again from what another program pinned.
func (p *ForkPoint) markSource(ctx context.Context, origins origin.Origins) {
	started := &p.from.Started
	compiled := started.WorkflowHash != p.workflow.Hash()
	if compiled {
		p.from.From.WorkflowHash = started.WorkflowHash
		started.WorkflowSourceRef = "" // another program stores absolute paths
	}
	if source.Reserved(started.WorkflowID) && (compiled || origins.IsImported(ctx, p.from.From.SessionID, *started)) {
		started.WorkflowSourceKind = event.SourcePlugin
	}
	started.WorkflowHash = p.workflow.Hash()
}

// adopted returns the workflow and the state of a node, in the forms of this version.
func adopted(ctx context.Context, e *Engine, p session.Resolved) (w compile.Compiled, s snapshot.State, err error) {
	w, s, err = e.Load(ctx, p)
	if !session.IsForeignForm(err) {
		return w, s, err
	}
	data, err := e.Object(ctx, manifest.Workflow, p.Run.Started.WorkflowHash)
	if err != nil {
		return w, s, err
	}
	if w, err = e.Workflow(ctx, p.Run.Started.WorkflowHash); session.IsForeignForm(err) {
		w, err = compileForeign(data, p.Run.Started)
	}
	if err != nil {
		return w, s, err
	}
	if data, err = e.Object(ctx, manifest.Snapshot, p.Node.SnapshotRef); err != nil {
		return w, s, err
	}
	s, err = snapshot.Decode(data)
	if err != nil {
		s, err = snapshot.DecodeForeignState(data)
	}
	if err != nil {
		return w, s, fault.Wrap(err, fault.SessionUnhealthy, "the snapshot of node %s: %s", p.Node.ID, err)
	}
	if s, err = interpreter.Adopt(w, s, p.Node.Context); err != nil {
		return w, s, fault.Wrap(err, fault.ValidationError, "run %s cannot be forked at node %s: %s", p.Run.ID,
			p.Node.ID, err)
	}
	return w, s, nil
}

// compileForeign compiles the source that another program pinned.
func compileForeign(data []byte, started event.RunStarted) (compile.Compiled, error) {
	text, err := compile.ForeignSource(data)
	if err != nil {
		return compile.Compiled{}, err
	}
	kind := source.SourceProject
	if source.Reserved(started.WorkflowID) {
		kind = source.SourcePlugin
	}
	_, w, problems := compile.File("workflow.json", kind, text)
	for _, p := range problems {
		if p.Severity == problem.Error {
			return w, fault.New(fault.WorkflowInvalid, "the workflow %q that the run is pinned to does not compile: %s: %s",
				started.WorkflowID, p.Pointer, p.Message).
				Suggest("%s reads the run; start a corrected file instead.", fault.Command{"runs", "show"})
		}
	}
	return w, nil
}
