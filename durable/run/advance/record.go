package advance

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// record appends advance_recorded, the first event of every attempt.
func (d *attempt) record(o event.AdvanceOutcome, warnings []event.DecisionWarning) event.Event {
	return d.seg.caller(d.at, event.AdvanceRecorded{Account: d.account(), AttemptID: d.a.ID, Intent: event.IntentAckPending, Outcome: o,
		RequestDigest: d.a.Digest, Warnings: warnings, Elicited: d.a.Request.Elicited, Traceparent: d.a.Traceparent,
		Response: d.a.Request.Response})
}

// warnings returns those about the loose matches in the conditions that decided the attempt, and
// about members that the command of this attempt wrote and the step does not declare.
func (d *attempt) warnings(loose []condition.Match) []event.DecisionWarning {
	out := warningsOf(loose)
	for _, a := range d.a.Request.Artifacts {
		if a.Kind() != command.Kind || len(d.step.Outputs) == 0 {
			continue
		}
		// A result that is none has no undeclared members.
		r, _ := command.Decode(a.JSON)
		for _, name := range r.Undeclared {
			out = event.AddWarnings(out, event.Undeclared(name))
		}
	}
	return out
}

// warningsOf returns the warnings about loose matches, as they are recorded
// (docs/design.md#compiled-forms).
func warningsOf(loose []condition.Match) (out []event.DecisionWarning) {
	for _, m := range loose {
		out = event.AddWarnings(out, event.LooseMatch(m.Path, m.Expected, m.Got))
	}
	return out
}

// context appends the context delta, effective from the given node on
// (docs/design.md#context).
func (d *attempt) context(from id.Node) {
	if d.a.Request.Context.Len() == 0 {
		return
	}
	d.seg.caller(event.Scope{RunID: d.f.Run}, event.ContextSet{Context: d.a.Request.Context,
		ContextID: d.origin.Context(0), NodeID: &from, Source: event.ContextAgentDelta})
}

// observed decodes the capability observations of the attempt. Those that violate their
// contract are skipped: they must not become facts.
func (d *attempt) observed() []event.CapabilityObserved {
	var out []event.CapabilityObserved
	pack := capabilityPack(d.w)
	for _, a := range d.a.Request.Artifacts {
		if a.Kind() != CapabilityKind || len(pack.Check(a.JSON)) > 0 {
			continue
		}
		o := observation(d.step, a.JSON, d.origin.CapObs(len(out)), d.a.Earlier)
		// The contract bounds the content, Check what an event may contain.
		if o.Check(d.at) == nil {
			out = append(out, o)
		}
	}
	return out
}

// facts appends the events for artifacts that are recorded as facts too
// (docs/design.md#capabilities).
func (d *attempt) facts() {
	d.seen = map[string]id.Event{}
	for _, o := range d.observed() {
		d.seen[o.Capability] = d.seg.caller(d.at, o).ID
	}
	n := 0
	for _, a := range d.a.Request.Artifacts {
		if a.Kind() != DivergenceKind {
			continue
		}
		if r, err := divergence(a.JSON, d.origin.Divergence(n)); err == nil {
			d.seg.caller(d.at, r)
			n++
		}
	}
}

// trace appends the trace of the walk, preceded by an entry for a branch, in as many events
// as needed (docs/design.md#limits).
func (d *attempt) trace(entries []event.TraceEntry) {
	if d.f.HasChild {
		// First, so that a reader sees the branch before the decisions on it.
		entries = append([]event.TraceEntry{{Kind: event.DetectedNonTipAdvance,
			Summary: "The node has been left before: this attempt opens another branch."}}, entries...)
	}
	d.seg.traces(d.at, d.origin, entries)
}

// traces splits entries into events of at most limits.TraceEntriesMax; none is lost.
func (s *segment) traces(at event.Scope, of id.Origin, entries []event.TraceEntry) {
	n := 0
	for part := range slices.Chunk(entries, limits.TraceEntriesMax) {
		s.engine(at, event.NewTrace(of.Trace(n), part))
		n++
	}
}

// open reports whether a gap of this reason and pointer is open at the node.
func (d *attempt) open(code reason.Code, at reason.Pointer) bool {
	return slices.ContainsFunc(d.f.OpenGaps, func(g OpenGap) bool { return g.same(code, at) })
}

// same compares a gap with a reason and pointer.
func (g OpenGap) same(code reason.Code, at reason.Pointer) bool {
	return g.Reason == code && g.Pointer != nil && *g.Pointer == at
}

// disclose records unmet conditions that did not block: the run continues and lists what it
// continued without (docs/design.md#reasons). Conditions with an open critical gap are not
// recorded again. An open warning does not suffice, since it does not state that the run
// continued.
func (d *attempt) disclose(all []reason.Unmet) {
	for i, u := range all {
		recorded := slices.ContainsFunc(d.f.OpenGaps, func(g OpenGap) bool {
			return g.Severity == event.Critical &&
				g.same(u.Code, u.Pointer)
		})
		if recorded || slices.ContainsFunc(all[:i], u.Same) {
			continue
		}
		d.gap(event.Critical, u, nil)
	}
}

// resolve resolves the node's open gaps that the attempt does not raise again
// (docs/design.md#blocked-attempts). Gaps recorded by the start concern loops skipped before
// this step; no attempt at this node repeats those, so they stay open.
func (d *attempt) resolve(raised []reason.Unmet) {
	for i, g := range d.f.OpenGaps {
		// Ids of the start's gaps are derived from the node, so they are recognized here.
		if g.ID == id.FromStart(d.f.Node).Gap(i) {
			continue
		}
		again := slices.ContainsFunc(raised, func(u reason.Unmet) bool { return g.same(u.Code, u.Pointer) })
		if !again {
			d.gap(event.Info, reason.Unmet{Code: g.Reason, Pointer: pointerOr(g.Pointer, d.step),
				Message: "Resolved: the step was accepted."}, &g.ID)
		}
	}
}

// pointerOr returns a gap's pointer, or the step for a gap without one in a foreign log.
func pointerOr(p *reason.Pointer, s compile.Step) reason.Pointer {
	if p != nil {
		return *p
	}
	return reason.WorkflowStep(s.StepID)
}

// gap appends a gap of the attempt, with the next derived id.
func (d *attempt) gap(s event.Severity, u reason.Unmet, resolves *id.Gap) {
	d.seg.gap(d.at, d.origin.Gap(d.gapsNew), s, u, resolves, d.evidence(u)...)
	d.gapsNew++
}

// evidence refers to what shows a gap: the observation of this attempt about a capability, the outputs of this
// attempt with the kind of u, or the current outputs of that kind if it sends none.
func (d *attempt) evidence(u reason.Unmet) []event.EvidenceRef {
	if d.a.Earlier {
		return nil
	}
	if seen, ok := d.seen[u.Pointer.Capability]; ok && u.Pointer.Kind == reason.AtCapability {
		return []event.EvidenceRef{{Kind: "event", EventID: &seen}}
	}
	var out []event.EvidenceRef
	shows := func(p event.OutputPayload) bool {
		return u.Kind != "" && (p.ArtifactKind == u.Kind || p.PayloadKind == event.Notes && u.Kind == reason.NotesRef)
	}
	add := func(o id.Output) { out = append(out, event.EvidenceRef{Kind: "output", OutputID: &o}) }
	for n, o := range d.sent() {
		if shows(o.payload) {
			add(d.origin.Output(n))
		}
	}
	if out == nil {
		for _, o := range d.f.Outputs {
			if shows(o.Payload) {
				add(o.ID)
			}
		}
	}
	return out[max(0, len(out)-limits.EvidenceRefsMax):]
}

// gap appends a gap record: an open one, or one that resolves another.
func (s *segment) gap(at event.Scope, gapID id.Gap, severity event.Severity, u reason.Unmet, resolves *id.Gap,
	evidence ...event.EvidenceRef) {
	g := event.GapRecorded{EvidenceRefs: evidence, GapID: gapID, Loop: u.Loop, Pointer: &u.Pointer, Reason: u.Code, Severity: severity,
		Summary: reason.Clip(u.Message, limits.SummaryBytesMax), Resolution: event.Resolution{Kind: event.Unresolved}}
	if resolves != nil {
		g.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: resolves}
	}
	s.engine(at, g)
}

// preferences appends the attempt's changes with the resulting effective preferences.
func (d *attempt) preferences() {
	if len(d.a.Request.Preferences) == 0 {
		return
	}
	d.seg.caller(d.at, event.PreferencesChanged{ChangeID: d.origin.Change(0), Source: event.FromUser,
		Delta: d.a.Request.Preferences, Effective: d.prefs})
}

// notesPayload returns notes as they are stored, truncated to their budget.
func notesPayload(notes string) event.OutputPayload {
	return event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: reason.Truncate(notes, limits.NotesBytesMax)}
}

// sentOutput is an output of the attempt, and the actor of its event.
type sentOutput struct {
	payload event.OutputPayload
	by      event.Actor
}

// sent returns the outputs of the attempt in the order in which they are recorded: those of the request, with
// the engine's warning about its preferences among the artifacts.
func (d *attempt) sent() []sentOutput {
	var out []sentOutput
	for _, p := range d.a.Request.Payloads() {
		by := d.seg.actor
		// The engine is the actor of what it adds, and of what a performer observed.
		if p.IsFullNotes() || d.a.Performed && IsObserved(p.ArtifactKind) {
			by = engine
		}
		out = append(out, sentOutput{p, by})
	}
	has := func(p event.OutputPayload) bool {
		return slices.ContainsFunc(out, func(o sentOutput) bool { return o.payload == p })
	}
	if w, ok := d.exceeds(); ok && !has(w.Payload()) {
		out = append(out, sentOutput{w.Payload(), engine})
		sorting.By(out, func(a, b sentOutput) int {
			if notes := event.Notes; a.payload.PayloadKind == notes || b.payload.PayloadKind == notes {
				return cmp.Compare(b.payload.PayloadKind, a.payload.PayloadKind) // the recap precedes them
			}
			return stored(a.payload, b.payload)
		})
	}
	return out
}

// exceeds returns the warning about preferences that the attempt sets above the workflow's recommendation.
func (d *attempt) exceeds() (Artifact, bool) {
	w, ok := exceeds(d.w, d.prefs)
	return w, ok && len(d.a.Request.Preferences) > 0
}

// outputs appends the outputs of the attempt, each with the earlier output that it supersedes, and adds
// their bytes to the plan.
func (d *attempt) outputs() {
	d.seg.artifacts(d.a.Request.Artifacts)
	if w, ok := d.exceeds(); ok {
		d.seg.artifacts([]Artifact{w})
	}
	d.seg.wholeNotes(d.a.Request)
	for n, o := range d.sent() {
		ch := event.Artifact
		if o.payload.PayloadKind == event.Notes {
			ch = event.Recap
		}
		d.seg.add(d.at, o.by, event.NodeOutputAppended{OutputChannel: ch, OutputID: d.origin.Output(n), Payload: o.payload,
			SupersedesOutputID: d.supersede(o.payload)})
	}
}

// artifacts adds each artifact's bytes to the plan once and returns the references to them.
func (s *segment) artifacts(all []Artifact) []event.OutputPayload {
	var out []event.OutputPayload
	for _, a := range all {
		if p := a.Payload(); !slices.Contains(out, p) {
			s.object(manifest.Artifact, a.Bytes)
			out = append(out, p)
		}
	}
	return out
}

// wholeNotes adds the whole text of long notes to the plan.
func (s *segment) wholeNotes(r Request) {
	if _, ok := r.wholeNotes(); ok {
		s.object(manifest.Artifact, []byte(r.Notes))
	}
}

// stored is the order of outputs of one operation (docs/design.md#event-order). It is 0 for
// equal outputs. A file with the text of the attempt's notes precedes their artifact, which has
// a kind.
func stored(a, b event.OutputPayload) int {
	return cmp.Or(cmp.Compare(a.SHA256.String(), b.SHA256.String()), cmp.Compare(a.ContentType, b.ContentType),
		cmp.Compare(a.ArtifactKind, b.ArtifactKind))
}

// supersede returns the earlier output of the same sort, and removes it so that each is
// superseded once.
func (d *attempt) supersede(p event.OutputPayload) *id.Output {
	i := slices.IndexFunc(d.f.Outputs, func(o Output) bool { return p.Replaces(o.Payload) })
	if i < 0 {
		return nil
	}
	old := d.f.Outputs[i].ID
	// A copy: the slice belongs to the caller's Facts.
	d.f.Outputs = slices.Delete(slices.Clone(d.f.Outputs), i, i+1)
	return &old
}
