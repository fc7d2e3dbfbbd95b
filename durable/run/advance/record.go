package advance

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
)

func (d *decision) record(o event.AdvanceOutcome) event.Event {
	return d.seg.caller(d.at, event.AdvanceRecorded{AttemptID: d.a.ID, Intent: event.IntentAckPending, Outcome: o,
		RequestDigest: d.a.Digest})
}

// context stores the delta with the node from which on it counts (R19).
func (d *decision) context(from id.Node) {
	if d.a.Request.Context.Len() == 0 {
		return
	}
	d.seg.caller(event.Scope{RunID: d.f.Run}, event.ContextSet{Context: d.a.Request.Context,
		ContextID: d.origin.Context(0), NodeID: &from, Source: event.ContextAgentDelta})
}

// observed are the capability observations that came with the attempt, those that
// are what they say they are: one that its contract refuses must not become a fact.
func (d *decision) observed() []event.CapabilityObserved {
	var out []event.CapabilityObserved
	pack := capabilityPack(d.w)
	for _, a := range d.a.Request.Artifacts {
		if a.Kind() != CapabilityKind || len(pack.Check(a.JSON)) > 0 {
			continue
		}
		o := observation(d.step, a.JSON, d.origin.CapObs(len(out)))
		if o.Check(d.at) == nil {
			out = append(out, o)
		}
	}
	return out
}

// facts records what artifacts say beside being outputs (R21).
func (d *decision) facts() {
	for _, o := range d.observed() {
		d.seg.caller(d.at, o)
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

// trace records why the walk went where it went, in as many events as the budget
// of one takes (locks section 1).
func (d *decision) trace(entries []event.TraceEntry) {
	if d.f.HasChild {
		entries = append([]event.TraceEntry{{Kind: event.DetectedNonTipAdvance,
			Summary: "The node has been left before: this attempt opens another branch."}}, entries...)
	}
	d.seg.traces(d.at, d.origin, entries)
}

// traces cuts a trace into events that keep their budget, none of them losing an
// entry.
func (s *segment) traces(at event.Scope, of id.Origin, entries []event.TraceEntry) {
	n := 0
	for part := range slices.Chunk(entries, limits.TraceEntriesMax) {
		s.engine(at, event.NewTrace(of.Trace(n), part))
		n++
	}
}

func (d *decision) open(code reason.Code, at reason.Pointer) bool {
	return slices.ContainsFunc(d.f.OpenGaps, func(g OpenGap) bool { return g.same(code, at) })
}

func (g OpenGap) same(code reason.Code, at reason.Pointer) bool {
	return g.Reason == code && g.Pointer != nil && *g.Pointer == at
}

// disclose records what would have blocked: the run goes on, and says what it went
// on without (locks section 3). What is open already is not recorded again, but a
// warning does not say that a run went on without something.
func (d *decision) disclose(all []reason.Unmet) {
	for i, u := range all {
		told := slices.ContainsFunc(d.f.OpenGaps, func(g OpenGap) bool {
			return g.Severity == event.Critical &&
				g.same(u.Code, u.Pointer)
		})
		if told || slices.ContainsFunc(all[:i], u.Same) {
			continue
		}
		d.gap(event.Critical, u.Code, u.Pointer, u.Message, nil)
	}
}

// resolve closes the node's open gaps that the attempt does not raise again (R16).
// What the start recorded is not of this step: a loop was passed over on the way to
// it, and no attempt here goes back.
func (d *decision) resolve(raised []reason.Unmet) {
	for i, g := range d.f.OpenGaps {
		if g.ID == id.FromStart(d.f.Node).Gap(i) {
			continue
		}
		again := slices.ContainsFunc(raised, func(u reason.Unmet) bool { return g.same(u.Code, u.Pointer) })
		if !again {
			d.gap(event.Info, g.Reason, pointerOr(g.Pointer, d.step), "Resolved: the step was accepted.", &g.ID)
		}
	}
}

// pointerOr is the pointer of a gap; one that a foreign log left without gets the step.
func pointerOr(p *reason.Pointer, s compile.Step) reason.Pointer {
	if p != nil {
		return *p
	}
	return reason.WorkflowStep(s.StepID)
}

func (d *decision) gap(s event.Severity, code reason.Code, at reason.Pointer, summary string, resolves *id.Gap) {
	d.seg.gap(d.at, d.origin.Gap(d.gapsNew), s, reason.Unmet{Code: code, Pointer: at, Message: summary}, resolves)
	d.gapsNew++
}

// gap appends a gap record: one that opens, or one that resolves another.
func (s *segment) gap(at event.Scope, gapID id.Gap, severity event.Severity, u reason.Unmet, resolves *id.Gap) {
	g := event.GapRecorded{GapID: gapID, Pointer: &u.Pointer, Reason: u.Code, Severity: severity,
		Summary: reason.Clip(u.Message, limits.SummaryBytesMax), Resolution: event.Resolution{Kind: event.Unresolved}}
	if resolves != nil {
		g.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: resolves}
	}
	s.engine(at, g)
}

func (d *decision) preferences() {
	if len(d.a.Request.Preferences) == 0 {
		return
	}
	d.seg.caller(d.at, event.PreferencesChanged{ChangeID: d.origin.Change(0), Source: event.FromUser,
		Delta: d.a.Request.Preferences, Effective: d.prefs})
}

// notesPayload is notes as they are stored, cut at their budget.
func notesPayload(notes string) event.OutputPayload {
	return event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: reason.Truncate(notes, limits.NotesBytesMax)}
}

// outputs appends the recap, then artifacts by (sha256, contentType), the warning
// that the attempt's preferences gave rise to among them; each names the earlier
// one whose place it takes.
func (d *decision) outputs() {
	n := 0
	add := func(ch event.OutputChannel, p event.OutputPayload, add func(event.Scope, event.Payload) event.Event) {
		add(d.at, event.NodeOutputAppended{OutputChannel: ch, OutputID: d.origin.Output(n), Payload: p,
			SupersedesOutputID: d.takePlace(p)})
		n++
	}
	if notes := d.a.Request.Notes; notes != "" {
		add(event.Recap, notesPayload(notes), d.seg.caller)
	}
	sent := d.seg.artifacts(d.a.Request.Artifacts)
	var ours []event.OutputPayload
	if w, ok := exceeds(d.w, d.prefs); ok && len(d.a.Request.Preferences) > 0 {
		ours = d.seg.artifacts([]Artifact{w})
	}
	for _, p := range inOrder(append(slices.Clone(sent), ours...)) {
		by := d.seg.caller
		if !slices.Contains(sent, p) {
			by = d.seg.engine
		}
		add(event.Artifact, p, by)
	}
}

// artifacts puts the bytes into the plan, each once, and gives what refers to them.
func (s *segment) artifacts(all []Artifact) []event.OutputPayload {
	var out []event.OutputPayload
	for _, a := range all {
		if p := a.payload(); !slices.Contains(out, p) {
			s.object(manifest.Artifact, a.Bytes)
			out = append(out, p)
		}
	}
	return out
}

// inOrder is the order of the locks for outputs of one operation.
func inOrder(all []event.OutputPayload) []event.OutputPayload {
	slices.SortFunc(all, func(a, b event.OutputPayload) int {
		return cmp.Or(cmp.Compare(a.SHA256.String(), b.SHA256.String()), cmp.Compare(a.ContentType, b.ContentType))
	})
	return slices.Compact(all)
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
