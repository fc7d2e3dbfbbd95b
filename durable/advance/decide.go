package advance

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/snapshot"
)

// decision is an attempt being decided.
type decision struct {
	w       compile.Compiled
	f       Facts
	a       Attempt
	step    compile.Step
	vars    canon.Value // the node's context with the attempt's delta
	prefs   event.Preferences
	at      event.Scope // the node being left
	origin  id.Origin
	seg     *segment
	next    snapshot.State // at the new node
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
	d := &decision{w: w, f: f, a: a, at: event.Scope{RunID: f.Run, NodeID: f.Node}, origin: id.FromAttempt(a.ID, id.OpAck)}
	if err := d.prepare(); err != nil {
		return Decided{}, err
	}
	d.seg = newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	if unmet := d.requirements().unmet(); len(unmet) > 0 {
		d.block(unmet)
	} else if err := d.advance(); err != nil {
		return Decided{}, err
	}
	return Decided{d.seg.plan, d.next}, nil
}

func (d *decision) prepare() error {
	if err := d.a.Request.Check(); err != nil {
		return err
	}
	pending := d.f.State.PendingStep()
	if pending == nil {
		return fault.New(fault.ValidationError, "the run is complete: no step is pending at this node").
			Suggest("Start a new run, or continue from an earlier node.")
	}
	step, ok := d.w.Step(pending.StepID)
	if !ok {
		return fault.New(fault.Invariant, "the pinned workflow has no step %q, which the node's snapshot names", pending.StepID)
	}
	d.step = step
	d.vars = event.MergeContext(d.f.Context, d.a.Request.Context)
	if err := CheckContext(d.vars); err != nil {
		return err
	}
	var err error
	d.prefs, err = applyPreferences(d.f.Preferences, d.a.Request.Preferences)
	return err
}

// requirements lays the attempt's outputs over the node's current ones.
func (d *decision) requirements() requirements {
	q := requirements{workflow: d.w, step: d.step, vars: d.vars, notes: d.a.Request.Notes}
	for _, o := range d.f.Outputs {
		if q.notes == "" && o.Payload.PayloadKind == event.Notes {
			q.notes = o.Payload.NotesMarkdown
		}
		if !o.JSON.IsNull() {
			q.outputs = append(q.outputs, o.JSON)
		}
	}
	for _, a := range d.a.Request.Artifacts {
		if !a.JSON.IsNull() {
			q.outputs = append(q.outputs, a.JSON)
		}
	}
	return q
}

// block records a refused attempt: no node, but everything that came with it, and
// a gap for each blocker that is not open at the node already (R16).
func (d *decision) block(unmet []unmet) {
	var blockers []reason.Blocker
	for _, u := range unmet {
		blockers = append(blockers, u.blocker())
	}
	report := reason.NewReport(blockers)
	d.record(event.BlockedBy(report))
	d.context(d.f.Node)
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
func codeOf(all []unmet, b reason.Blocker) reason.Code {
	i := slices.IndexFunc(all, func(u unmet) bool { return u.code.Blocker() == b.Code && u.pointer == b.Pointer })
	return all[i].code
}

func (d *decision) open(code reason.Code, at reason.Pointer) bool {
	return slices.ContainsFunc(d.f.OpenGaps, func(g OpenGap) bool {
		return g.Reason == code && g.Pointer != nil && *g.Pointer == at
	})
}

// advance records an accepted attempt: the step done, the next one selected, the
// node's open gaps resolved, a new node behind an edge (R16 to R18).
func (d *decision) advance() error {
	selected, ok := d.w.After(d.step.StepID, d.vars)
	if !ok {
		return fault.New(fault.Invariant, "the pinned workflow has no step %q", d.step.StepID)
	}
	d.next = snapshot.Done()
	if selected.Step != nil {
		d.next = snapshot.At(selected.Step.StepID, nil, d.f.State.WithCompleted(d.f.State.PendingStep().Key()))
	}
	bytes, err := d.next.Encode()
	if err != nil {
		return fault.Wrap(err, fault.Invariant, "the next state is impossible")
	}
	child := id.ChildNode(d.f.Node, d.a.ID, id.OpAck)
	recorded := d.record(event.AdvancedTo(child))
	d.context(child)
	d.trace(selected)
	for _, g := range d.f.OpenGaps {
		d.gap(event.Info, g.Reason, pointerOr(g.Pointer, d.step), "Resolved: the step was accepted.", &g.ID)
	}
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

// pointerOr is the pointer of a gap; one that a foreign log left without gets the step.
func pointerOr(p *reason.Pointer, s compile.Step) reason.Pointer {
	if p != nil {
		return *p
	}
	return reason.WorkflowStep(s.StepID)
}

func (d *decision) record(o event.AdvanceOutcome) event.Event {
	return d.seg.caller(d.at, event.AdvanceRecorded{AttemptID: d.a.ID, Intent: event.IntentAckPending,
		Outcome: o, RequestDigest: d.a.Request.Digest()})
}

// context stores the delta with the node from which on it counts (R19).
func (d *decision) context(from id.Node) {
	if d.a.Request.Context.Len() == 0 {
		return
	}
	d.seg.caller(event.Scope{RunID: d.f.Run}, event.ContextSet{Context: d.a.Request.Context,
		ContextID: d.origin.Context(0), NodeID: &from, Source: event.ContextAgentDelta})
}

func (d *decision) trace(s compile.Selection) {
	entries := traceEntries(s)
	if d.f.HasChild {
		entries = append([]event.TraceEntry{{Kind: event.DetectedNonTipAdvance,
			Summary: "The node has been left before: this attempt opens another branch."}}, entries...)
	}
	d.seg.engine(d.at, event.NewTrace(d.origin.Trace(0), entries))
}

func traceEntries(s compile.Selection) []event.TraceEntry {
	var out []event.TraceEntry
	for _, t := range s.Trace() {
		e := event.TraceEntry{Kind: event.TraceKind(t.Kind), Summary: t.Summary}
		if t.StepID != "" {
			e.Refs = []event.TraceRef{event.StepRef(t.StepID)}
		}
		out = append(out, e)
	}
	return out
}

func (d *decision) gap(s event.Severity, code reason.Code, at reason.Pointer, summary string, resolves *id.Gap) {
	g := event.GapRecorded{GapID: d.origin.Gap(d.gapsNew), Pointer: &at, Reason: code, Severity: s,
		Summary: reason.Clip(summary, limits.SummaryBytesMax), Resolution: event.Resolution{Kind: event.Unresolved}}
	if resolves != nil {
		g.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: resolves}
	}
	d.gapsNew++
	d.seg.engine(d.at, g)
}

func (d *decision) preferences() {
	if len(d.a.Request.Preferences) == 0 {
		return
	}
	d.seg.caller(d.at, event.PreferencesChanged{ChangeID: d.origin.Change(0), Source: event.FromUser,
		Delta: d.a.Request.Preferences, Effective: d.prefs})
}

// outputs appends the recap, then artifacts by (sha256, contentType); each names
// the earlier one whose place it takes.
func (d *decision) outputs() {
	n := 0
	add := func(ch event.OutputChannel, p event.OutputPayload, supersedes *id.Output) {
		d.seg.caller(d.at, event.NodeOutputAppended{OutputChannel: ch, OutputID: d.origin.Output(n), Payload: p, SupersedesOutputID: supersedes})
		n++
	}
	if notes := d.a.Request.Notes; notes != "" {
		payload := event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: reason.Truncate(notes, limits.NotesBytesMax)}
		add(event.Recap, payload, d.takePlace(payload))
	}
	var artifacts []event.OutputPayload
	for _, a := range d.a.Request.Artifacts {
		p := event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: a.Kind(), ContentType: a.ContentType,
			ByteLength: int64(len(a.Bytes)), SHA256: canon.Sum(a.Bytes)}
		if !slices.Contains(artifacts, p) {
			d.seg.object(manifest.Artifact, a.Bytes)
			artifacts = append(artifacts, p)
		}
	}
	slices.SortFunc(artifacts, func(a, b event.OutputPayload) int {
		return cmp.Or(cmp.Compare(a.SHA256.String(), b.SHA256.String()), cmp.Compare(a.ContentType, b.ContentType))
	})
	for _, p := range artifacts {
		add(event.Artifact, p, d.takePlace(p))
	}
}

// takePlace finds and takes out the earlier output of the same sort.
func (d *decision) takePlace(p event.OutputPayload) *id.Output {
	i := slices.IndexFunc(d.f.Outputs, func(o Output) bool { return p.SameSort(o.Payload) })
	if i < 0 {
		return nil
	}
	old := d.f.Outputs[i].ID
	d.f.Outputs = slices.Delete(slices.Clone(d.f.Outputs), i, i+1)
	return &old
}
