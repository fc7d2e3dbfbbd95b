package views

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/projections/runs"
)

// RunDetails is the document "run": the summary, and the details of the path to
// the preferred tip.
type RunDetails struct {
	RunSummary
	Workflow engine.WorkflowRef `json:"workflow"`
	// Head identifies the log as it was read; verification accepts it as the
	// expected head.
	Head        manifest.Head     `json:"head"`
	Preferences event.Preferences `json:"preferences"`
	// PreferenceSources says where each of them comes from.
	PreferenceSources runs.PreferenceSources `json:"preferenceSources,omitzero"`
	ForkedFrom        *event.ForkedFrom      `json:"forkedFrom,omitzero"` // source node of a fork
	Steps             []StepRow              `json:"steps"`
	// OmittedSteps is the number of earlier rounds of a step that was asked for which Steps leaves out.
	OmittedSteps int `json:"omittedSteps,omitzero"`
	// Gaps are listed from the root to the tip.
	Gaps []OpenGap `json:"gaps"`
	// Blockers are requirements that the tip's snapshot stores as unmet, in a
	// run that another program recorded as blocked. For runs of this program
	// Gaps lists them.
	Blockers []snapshot.ForeignBlocker `json:"blockers,omitzero"`
	Findings []manifest.Finding        `json:"findings"`
	// Approvals are all of the run's path, also those that were replaced.
	Approvals []ApprovalRow `json:"approvals"`
	// Decisions are all that people made about the steps of the run's path, approvals too, oldest first.
	Decisions []DecisionRow `json:"decisions"`
	// Pending is what the pending step waits for besides the work; nil: nothing, or it is not known here.
	Pending *engine.PendingNow `json:"pending,omitzero"`
	// AppliedConfigHash is the digest of the settings that decide who may do what, as they were confirmed when the run
	// was started; SettingsChanged are those whose values are others now. Absent where the caller did not compare
	// them, and of a run that was started in another store.
	AppliedConfigHash canon.Digest              `json:"appliedConfigHash,omitzero"`
	SettingsChanged   []settings.ChangedSetting `json:"settingsChanged,omitzero"`
	// SettingsUnknown reports that the settings are others now, and the earlier values are not on record.
	SettingsUnknown bool `json:"settingsUnknown,omitzero"`
	// HandedOver is set for a session that continues in another store: it takes no steps here.
	HandedOver *HandedOver `json:"handedOver,omitzero"`
	// Context is the one in force at the preferred tip.
	Context canon.Value `json:"context"`
	RunFacts
}

// HandedOver names the store to which a session was handed over.
type HandedOver struct {
	To string `json:"to,omitzero"` // as it was named; "" if it was not
}

// OpenGap is a gap that is open on the path to the tip. Exactly one of ID and
// Foreign is set.
type OpenGap struct {
	ID id.Gap `json:"gapId,omitzero"`
	// Foreign is the id of a gap that another program recorded.
	Foreign  string          `json:"foreignGapId,omitzero"`
	Index    int64           `json:"index"`
	Pointer  *reason.Pointer `json:"pointer,omitzero"`
	Reason   reason.Code     `json:"reason"`
	Severity event.Severity  `json:"severity"`
	Summary  string          `json:"summary"`
}

// openGap converts a gap of a fold to a row of the document.
func openGap(g runs.Gap) OpenGap {
	out := OpenGap{g.ID, "", g.Index, g.Pointer, g.Reason, g.Severity, g.Summary}
	if g.ID.IsZero() {
		out.Foreign = g.IDText()
	}
	return out
}

// StepRow is one step of a run: done, pending, skipped or to come.
type StepRow struct {
	StepID string `json:"stepId"`
	// StepInstanceKey includes the iterations of the loops around it.
	StepInstanceKey string    `json:"stepInstanceKey"`
	Title           string    `json:"title"`
	State           StepState `json:"state"`
	// NodeID is the node at which it is or was pending.
	NodeID   *id.Node `json:"nodeId,omitzero"`
	Attempts int      `json:"attempts"`
	Notes    string   `json:"notes,omitzero"`
	DoneAtMs int64    `json:"doneAtMs,omitzero"`
	// ResultNote is runs.HandedInNote if the step was done with such a result.
	ResultNote string `json:"resultNote,omitzero"`
	// FullNotes is the artifact that holds the notes where Notes is their beginning.
	FullNotes canon.Digest `json:"fullNotes,omitzero"`
	// Artifacts are all that were recorded at the step, oldest first, also those that were replaced.
	Artifacts   []ArtifactRow `json:"artifacts"`
	Assessments []Assessment  `json:"assessments,omitzero"`
	// Result is the command's, with the last resultTailBytesMax bytes of each output.
	Result *command.Brief `json:"result,omitzero"`
	// Checks are those of the attempt that completed the step, or of the last one at a pending step, in
	// the order of the workflow.
	Checks   []check.Brief `json:"checks,omitzero"`
	Approval *ApprovalRow  `json:"approval,omitzero"`
	// Decisions are all about the step, oldest first.
	Decisions []DecisionRow `json:"decisions,omitzero"`
	// WaitOver is the end of the step's wait.
	WaitOver *wait.Over `json:"waitOver,omitzero"`
	// Host is what the HTTP host recorded of the step.
	Host *HostRow `json:"host,omitzero"`
	// Guarded are the chats in which a hook refused the end of a turn while the step was pending, oldest first.
	Guarded []runs.GuardedChat `json:"guarded,omitzero"`
	// Elicited and Traceparent are those of the last attempt: what the program of an agent asked its user for, and
	// the trace context of the call.
	Elicited    *event.Elicited `json:"elicited,omitzero"`
	Traceparent string          `json:"traceparent,omitzero"`
	// ContextSet is what the step's attempts set; a null member removed one.
	ContextSet canon.Value `json:"contextSet"`
	// Details are those of a step that was asked for.
	Details *StepDetails `json:"details,omitzero"`

	// Checkpoints are those recorded at the step, oldest first.
	Checkpoints []runs.Checkpoint `json:"checkpoints,omitzero"`
}

// HostRow is the result of a host step without its outputs, which its artifact has.
type HostRow struct {
	Error   *host.Error  `json:"error,omitzero"`
	Outcome host.Outcome `json:"outcome"`
	TypeID  string       `json:"typeId"`
}

// StepState is the closed set of states of a step in a run.
type StepState string

// The step states.
const (
	// StepDone: an attempt at it was accepted.
	StepDone StepState = "done"
	// StepPending: the run waits for an attempt at it.
	StepPending StepState = "pending"
	// StepSkipped: the run passed it without an attempt.
	StepSkipped StepState = "skipped"
	// StepToCome: the run has not reached it.
	StepToCome StepState = "to_come"
)

// Run returns the details of one run. ref is a run id, a unique prefix of one,
// or @last. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS; STORE_CORRUPT if the tip's
// snapshot or the workflow is missing.
func (o *Views) Run(ctx context.Context, ref string) (RunDetails, error) { return o.run(ctx, ref, "") }

// RunStep is Run with the details of one step, in each of its iterations or in one of them: step is a
// step id or a step instance key, and the others are left out. TOKEN_UNKNOWN_NODE for a step that
// neither the workflow nor the run's path has.
func (o *Views) RunStep(ctx context.Context, ref, step string) (RunDetails, error) {
	return o.run(ctx, ref, step)
}

// run is Run, or RunStep if step is not "".
func (o *Views) run(ctx context.Context, ref, step string) (RunDetails, error) {
	s, err := ReadRun(ctx, o, ref, step)
	if err != nil {
		return RunDetails{}, err
	}
	rows := make([]StepRow, s.Steps())
	out, err := s.Each(ctx, func(row ShownStep) error {
		rows[row.Index] = row.StepRow
		return nil
	})
	out.Steps = rows
	return out, err
}
