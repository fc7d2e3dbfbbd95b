package views

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/projections/runs"
)

// RunFacts are what is recorded about a run beside its steps: each on the path to the preferred tip.
type RunFacts struct {
	Tags    []string          `json:"tags,omitzero"`
	Options *event.RunOptions `json:"options,omitzero"`
	Parent  *id.Run           `json:"parent,omitzero"`
	// SourceKind and SourceRef are those of the workflow's file.
	SourceKind   event.SourceKind    `json:"sourceKind,omitzero"`
	SourceRef    string              `json:"sourceRef,omitzero"`
	ImportedFrom *event.ImportedFrom `json:"importedFrom,omitzero"`
	Capabilities []CapabilityStatus  `json:"capabilities"`
	// Recommendations are the preferences that were beyond the workflow's recommendation.
	Recommendations []Recommendation `json:"recommendations"`
	// Warnings are recorded with a decision: of the start, and of an attempt.
	Warnings []StepWarning `json:"warnings"`
	// Truncations are texts that were cut when they were recorded.
	Truncations []Truncation    `json:"truncations"`
	Checkpoints []CheckpointRow `json:"checkpoints"`
	Divergences []DivergenceRow `json:"divergences"`
	// Observations are those of the session, the latest of each key.
	Observations []ObservationRow `json:"observations"`
	// UnknownKinds are the kinds of the session's events that this version does not know. A run that
	// can only be read can be forked if there are none (docs/design.md#foreign-stores).
	UnknownKinds []string `json:"unknownKinds,omitzero"`
	// CancelReason and CloseReason are those of the requests that ended the run.
	CancelReason string             `json:"cancelReason,omitzero"`
	CloseReason  string             `json:"closeReason,omitzero"`
	Paused       *session.PausedRun `json:"paused,omitzero"` // nil without a pause
}

// CapabilityStatus is an observation of a capability.
type CapabilityStatus struct {
	Capability string           `json:"capability"`
	Status     string           `json:"status"`
	Provenance event.Provenance `json:"provenance"`
	StepID     string           `json:"stepId,omitzero"`
	// Current is false for an observation that a later one replaced.
	Current bool `json:"current"`
}

// Recommendation is a preference that was beyond what the workflow recommends.
type Recommendation struct {
	Key         string `json:"key"`
	Effective   string `json:"effective"`
	Recommended string `json:"recommended"`
	StepID      string `json:"stepId,omitzero"`
}

// StepWarning is a warning about a decision at a step, "" for the start. Runs that are read have those that
// were recorded, and the answer to a call that performed a run also those about secrets.
type StepWarning struct {
	Code     warning.Code `json:"code"`
	Message  string       `json:"-"`
	Path     string       `json:"path,omitzero"`
	Expected canon.Value  `json:"expected,omitzero"`
	Got      canon.Value  `json:"got,omitzero"`
	Pointer  string       `json:"pointer,omitzero"`
	Rule     redact.Rule  `json:"rule,omitzero"`
	Count    int          `json:"count,omitzero"`
	StepID   string       `json:"stepId,omitzero"`
}

// StepWarningOf returns a warning about a decision at a step.
func StepWarningOf(w warning.Warning, stepID string) StepWarning {
	return StepWarning{Code: w.Code, Message: w.Message, Path: w.Path, Expected: w.Expected, Got: w.Got, Pointer: w.Pointer,
		Rule: w.Rule, Count: w.Count, StepID: stepID}
}

// Truncation says of what a part was left out.
type Truncation struct {
	StepID string `json:"stepId,omitzero"`
	// What is notes, gap, trace, warning, stdout, stderr or output.
	What string `json:"what"`
	// Bytes is the length of the whole, absent where it is not recorded.
	Bytes int64 `json:"bytes,omitzero"`
	// SHA256 is the artifact that has the whole text, absent if none has.
	SHA256 canon.Digest `json:"sha256,omitzero"`
}

// CheckpointRow is a checkpoint with its notes.
type CheckpointRow struct {
	NodeID    id.Node       `json:"nodeId"`
	StepID    string        `json:"stepId"`
	AtMs      int64         `json:"atMs,omitzero"`
	Notes     string        `json:"notes,omitzero"`
	Artifacts []ArtifactRow `json:"artifacts"`
}

// DivergenceRow is a recorded deviation from the workflow.
type DivergenceRow struct {
	StepID  string                 `json:"stepId"`
	Reason  event.DivergenceReason `json:"reason"`
	Related string                 `json:"relatedStepId,omitzero"`
	Summary string                 `json:"summary"`
}

// ObservationRow is an observation of the session's workspace.
type ObservationRow struct {
	event.ObservationRecorded
	AtMs int64 `json:"atMs,omitzero"`
}

// StepDetails are what is shown of a step that was asked for.
type StepDetails struct {
	// Notes are whole, also where Notes of the step is their beginning.
	Notes string `json:"notes,omitzero"`
	// Tried are the attempts, oldest first.
	Tried []TriedAttempt `json:"attempts"`
	// Gaps are those opened and resolved at the step, oldest first.
	Gaps  []event.GapRecorded `json:"gaps"`
	Trace []event.TraceEntry  `json:"trace"`
	// Approvals are also those that were replaced.
	Approvals []ApprovalRow `json:"approvals"`
	// Context are the changes one by one.
	Context []ContextChange `json:"contextChanges"`
	// Command is the result with all that is stored of its output.
	Command *command.Result `json:"command,omitzero"`
}

// TriedAttempt is one attempt at a step.
type TriedAttempt struct {
	event.AdvanceRecorded
	By   event.Actor `json:"by,omitzero"`
	AtMs int64       `json:"atMs,omitzero"`
}

// ContextChange is one recorded change of the context.
type ContextChange struct {
	Source  event.ContextSource `json:"source"`
	Context canon.Value         `json:"context"`
}

// unknownStep is TOKEN_UNKNOWN_NODE for a step that a run has not.
func unknownStep(run id.Run, ref string) error {
	return fault.New(fault.TokenUnknownNode, "run %s has no step %q", run, ref).
		Suggest("See its steps with %s.", fault.Command{"runs", "show", run.String()})
}

// pathFacts are the facts of RunDetails that nodes of the path have.
type pathFacts struct {
	stop            int // of the path
	capabilities    []CapabilityStatus
	recommendations []Recommendation
	warnings        []StepWarning
	truncations     []Truncation
	checkpoints     []CheckpointRow
	divergences     []DivergenceRow
	approvals       []ApprovalRow
	decisions       []DecisionRow
}

// isEmpty reports that nothing is recorded.
func (f pathFacts) isEmpty() bool {
	return len(f.capabilities)+len(f.recommendations)+len(f.warnings)+len(f.truncations)+len(f.checkpoints)+
		len(f.divergences)+len(f.approvals)+len(f.decisions) == 0
}

// tell adds the facts to a run, behind those of the path before.
func (f pathFacts) tell(out *RunDetails) {
	for _, c := range f.capabilities {
		// A weak observation replaces none, since it satisfies no requirement.
		for i := range out.Capabilities {
			have := &out.Capabilities[i]
			have.Current = have.Current && (have.Capability != c.Capability ||
				have.Provenance.EnforcementGrade == "strong" && c.Provenance.EnforcementGrade != "strong")
		}
		out.Capabilities = append(out.Capabilities, c)
	}
	out.Recommendations = append(out.Recommendations, f.recommendations...)
	out.Warnings = append(out.Warnings, f.warnings...)
	out.Truncations = append(out.Truncations, f.truncations...)
	out.Checkpoints = append(out.Checkpoints, f.checkpoints...)
	out.Divergences = append(out.Divergences, f.divergences...)
	out.Approvals = append(out.Approvals, f.approvals...)
	out.Decisions = append(out.Decisions, f.decisions...)
}

// tellStep adds what came of one visit of a step.
func (o *observer) tellStep(ctx context.Context, at session.FoundRun, log records, row *StepRow, v pathStep, details bool) {
	if details {
		row.Details = &StepDetails{Notes: row.Notes, Tried: []TriedAttempt{}, Gaps: []event.GapRecorded{},
			Trace: []event.TraceEntry{}, Approvals: []ApprovalRow{}, Context: []ContextChange{}}
	}
	row.ContextSet = canon.OfMembers()
	set := log.contextOf(v)
	for _, c := range set {
		row.ContextSet = withMembers(row.ContextSet, c.Context)
	}
	var checked []submitted.Artifact
	for _, n := range v.tried {
		found := log.of(n.ID)
		var rows []ArtifactRow
		for i, out := range found.artifacts {
			rows = append(rows, o.rowOf(ctx, at.Session, out, n))
			if rows[i].Current && out.Payload.ArtifactKind == check.Kind {
				checked = append(checked, out)
			}
		}
		row.Artifacts = append(row.Artifacts, rows...)
		row.tellCall(found.attempts)
		o.outcome(ctx, row, rows, found.artifacts)
		if details {
			o.detail(ctx, row, found, rows, at.Run.Started.WorkflowHash)
		}
	}
	o.checks(ctx, at, row, checked)
	if !details {
		return
	}
	for _, c := range set {
		row.Details.Context = append(row.Details.Context, ContextChange{c.Source, c.Context})
	}
	if !row.FullNotes.IsZero() {
		if text, err := o.v.store.Object(ctx, manifest.Artifact, row.FullNotes); err == nil {
			row.Details.Notes = strings.ToValidUTF8(string(text), "\uFFFD")
		}
	}
}

// tellCall adds what the latest of some attempts recorded of its call.
func (row *StepRow) tellCall(attempts []event.Event) {
	for _, e := range attempts {
		if p, ok := dataOf(e).(event.AdvanceRecorded); ok {
			row.Elicited, row.Traceparent = p.Elicited, p.Traceparent
		}
	}
}

// withMembers returns base with the members of delta, null ones too.
func withMembers(base, delta canon.Value) canon.Value {
	for i := range delta.Len() {
		base = base.With(delta.Key(i), delta.Item(i))
	}
	return base
}

// contextOf returns what the attempts of a visit set: those that were refused at its nodes, and the
// accepted one, whose changes are at the node that it led to. Values of the start belong to no step.
func (r records) contextOf(v pathStep) (out []event.ContextSet) {
	for _, n := range v.tried {
		for _, c := range r.of(n.ID).context {
			if c.Source != event.ContextInitial {
				out = append(out, c)
			}
		}
	}
	if v.done != nil {
		out = append(out, r.of(v.done.ID).arrived...)
	}
	return out
}

// detail adds what StepDetails has of one node.
func (o *observer) detail(ctx context.Context, row *StepRow, found *nodeRecords, rows []ArtifactRow, workflow canon.Digest) {
	d := row.Details
	for i, out := range found.artifacts {
		switch out.Payload.ArtifactKind {
		case runs.ApprovalKind:
			d.Approvals = append(d.Approvals, o.approvalOf(ctx, rows[i], out))
		case command.Kind:
			if r, err := o.resultOf(ctx, out); err == nil && rows[i].Current {
				d.Command = &r
			}
		}
	}
	for _, e := range found.attempts {
		if p, ok := dataOf(e).(event.AdvanceRecorded); ok {
			d.Tried = append(d.Tried, TriedAttempt{o.answered(ctx, p, found.artifacts, workflow), e.Actor, e.TimestampMs})
		}
	}
	for _, e := range found.gaps {
		if p, ok := dataOf(e).(event.GapRecorded); ok {
			d.Gaps = append(d.Gaps, p)
		}
	}
	for _, t := range found.traces {
		d.Trace = append(d.Trace, t.Entries...)
	}
}

// dataOf returns the data of an event, in the form of any program.
func dataOf(e event.Event) event.Payload {
	if g, foreign := event.Domain.ViewForeign(e); foreign && g.Known != nil {
		return g.Known
	}
	return e.Data
}

// tellNode adds the facts of one node on the path, in the order of the path.
func (o *observer) tellNode(ctx context.Context, at session.FoundRun, log records, n *runs.Node, out *pathFacts) {
	found, stepID := log.of(n.ID), ""
	if p := o.pendingAt(ctx, n); p != nil {
		stepID = p.StepID
	}
	for _, c := range found.capabilities {
		out.capabilities = append(out.capabilities, CapabilityStatus{c.Capability, c.Status, c.Provenance, stepID, true})
	}
	for _, d := range found.divergences {
		out.divergences = append(out.divergences, DivergenceRow{stepID, d.Reason, d.RelatedStepID, d.Summary})
	}
	for _, e := range found.attempts {
		if p, ok := dataOf(e).(event.AdvanceRecorded); ok {
			for _, w := range p.Warnings {
				out.warnings = append(out.warnings, StepWarningOf(warning.Recorded(w), stepID))
			}
		}
	}
	for _, artifact := range found.artifacts {
		if d, ok := o.decisionOf(ctx, o.rowOf(ctx, at.Session, artifact, n), artifact); ok {
			out.decisions = append(out.decisions, d)
		}
		switch artifact.Payload.ArtifactKind {
		case advance.RecommendationKind:
			out.recommendations = append(out.recommendations, o.recommendations(ctx, artifact, stepID)...)
		case runs.ApprovalKind:
			out.approvals = append(out.approvals,
				o.approvalOf(ctx, o.rowOf(ctx, at.Session, artifact, n), artifact))
		}
	}
	o.tellTruncations(ctx, found, n, stepID, out)
	for _, below := range n.Checkpoints {
		o.tellCheckpoint(ctx, at, log, below, stepID, out)
	}
}

// recommendations reads a wr.recommendation_warning.
func (o *observer) recommendations(ctx context.Context, artifact submitted.Artifact, stepID string) (rows []Recommendation) {
	v, err := o.content(ctx, artifact)
	if err != nil {
		return nil // it stays in the list of artifacts
	}
	exceeded, _ := v.Get("exceeded")
	if exceeded.Kind() != canon.Array {
		return nil
	}
	for i := range exceeded.Len() {
		text := func(name string) string {
			m, _ := exceeded.Item(i).Get(name)
			return m.Text()
		}
		rows = append(rows, Recommendation{text("key"), text("effective"), text("recommended"), stepID})
	}
	return rows
}

// tellTruncations adds what was cut when it was recorded at a node.
func (o *observer) tellTruncations(ctx context.Context, found *nodeRecords, n *runs.Node, stepID string, out *pathFacts) {
	add := func(t Truncation) {
		t.StepID = stepID
		out.truncations = append(out.truncations, t)
	}
	cut := func(text string) bool { return strings.HasSuffix(text, strings.TrimSpace(limits.TruncationMarker)) }
	if recap, ok := n.Recap(); ok && cut(recap.Payload.NotesMarkdown) {
		whole, _ := n.WholeNotes()
		add(Truncation{What: "notes", Bytes: whole.Payload.ByteLength, SHA256: whole.Payload.SHA256})
	}
	for _, e := range found.gaps {
		if p, ok := dataOf(e).(event.GapRecorded); ok && cut(p.Summary) {
			add(Truncation{What: "gap"})
		}
	}
	for _, t := range found.traces {
		if slices.ContainsFunc(t.Entries, func(e event.TraceEntry) bool { return cut(e.Summary) }) {
			add(Truncation{What: "trace"})
		}
	}
	for _, a := range found.artifacts {
		if !isPrinted(a.Payload.ArtifactKind) {
			continue
		}
		r, err := o.printed(ctx, a, &LogEntry{})
		if err != nil {
			continue
		}
		for _, s := range streamsOf(r) {
			if s.OmittedBytes > 0 {
				add(Truncation{What: string(s.Stream), Bytes: s.Bytes, SHA256: a.Payload.SHA256})
			}
		}
	}
}

// tellCheckpoint adds a checkpoint at a node.
func (o *observer) tellCheckpoint(ctx context.Context, at session.FoundRun, log records, nodeID id.Node, stepID string,
	out *pathFacts) {
	n := at.Run.Node(nodeID)
	if n == nil {
		return
	}
	row := CheckpointRow{NodeID: nodeID, StepID: stepID, AtMs: n.CreatedAtMs, Artifacts: []ArtifactRow{}}
	if recap, ok := n.Recap(); ok {
		row.Notes = recap.Payload.NotesMarkdown
	}
	for _, a := range log.of(nodeID).artifacts {
		artifact := o.rowOf(ctx, at.Session, a, n)
		artifact.StepID = cmp.Or(artifact.StepID, stepID)
		row.Artifacts = append(row.Artifacts, artifact)
	}
	out.checkpoints = append(out.checkpoints, row)
	o.tellTruncations(ctx, log.of(nodeID), n, stepID, out)
}
