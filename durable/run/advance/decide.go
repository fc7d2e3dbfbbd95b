package advance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// attempt is the state of deciding one attempt.
type attempt struct {
	w         compile.Compiled
	f         Facts
	a         Attempt
	step      compile.Step
	vars      canon.Value       // the node's context merged with the attempt's
	prefs     event.Preferences // with the attempt's changes
	effective []Output          // the node's current outputs as replaced by the attempt's
	at        event.Scope
	origin    id.Origin
	seg       *segment       // collects the plan
	next      snapshot.State // state at the new node

	// seen are the recorded observations of this attempt, by capability.
	seen map[string]id.Event
	// gapsNew numbers the gaps of this attempt, from which their ids are derived.
	gapsNew int
}

// Decided is the result of an attempt: a plan whose first event is advance_recorded, and the
// state at the new node if the attempt advanced.
type Decided struct {
	manifest.Plan
	State snapshot.State
}

// Decide plans the outcome of an attempt: advanced to a new node, or blocked. An error
// records nothing; it is VALIDATION_ERROR if the caller can correct the request.
func Decide(w compile.Compiled, f Facts, a Attempt) (Decided, error) {
	d := &attempt{w: w, f: f, a: a, at: event.Scope{RunID: f.Run, NodeID: f.Node},
		origin: id.FromAttempt(a.ID, id.OpAck)}
	if err := d.prepare(); err != nil {
		return Decided{}, err
	}
	d.seg = newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	q := d.requirements()
	q.approval()
	if err := q.checkPeople(d.f); err != nil {
		return Decided{}, err
	}
	q.wait(d.f.PendingMs, d.a.AtMs)
	q.host(d.f.PendingMs, d.a.AtMs)
	q.checks(d.a)
	// NeverStop bypasses every requirement but these, so they are checked before the walk.
	if len(q.found) > 0 && d.neverStops() {
		d.block(q) // these block in every mode (docs/design.md#requirements-on-the-caller, docs/design.md#waiting, docs/design.md#host-steps, docs/design.md#checks)
		return Decided{d.seg.plan, d.next}, nil
	}
	walked, err := interpreter.Next(w, f.State, interpreter.Input{Vars: d.vars, Artifacts: q.artifacts(""),
		NeverStop: d.neverStops(), Guided: d.prefs.Autonomy == event.Guided})
	if err != nil {
		return Decided{}, fault.Wrap(err, fault.Invariant, "the node's state does not fit its workflow: %s", err)
	}
	// Everything missing is collected, of the step and of the walk, for one report.
	q.unmet()
	q.found = join(q.found, walked.Unmet)
	if len(q.found) > 0 && !d.neverStops() {
		d.block(q)
	} else if err := d.advance(walked, q); err != nil {
		return Decided{}, err
	}
	return Decided{d.seg.plan, d.next}, nil
}

// join appends the walk's unmet conditions to the step's, except those with a pointer that
// the step's already have: a malformed decision is not reported as missing too.
func join(step, walk []reason.Unmet) []reason.Unmet {
	for _, u := range walk {
		if !slices.ContainsFunc(step, func(have reason.Unmet) bool { return have.Pointer == u.Pointer }) {
			step = append(step, u)
		}
	}
	return step
}

// neverStops reports the mode after the attempt's own changes: new autonomy applies to the
// same attempt (docs/design.md#blocked-attempts).
func (d *attempt) neverStops() bool { return d.prefs.Autonomy == event.FullAutoNeverStop }

// prepare checks the request and fills in the step, the effective context and preferences.
func (d *attempt) prepare() error {
	if err := d.a.Request.Check(); err != nil {
		return err
	}
	// The digest covers what was sent. From here on artifacts are sorted and distinct as they
	// are stored, since a decision must not depend on anything that the log does not contain.
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
	// The merged context must be within its budget, not only the delta.
	if err := CheckContext(d.vars); err != nil {
		return err
	}
	d.effective = replaceOutputs(d.f.Outputs, d.a.Request)
	var err error
	d.prefs, err = applyPreferences(d.f.Preferences, d.a.Request.Preferences)
	return err
}

// replaceOutputs returns the node's outputs as they would be after the attempt: each new
// output replaces the earlier ones of its sort, and several of one attempt coexist
// (docs/design.md#requirements-on-the-caller). New outputs have a zero id.
func replaceOutputs(current []Output, r Request) []Output {
	var sent []Output
	if r.Notes != "" {
		sent = append(sent, Output{Payload: notesPayload(r.Notes)})
	}
	if whole, ok := r.wholeNotes(); ok {
		sent = append(sent, Output{Payload: whole})
	}
	for _, a := range r.Artifacts {
		sent = append(sent, Output{Payload: a.Payload(), JSON: a.JSON})
	}
	out := slices.DeleteFunc(slices.Clone(current), func(old Output) bool {
		return slices.ContainsFunc(sent, func(o Output) bool {
			return o.Payload.Replaces(old.Payload) || o.Payload.Voids(old.Payload)
		})
	})
	return append(out, sent...)
}

// needsApproval reports whether the step requires a person's approval, before or after the
// attempt's own context: an attempt, accepted or refused, cannot remove the requirement by
// changing the variables of its condition.
func (d *attempt) needsApproval() bool {
	return interpreter.NeedsApproval(d.w, d.f.State, d.f.Context) ||
		interpreter.NeedsApproval(d.w, d.f.State, d.vars) ||
		d.f.gated(d.step.StepID)
}

// approvalRules are the rules by which the step requires an approval, of both contexts as in
// needsApproval.
func (d *attempt) approvalRules() []compile.Approval {
	return interpreter.ApprovalRules(d.w, d.f.State, d.f.Context, d.vars)
}

// performers are the accounts that handed in the outputs. Without any output it is also the one that
// makes the attempt.
func (d *attempt) performers() []config.Account {
	if bound("", canon.Digest{}, d.effective).Outputs.Len() == 0 {
		return append(slices.Clone(d.f.Performers), cmp.Or(d.a.Account, decision.UnknownAccount))
	}
	return d.f.Performers
}

// account is the account to record with the attempt: "" unless a rule of the step excludes the one who
// performed. The rule counts also while its condition does not hold: a later attempt can change that, and
// the outputs of this one are still there.
func (d *attempt) account() string {
	excludes := func(r compile.Approval) bool { return r.NotPerformer }
	if slices.ContainsFunc(interpreter.ApprovalRules(d.w, d.f.State), excludes) {
		return cmp.Or(string(d.a.Account), decision.UnknownAccount)
	}
	return ""
}

// requirements collects everything that the step's requirements are checked against.
func (d *attempt) requirements() *requirements {
	q := &requirements{workflow: d.w, step: d.step, state: d.f.State, outputs: d.effective, people: d.f.People,
		choices: d.f.Choices,
		vars:    interpreter.Variables(d.w, d.f.State, d.vars), capabilities: map[string]string{},
		claimed: map[string]bool{}, earlier: d.a.Earlier,
		// Notes of an earlier refused attempt at the node satisfy the requirement.
		notes: cmp.Or(d.a.Request.Notes, d.f.Notes), given: event.GivenKeys(d.f.Given, d.a.Request.Context)}
	if d.needsApproval() {
		q.approvals = Judge(d.approvalRules(), d.f.State.PendingStep().Key(), d.f.SnapshotRef, d.effective, d.a.AtMs,
			d.performers())
	}
	// Of both contexts, as in needsApproval.
	for _, vars := range []canon.Value{d.f.Context, d.vars} {
		q.loose = condition.AddMatches(q.loose, interpreter.LooseApproval(d.w, d.f.State, vars))
	}
	// Strong observations of this attempt replace earlier ones; claims are kept apart.
	maps.Copy(q.capabilities, d.f.Capabilities)
	for _, o := range d.observed() {
		if o.Provenance.EnforcementGrade == "strong" {
			q.capabilities[o.Capability] = o.Status
		} else {
			q.claimed[o.Capability] = true
		}
	}
	return q
}

// block records a refused attempt: no node, but everything that was sent, and a gap for each
// blocker that is not open at the node already (docs/design.md#blocked-attempts).
func (d *attempt) block(q *requirements) {
	for i := range q.found {
		q.found[i].Earlier = d.a.Earlier
	}
	report := reason.ReportOf(q.found)
	d.record(event.BlockedBy(report), d.warnings(q.loose)) // not those of the walk, which is not recorded
	d.context(d.f.Node)
	d.facts()
	severity := event.Critical
	// The run has continued elsewhere, so that the node's gaps are less severe.
	if d.f.HasChild {
		severity = event.Warning
	}
	for _, b := range report.Blockers {
		// A repeated refusal for the same reason adds no second gap.
		if u := behind(q.found, b); !d.open(u.Code, u.Pointer) {
			u.Message = b.Message
			d.gap(severity, u, nil)
		}
	}
	d.note(q.preferred(), false)
	d.preferences()
	d.outputs()
	d.runEvents()
	d.observe()
}

// behind returns the unmet requirement behind a blocker; several reasons share a blocker code.
func behind(all []reason.Unmet, b reason.Blocker) reason.Unmet {
	i := slices.IndexFunc(all, func(u reason.Unmet) bool {
		return u.Code.Blocker() == b.Code &&
			u.Pointer == b.Pointer
	})
	return all[i]
}

// advance records an accepted attempt: the completed step, the conditions disclosed instead
// of blocking, the resolution of the node's other open gaps, and a new node behind an edge
// (docs/design.md#blocked-attempts,
// docs/design.md#edges-and-tips).
func (d *attempt) advance(walked interpreter.Result, q *requirements) error {
	d.next = walked.State
	bytes, err := d.next.Encode()
	if err != nil {
		return fault.Wrap(err, fault.Invariant, "the next state is impossible")
	}
	// Derived from the attempt: repeating the attempt yields the same node.
	child := id.ChildNode(d.f.Node, d.a.ID, id.OpAck)
	recorded := d.record(event.AdvancedTo(child), d.warnings(condition.AddMatches(q.loose, walked.Loose)))
	d.context(child)
	d.facts()
	d.trace(walked.Trace)
	d.disclose(q.found)
	without := q.preferred()
	d.note(without, true)
	d.resolve(slices.Concat(q.found, without))
	d.preferences()
	ref := d.seg.object(manifest.Snapshot, bytes).Ref()
	d.seg.engine(event.Scope{RunID: d.f.Run, NodeID: child}, event.NodeCreated{
		NodeKind: event.StepNode, ParentNodeID: &d.f.Node, SnapshotRef: ref, WorkflowHash: d.w.Hash()})
	// Every child but the first is a branch from a node that is no tip.
	cause := event.IntentionalFork
	if d.f.HasChild {
		cause = event.NonTipAdvance
	}
	d.seg.engine(event.Scope{RunID: d.f.Run}, event.EdgeCreated{EdgeKind: event.AckedStepEdge,
		FromNodeID: d.f.Node, ToNodeID: child, Cause: event.Cause{EventID: recorded.ID, Kind: cause}})
	d.outputs()
	d.runEvents()
	d.observe()
	d.limit()
	return nil
}
