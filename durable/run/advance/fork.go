package advance

import (
	"cmp"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Source holds the recorded facts about the node from which a run is forked.
type Source struct {
	From        event.ForkedFrom
	Started     event.RunStarted // of the run that the node belongs to
	State       snapshot.State
	Preferences event.Preferences
	Context     canon.Value
	// Capabilities are the strong observations valid at the node. The fork records them under
	// ids of its own.
	Capabilities []event.CapabilityObserved
}

// options are those of the run, with the digest of the request for the fork in place of the one that began it.
func (s Source) options(request canon.Digest) *event.RunOptions {
	var o event.RunOptions
	if s.Started.Options != nil {
		o = *s.Started.Options
	}
	o.RequestDigest = request
	if o.IsZero() {
		return nil
	}
	return &o
}

// Fork is the input that begins a session with a run forked from a node of another run.
type Fork struct {
	Session id.Session
	Run     id.Run
	Title   string // "": the source run's title
	// RequestDigest is that of a request under an idempotency key, zero for any other fork.
	RequestDigest canon.Digest
	Signers       *event.SignersMark
	Observations  []event.ObservationRecorded
	Actor         event.Actor
	AtMs          int64 // clock reading in milliseconds since 1970
}

// Branch plans the first segment of a forked session (docs/design.md#ends-and-branches): a
// run of the same pinned workflow whose root has the source's snapshot, preferences, context
// and capabilities. Copied facts have the engine as actor; the history before the node stays
// in the source session. dropped counts observations over their budget. VALIDATION_ERROR: the
// node has no pending step, or the title is invalid.
func Branch(w compile.Compiled, from Source, f Fork) (plan manifest.Plan, dropped int, err error) {
	if err := checkTitle(f.Title); err != nil {
		return plan, 0, err
	}
	pending := from.State.PendingStep()
	if pending == nil {
		return plan, 0, fault.New(fault.ValidationError,
			"run %s is complete at node %s: a fork would have no step to perform", from.From.RunID, from.From.NodeID).
			Suggest("Fork at an earlier node; %s lists them.", fault.Command{"runs", "show", from.From.RunID.String()})
	}
	// The caller passes the workflow pinned by the source; another one is a bug.
	if _, ok := w.Step(pending.StepID); !ok {
		return plan, 0, fault.New(fault.Invariant,
			"the pinned workflow has no step %q, which the node's snapshot names", pending.StepID)
	}
	bytes, err := from.State.Encode()
	if err != nil {
		return plan, 0, fault.Wrap(err, fault.Invariant, "the node's state is impossible")
	}
	seg := newSegment(f.Session, 0, f.AtMs, f.Actor)
	started := from.Started
	started.ForkedFrom, started.Title = &from.From, cmp.Or(f.Title, started.Title)
	started.Parent = nil   // the parent started the source run, not the fork
	started.Warnings = nil // a fork evaluates no condition
	started.Options = from.options(f.RequestDigest)
	started.Signers = f.Signers
	node, origin := seg.open(w, f.Run, bytes, started)
	// The effective preferences are copied whole: they do not depend on today's defaults.
	seg.startPreferences(node, origin, from.Preferences)
	seg.startContext(node, origin, from.Context, engine)
	for i, c := range from.Capabilities {
		// Provenance is copied, so that a strong observation stays strong.
		c.CapObsID = origin.CapObs(i)
		seg.engine(node, c)
	}
	// The trace refers to the source by id; nothing of it is copied.
	summary := fmt.Sprintf("Forked from node %s of run %s, where step %q is pending.", from.From.NodeID,
		from.From.RunID, pending.StepID)
	if !from.From.WorkflowHash.IsZero() {
		summary += fmt.Sprintf(" That run is pinned to another definition, %s.", from.From.WorkflowHash)
	}
	seg.engine(node, event.NewTrace(origin.Trace(0),
		[]event.TraceEntry{{Kind: event.SelectedNextStep, Refs: []event.TraceRef{event.StepRef(pending.StepID)},
			Summary: summary}}))
	return seg.plan, seg.observe(f.Observations), nil
}
