package advance

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// decision is an attempt being decided.
type decision struct {
	w      compile.Compiled
	f      Facts
	a      Attempt
	step   compile.Step
	vars   canon.Value // the node's context with the attempt's delta
	prefs  event.Preferences
	laid   []Output // the node's current outputs with the attempt's laid over
	at     event.Scope
	origin id.Origin
	seg    *segment
	next   snapshot.State // at the new node

	gapsNew int
}

// Decided is what an attempt comes to: a plan whose first event is the
// advance_recorded, and where it advanced the state at the new node.
type Decided struct {
	manifest.Plan
	State snapshot.State
}

// Decide plans what an attempt comes to. An error, VALIDATION_ERROR for what the
// caller can mend, records nothing.
func Decide(w compile.Compiled, f Facts, a Attempt) (Decided, error) {
	d := &decision{w: w, f: f, a: a, at: event.Scope{RunID: f.Run, NodeID: f.Node},
		origin: id.FromAttempt(a.ID, id.OpAck)}
	if err := d.prepare(); err != nil {
		return Decided{}, err
	}
	d.seg = newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	q := d.requirements()
	if unmet := q.approval(); len(unmet) > 0 && d.neverStops() {
		d.block(unmet) // the one thing that stops a run in every mode (R20)
		return Decided{d.seg.plan, d.next}, nil
	}
	walked, err := interpreter.Next(w, f.State, interpreter.Input{Vars: d.vars, Artifacts: q.artifacts(""),
		NeverStop: d.neverStops()})
	if err != nil {
		return Decided{}, fault.Wrap(err, fault.Invariant, "the node's state does not fit its workflow: %s", err)
	}
	unmet := join(append(q.unmet(), q.approval()...), walked.Unmet)
	if len(unmet) > 0 && !d.neverStops() {
		d.block(unmet)
	} else if err := d.advance(walked, unmet); err != nil {
		return Decided{}, err
	}
	return Decided{d.seg.plan, d.next}, nil
}

// join adds what a walk lacks to what the step lacks. What is reported of one
// place already is not reported again in other words: a decision that is malformed
// is not missing as well.
func join(step, walk []reason.Unmet) []reason.Unmet {
	for _, u := range walk {
		if !slices.ContainsFunc(step, func(have reason.Unmet) bool { return have.Pointer == u.Pointer }) {
			step = append(step, u)
		}
	}
	return step
}

// neverStops is the mode as the attempt itself sets it: new autonomy applies to the
// same attempt (R16).
func (d *decision) neverStops() bool { return d.prefs.Autonomy == event.FullAutoNeverStop }

func (d *decision) prepare() error {
	if err := d.a.Request.Check(); err != nil {
		return err
	}
	// The digest is of what was sent. From here on artifacts stand in the order in
	// which they are stored, each once: nothing may depend on what the log does not keep.
	if d.a.Digest.IsZero() {
		d.a.Digest = d.a.Request.Digest()
	}
	d.a.Request.Artifacts = d.a.Request.inOrder()
	pending := d.f.State.PendingStep()
	if pending == nil {
		return fault.New(fault.ValidationError, "the run is complete: no step is pending at this node").
			Suggest("Start a new run, or continue from an earlier node.")
	}
	step, ok := d.w.Step(pending.StepID)
	if !ok {
		return fault.New(fault.Invariant, "the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	d.step = step
	d.vars = event.MergeContext(d.f.Context, d.a.Request.Context)
	if err := CheckContext(d.vars); err != nil {
		return err
	}
	d.laid = layOver(d.f.Outputs, d.a.Request)
	var err error
	d.prefs, err = applyPreferences(d.f.Preferences, d.a.Request.Preferences)
	return err
}

// layOver puts an attempt's outputs over the node's current ones: each takes the
// place of the earlier ones of its sort, and those of one attempt stand side by
// side (R20). The ids of new ones are zero.
func layOver(current []Output, r Request) []Output {
	var sent []Output
	if r.Notes != "" {
		sent = append(sent, Output{Payload: notesPayload(r.Notes)})
	}
	for _, a := range r.Artifacts {
		sent = append(sent, Output{Payload: a.payload(), JSON: a.JSON})
	}
	out := slices.DeleteFunc(slices.Clone(current), func(old Output) bool {
		return slices.ContainsFunc(sent, func(o Output) bool { return o.Payload.SameSort(old.Payload) })
	})
	return append(out, sent...)
}

// needsApproval: an attempt does not get rid of a gate by changing what the gate asks
// about, neither in its own context nor in that of an attempt that was refused for it.
func (d *decision) needsApproval() bool {
	return interpreter.NeedsApproval(d.w, d.f.State, d.f.Context) ||
		interpreter.NeedsApproval(d.w, d.f.State, d.vars) ||
		d.f.gated(d.step.StepID)
}

// requirements lays out what the step is held against.
func (d *decision) requirements() requirements {
	q := requirements{workflow: d.w, step: d.step, state: d.f.State, snapshotRef: d.f.SnapshotRef, outputs: d.laid,
		vars: interpreter.Variables(d.w, d.f.State, d.vars), capabilities: map[string]string{},
		claimed: map[string]bool{}}
	q.approves = d.needsApproval()
	q.notes = d.a.Request.Notes
	for _, o := range d.f.Outputs {
		if q.notes == "" && o.Payload.PayloadKind == event.Notes {
			q.notes = o.Payload.NotesMarkdown
		}
	}
	for name, status := range d.f.Capabilities {
		q.capabilities[name] = status
	}
	for _, o := range d.observed() {
		if o.Provenance.EnforcementGrade == "strong" {
			q.capabilities[o.Capability] = o.Status
		} else {
			q.claimed[o.Capability] = true
		}
	}
	return q
}

// block records a refused attempt: no node, but everything that came with it, and
// a gap for each blocker that is not open at the node already (R16).
func (d *decision) block(unmet []reason.Unmet) {
	var blockers []reason.Blocker
	for _, u := range unmet {
		blockers = append(blockers, u.Blocker())
	}
	report := reason.NewReport(blockers)
	d.record(event.BlockedBy(report))
	d.context(d.f.Node)
	d.facts()
	severity := event.Critical
	if d.f.HasChild {
		severity = event.Warning
	}
	for _, b := range report.Blockers {
		if code := codeOf(unmet, b); !d.open(code, b.Pointer) {
			d.gap(severity, code, b.Pointer, b.Message, nil)
		}
	}
	d.preferences()
	d.outputs()
}

// codeOf finds the reason behind a blocker: several reasons share a blocker code.
func codeOf(all []reason.Unmet, b reason.Blocker) reason.Code {
	i := slices.IndexFunc(all, func(u reason.Unmet) bool {
		return u.Code.Blocker() == b.Code &&
			u.Pointer == b.Pointer
	})
	return all[i].Code
}

// advance records an accepted attempt: the step done, what is disclosed instead of
// blocking, the node's open gaps resolved but for those, a new node behind an edge
// (R16 to R18).
func (d *decision) advance(walked interpreter.Result, disclosed []reason.Unmet) error {
	d.next = walked.State
	bytes, err := d.next.Encode()
	if err != nil {
		return fault.Wrap(err, fault.Invariant, "the next state is impossible")
	}
	child := id.ChildNode(d.f.Node, d.a.ID, id.OpAck)
	recorded := d.record(event.AdvancedTo(child))
	d.context(child)
	d.facts()
	d.trace(walked.Trace)
	d.disclose(disclosed)
	d.resolve(disclosed)
	d.preferences()
	ref := d.seg.object(manifest.Snapshot, bytes).Ref()
	d.seg.engine(event.Scope{RunID: d.f.Run, NodeID: child}, event.NodeCreated{
		NodeKind: event.StepNode, ParentNodeID: &d.f.Node, SnapshotRef: ref, WorkflowHash: d.w.Hash()})
	cause := event.IntentionalFork
	if d.f.HasChild {
		cause = event.NonTipAdvance
	}
	d.seg.engine(event.Scope{RunID: d.f.Run}, event.EdgeCreated{EdgeKind: event.AckedStepEdge,
		FromNodeID: d.f.Node, ToNodeID: child, Cause: event.Cause{EventID: recorded.ID, Kind: cause}})
	d.outputs()
	return nil
}
