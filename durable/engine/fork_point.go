package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
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
	var lines *lineage
	err = readable(h.Log)(e.store.Read(ctx, ports.ReadRequest{Log: h.Log}, ports.Into(&lines, func() *lineage {
		return &lineage{Fold: runs.NewFold(), run: at.Run}
	})))
	if err != nil {
		return out, err
	}
	h.Fold = lines.Fold
	p, err := session.FindRun(h.Fold, at)
	if err != nil {
		return out, err
	}
	if err := lines.known(at); err != nil {
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
		Capabilities: lines.capabilities(p.Run, p.Node)}
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

// lineage folds a log and also keeps what a fold leaves out and a fork needs: its strong capability
// observations with their provenance, and the kinds of events that are not known.
type lineage struct {
	*runs.Fold
	run      id.Run
	observed []event.Event
	unknown  []string
}

// Visit implements ports.Visitor.
func (l *lineage) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if g, foreign := event.Domain.ViewForeign(e); foreign && !e.Ignorable {
			if g.Known == nil && !slices.Contains(l.unknown, e.Data.Kind()) {
				l.unknown = append(l.unknown, e.Data.Kind())
			}
			if g.Known != nil {
				e.Data = g.Known
			}
		}
		if c, ok := e.Data.(event.CapabilityObserved); ok && e.Scope.RunID == l.run &&
			c.Provenance.EnforcementGrade == "strong" {
			l.observed = append(l.observed, e)
		}
	}
	return l.Fold.Visit(seg, head)
}

// unknownShown bounds the kinds that an error names.
const unknownShown = 8

// known refuses a session with events of kinds that are not known: what they record would be lost
// without a notice.
func (l *lineage) known(at Position) error {
	if len(l.unknown) == 0 {
		return nil
	}
	slices.Sort(l.unknown)
	names := strings.Join(l.unknown[:min(len(l.unknown), unknownShown)], ", ")
	if more := len(l.unknown) - unknownShown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fault.New(fault.SessionUnhealthy,
		"session %s has events of kinds that this version does not know, so no run can be forked from it: %.512s",
		at.Session, names).
		Suggest("%s reads the run; start the workflow again instead.", fault.Command{"runs", "show", at.Run.String()}).
		With("sessionId", at.Session.String()).With("unknownKinds", l.unknown)
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
