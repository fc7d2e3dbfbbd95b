package advance

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Source is what is on record about the node that a run is forked from.
type Source struct {
	From        event.ForkedFrom
	Started     event.RunStarted // of the run it belongs to
	State       snapshot.State
	Preferences event.Preferences
	Context     canon.Value
	// Capabilities are the strong observations that hold at the node. Their ids are
	// not used: the fork's facts have ids of their own.
	Capabilities []event.CapabilityObserved
}

// Fork is what begins a session with a run that goes on from another run's node.
type Fork struct {
	Session      id.Session
	Run          id.Run
	Title        string // "": the source's
	Observations []event.ObservationRecorded
	Actor        event.Actor
	AtMs         int64 // clock reading in milliseconds since 1970
}

// Branch plans the first segment of a forked session (R23): the run, bound to the
// same workflow, with a root at the source's snapshot and all that held there.
// What is copied is the engine's to say; what happened on the way there stays in
// the source. dropped counts observations that break a budget. VALIDATION_ERROR
// says that the node has nothing left to do, or that the title is none.
func Branch(w compile.Compiled, from Source, f Fork) (plan manifest.Plan, dropped int, err error) {
	if len(f.Title) > limits.TitleBytesMax || !utf8.ValidString(f.Title) {
		return plan, 0, fault.New(fault.ValidationError,
			"the title has %d bytes; at most %d of valid UTF-8 are allowed", len(f.Title), limits.TitleBytesMax)
	}
	pending := from.State.PendingStep()
	if pending == nil {
		return plan, 0, fault.New(fault.ValidationError,
			"run %s is complete at node %s: a fork would have nothing to do", from.From.RunID, from.From.NodeID).
			Suggest("Fork at an earlier node; 'waybill runs show %s' lists them.", from.From.RunID)
	}
	if _, ok := w.Step(pending.StepID); !ok {
		return plan, 0, fault.New(fault.Invariant,
			"the pinned workflow has no step %q, which the node's snapshot names", pending.StepID)
	}
	bytes, err := from.State.Encode()
	if err != nil {
		return plan, 0, fault.Wrap(err, fault.Invariant, "the node's state is impossible")
	}
	root := id.RootNode(f.Run)
	origin := id.FromStart(root)
	run, node := event.Scope{RunID: f.Run}, event.Scope{RunID: f.Run, NodeID: root}
	seg := newSegment(f.Session, 0, f.AtMs, f.Actor)
	seg.object(manifest.Workflow, w.Bytes())
	ref := seg.object(manifest.Snapshot, bytes).Ref()

	started := from.Started
	started.ForkedFrom, started.Title = &from.From, cmp.Or(f.Title, started.Title)
	started.Parent = nil // who started the source did not start this
	seg.caller(event.Scope{}, event.SessionCreated{})
	seg.caller(run, started)
	seg.engine(node, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: ref, WorkflowHash: w.Hash()})
	seg.startPreferences(node, origin, from.Preferences, false)
	if from.Context.Len() > 0 {
		seg.engine(run, event.ContextSet{Context: from.Context, ContextID: origin.Context(0), NodeID: &root,
			Source: event.ContextInitial})
	}
	for i, c := range from.Capabilities {
		c.CapObsID = origin.CapObs(i)
		seg.engine(node, c)
	}
	seg.engine(node, event.NewTrace(origin.Trace(0),
		[]event.TraceEntry{{Kind: event.SelectedNextStep, Refs: []event.TraceRef{event.StepRef(pending.StepID)},
			Summary: fmt.Sprintf("Forked from node %s of run %s, where step %q is pending.", from.From.NodeID,
				from.From.RunID, pending.StepID)}}))
	return seg.plan, seg.observe(f.Observations), nil
}
