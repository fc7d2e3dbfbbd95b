package views

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// ArtifactRow is one submission of an artifact: what a step, a command or a person recorded.
type ArtifactRow struct {
	SHA256       canon.Digest `json:"sha256,omitzero"`
	ContentType  string       `json:"contentType"`
	ArtifactKind string       `json:"artifactKind,omitzero"`
	Bytes        int64        `json:"bytes"`
	// StepID is that of the step at which it was recorded, "" if its snapshot cannot be read.
	StepID          string     `json:"stepId"`
	StepInstanceKey string     `json:"stepInstanceKey,omitzero"`
	NodeID          id.Node    `json:"nodeId"`
	RunID           id.Run     `json:"runId"`
	SessionID       id.Session `json:"sessionId"`
	EventIndex      int64      `json:"eventIndex"`
	// OutputID is that of the record, in the spelling of the program that wrote it.
	OutputID   string      `json:"outputId"`
	RecordedBy event.Actor `json:"recordedBy,omitzero"`
	AtMs       int64       `json:"atMs,omitzero"`
	// Current is false for an artifact that a later one replaced.
	Current bool          `json:"current"`
	State   ArtifactState `json:"state"`
}

// ArtifactState is the closed set of states of an artifact's bytes.
type ArtifactState string

// The artifact states.
const (
	// ArtifactStored: the bytes are in the store.
	ArtifactStored ArtifactState = "stored"
	// ArtifactErased: the bytes were erased, and a tombstone says why.
	ArtifactErased ArtifactState = "erased"
	// ArtifactForeign: another program recorded it inside its event, or with a digest that is not of
	// a stored artifact.
	ArtifactForeign ArtifactState = "foreign"
)

// Assessment is an assessment that was submitted for a step.
type Assessment struct {
	AssessmentID string           `json:"assessmentId,omitzero"`
	Summary      string           `json:"summary,omitzero"`
	Dimensions   []DimensionLevel `json:"dimensions"`
	SHA256       canon.Digest     `json:"sha256,omitzero"`
}

// DimensionLevel is the level of one dimension, with the reason that was given.
type DimensionLevel struct {
	ID        string `json:"id"`
	Level     string `json:"level"`
	Rationale string `json:"rationale,omitzero"`
}

// ApprovalRow is a person's approval of a step.
type ApprovalRow struct {
	StepID          string `json:"stepId"`
	StepInstanceKey string `json:"stepInstanceKey"`
	// By is the name that the approver claimed, else the kind of the actor.
	By      string       `json:"by"`
	At      string       `json:"at"` // RFC 3339
	AtMs    int64        `json:"atMs,omitzero"`
	Comment string       `json:"comment,omitzero"`
	SHA256  canon.Digest `json:"sha256,omitzero"`
	// Current is false for an approval that a later one replaced.
	Current bool `json:"current"`
	// Imported marks one that came with a bundle: it does not count here
	// (docs/design.md#requirements-on-the-caller).
	Imported bool `json:"imported,omitzero"`
	// Unreadable says why the comment cannot be shown, "" if it can.
	Unreadable string `json:"unreadable,omitzero"`
}

// resultTailBytesMax bounds the end of each output of a command in a step's row.
const resultTailBytesMax = 2 << 10

// rowOf converts a recorded artifact. state is that of its node, current that of the fold.
func (o *observer) rowOf(ctx context.Context, s id.Session, out submitted.Artifact, n *runs.Node) ArtifactRow {
	row := ArtifactRow{SHA256: out.Payload.SHA256, ContentType: out.Payload.ContentType,
		ArtifactKind: out.Payload.ArtifactKind, Bytes: out.Payload.ByteLength, NodeID: out.Scope.NodeID,
		RunID: out.Scope.RunID, SessionID: s, EventIndex: out.Index, RecordedBy: out.Actor, AtMs: out.TimestampMs,
		OutputID: outputIDOf(out.Event), State: o.artifactState(ctx, out)}
	if n == nil {
		return row
	}
	row.Current = slices.ContainsFunc(n.Outputs, func(have runs.Output) bool { return have.Index == out.Index })
	if p := o.pendingAt(ctx, n); p != nil {
		row.StepID, row.StepInstanceKey = p.StepID, p.Key()
	}
	return row
}

// outputIDOf returns the id of an output in the spelling of its log.
func outputIDOf(e event.Event) string {
	if g, foreign := event.Domain.ViewForeign(e); foreign {
		return g.ID
	}
	p, _ := e.Data.(event.NodeOutputAppended)
	return p.OutputID.String()
}

// artifactState reports what is known about the bytes without reading them.
func (o *observer) artifactState(ctx context.Context, out submitted.Artifact) ArtifactState {
	if !out.Inline.IsNull() || out.Payload.SHA256.IsZero() {
		return ArtifactForeign
	}
	stones, ok := o.v.store.(ports.Tombstones)
	if !ok {
		return ArtifactStored
	}
	data, erased, err := stones.Tombstone(ctx, out.Payload.SHA256)
	if imported, _ := data.Get("imported"); err == nil && erased && imported.True() {
		// It does not count where the bytes are stored nevertheless.
		_, err := o.v.store.Object(ctx, manifest.Artifact, out.Payload.SHA256)
		erased = fault.Is(err, fault.ArtifactErased)
	}
	if erased || err != nil {
		return ArtifactErased
	}
	return ArtifactStored
}

// content returns an artifact as JSON, and why it cannot be shown otherwise.
func (o *observer) content(ctx context.Context, out submitted.Artifact) (canon.Value, error) {
	if !out.Inline.IsNull() {
		return out.Inline, nil
	}
	data, err := o.v.store.Object(ctx, manifest.Artifact, out.Payload.SHA256)
	if err != nil {
		return canon.Value{}, err
	}
	v, err := canon.Parse(data)
	if err != nil {
		return v, fault.New(fault.ValidationError, "the artifact is not JSON of its kind")
	}
	return v, nil
}

// ContentOf returns an artifact that is stored as JSON.
func ContentOf(ctx context.Context, v *Views, row ArtifactRow) (canon.Value, error) {
	return (&observer{v: v}).content(ctx, submitted.Artifact{Payload: event.OutputPayload{SHA256: row.SHA256}})
}

// outcome fills the parts of a step's row that its artifacts hold. An artifact that cannot be read
// stays in the list of artifacts, and nothing is shown of its content.
func (o *observer) outcome(ctx context.Context, row *StepRow, rows []ArtifactRow, outputs []submitted.Artifact) {
	for i, out := range outputs {
		if d, ok := o.decisionOf(ctx, rows[i], out); ok {
			row.Decisions = append(row.Decisions, d)
		}
		if !rows[i].Current {
			continue
		}
		switch out.Payload.ArtifactKind {
		case command.Kind:
			if r, err := o.resultOf(ctx, out); err == nil {
				brief := r.Brief(resultTailBytesMax)
				row.Result = &brief
			}
		case wait.Kind:
			if v, err := o.content(ctx, out); err == nil {
				if over, err := wait.Decode(v); err == nil {
					row.WaitOver = &over
				}
			}
		case host.Kind:
			if v, err := o.content(ctx, out); err == nil {
				if r, err := host.Decode(v); err == nil {
					row.Host = &HostRow{r.Error, r.Outcome, r.TypeID}
				}
			}
		case contract.AssessmentKind:
			if v, err := o.content(ctx, out); err == nil {
				row.Assessments = append(row.Assessments, assessmentOf(v, out.Payload.SHA256))
			}
		case runs.ApprovalKind:
			approval := o.approvalOf(ctx, rows[i], out)
			row.Approval = &approval
		}
	}
}

// checks fills the checks of a step's row from its current artifacts. Without the workflow there is no
// verdict, and none is shown.
func (o *observer) checks(ctx context.Context, at session.FoundRun, row *StepRow, found []submitted.Artifact) {
	results := o.checksOf(ctx, found)
	if len(results) == 0 {
		return
	}
	if w, err := o.v.r.Workflow(ctx, at.Run.Started.WorkflowHash); err == nil {
		step, _ := w.Step(row.StepID)
		row.Checks = check.Briefs(step.Checks, results, session.StartedIn(at.Fold))
	}
}

// checksOf reads the results of checks among artifacts. One that cannot be read is left out.
func (o *observer) checksOf(ctx context.Context, found []submitted.Artifact) (results []check.Result) {
	for _, out := range found {
		if out.Payload.ArtifactKind != check.Kind {
			continue
		}
		if r, err := o.checkOf(ctx, out); err == nil {
			results = append(results, r)
		}
	}
	return results
}

// answered is an attempt whose blockers have what answers say of checks.
func (o *observer) answered(ctx context.Context, p event.AdvanceRecorded, found []submitted.Artifact, workflow canon.Digest) event.AdvanceRecorded {
	if p.Outcome.Blockers == nil {
		return p
	}
	own := slices.DeleteFunc(o.checksOf(ctx, found), func(r check.Result) bool { return r.AttemptID != p.AttemptID })
	p.Outcome.Blockers = &reason.Report{Blockers: check.Answered(p.Outcome.Blockers.Blockers, own, workflow)}
	return p
}

// checkOf reads the result of a check.
func (o *observer) checkOf(ctx context.Context, out submitted.Artifact) (check.Result, error) {
	v, err := o.content(ctx, out)
	if err != nil {
		return check.Result{}, err
	}
	return check.Decode(v)
}

// resultOf reads the result of a command.
func (o *observer) resultOf(ctx context.Context, out submitted.Artifact) (command.Result, error) {
	v, err := o.content(ctx, out)
	if err != nil {
		return command.Result{}, err
	}
	return command.Decode(v)
}

// assessmentOf reads an assessment, in the form that its contract has. Members of other types are
// left out: the artifact itself can be shown.
func assessmentOf(v canon.Value, ref canon.Digest) Assessment {
	assessmentID, _ := v.Get("assessmentId")
	summary, _ := v.Get("summary")
	out := Assessment{AssessmentID: assessmentID.Text(), Summary: summary.Text(), SHA256: ref,
		Dimensions: []DimensionLevel{}}
	dimensions, _ := v.Get("dimensions")
	if dimensions.Kind() != canon.Object {
		return out
	}
	for i := range dimensions.Len() {
		level, rationale := dimensions.Item(i), canon.Value{}
		if inner, ok := level.Get("level"); ok {
			rationale, _ = level.Get("rationale")
			level = inner
		}
		out.Dimensions = append(out.Dimensions, DimensionLevel{dimensions.Key(i), level.Text(), rationale.Text()})
	}
	return out
}

// isImported reports whether a record came with a bundle, also where that cannot be read.
func (o *observer) isImported(ctx context.Context, row ArtifactRow) bool {
	if o.v.Imported == nil {
		return true
	}
	span, err := o.v.importedOf(ctx, row.SessionID)
	return err != nil || span.Has(row.EventIndex)
}

// approvalOf reads who approved, when and with which comment.
func (o *observer) approvalOf(ctx context.Context, row ArtifactRow, out submitted.Artifact) ApprovalRow {
	a := ApprovalRow{StepID: row.StepID, StepInstanceKey: row.StepInstanceKey, SHA256: row.SHA256, AtMs: row.AtMs,
		At: event.TimeText(row.AtMs), Current: row.Current}
	v, err := o.content(ctx, out)
	if err != nil {
		a.Unreadable = fault.Of(err).Message
	}
	a.Imported = o.isImported(ctx, row)
	by, _ := v.Get("approvedBy")
	comment, _ := v.Get("comment")
	a.By, a.Comment = cmp.Or(by.Text(), out.Actor.Ref, string(out.Actor.Kind)), comment.Text()
	return a
}
