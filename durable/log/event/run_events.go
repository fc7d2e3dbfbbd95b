package event

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// SessionCreated marks the existence of a session; it is event 0 (locks section 1).
type SessionCreated struct {
	ImportedFrom *ImportedFrom `json:"importedFrom,omitzero"` // additive
}

// ImportedFrom says which session of which store an import was made from.
type ImportedFrom struct {
	StoreID   id.Store     `json:"storeId"`
	SessionID id.Session   `json:"sessionId"`
	Head      canon.Digest `json:"head"`
}

// Kind is "session_created".
func (SessionCreated) Kind() string { return "session_created" }

// DedupeKey allows one per session.
func (SessionCreated) DedupeKey(owner string, _ Scope) string { return "session_created:" + owner }

// Check has nothing to refuse.
func (SessionCreated) Check(Scope) error { return nil }

// SourceKind is the closed set of where a workflow came from (locks section 1).
type SourceKind string

// The source kinds.
const (
	SourceBundled SourceKind = "bundled"
	SourceUser    SourceKind = "user"
	SourceProject SourceKind = "project"
	SourceRemote  SourceKind = "remote"
	SourcePlugin  SourceKind = "plugin"
)

// RunStarted pins a run to a compiled workflow (locks section 1; R23 for the
// additive members).
type RunStarted struct {
	WorkflowID         string       `json:"workflowId"`
	WorkflowHash       canon.Digest `json:"workflowHash"`
	WorkflowSourceKind SourceKind   `json:"workflowSourceKind"`
	WorkflowSourceRef  string       `json:"workflowSourceRef"` // opaque; paths are relative
	ForkedFrom         *ForkedFrom  `json:"forkedFrom,omitzero"`
	Parent             *id.Run      `json:"parent,omitzero"`
	Tags               []string     `json:"tags,omitzero"`
	Title              string       `json:"title,omitzero"`
}

// ForkedFrom names the node a forked run started from.
type ForkedFrom struct {
	SessionID id.Session   `json:"sessionId"`
	RunID     id.Run       `json:"runId"`
	NodeID    id.Node      `json:"nodeId"`
	Head      canon.Digest `json:"head"`
}

// Kind is "run_started".
func (RunStarted) Kind() string { return "run_started" }

// DedupeKey allows one per run.
func (RunStarted) DedupeKey(owner string, s Scope) string {
	return "run_started:" + owner + ":" + s.RunID.String()
}

// Check refuses unknown source kinds and texts over budget.
func (r RunStarted) Check(Scope) error {
	kinds := []SourceKind{SourceBundled, SourceUser, SourceProject, SourceRemote, SourcePlugin}
	switch {
	case r.WorkflowID == "":
		return errors.New("workflowId is empty")
	case !slices.Contains(kinds, r.WorkflowSourceKind):
		return fmt.Errorf("unknown workflowSourceKind %q", r.WorkflowSourceKind)
	case len(r.WorkflowSourceRef) > limits.PathMax:
		return fmt.Errorf("workflowSourceRef of %d bytes: want at most %d", len(r.WorkflowSourceRef), limits.PathMax)
	case len(r.Title) > limits.TitleBytesMax:
		return fmt.Errorf("title of %d bytes: want at most %d", len(r.Title), limits.TitleBytesMax)
	case len(r.Tags) > limits.TagsMax:
		return fmt.Errorf("%d tags: want at most %d", len(r.Tags), limits.TagsMax)
	}
	for _, tag := range r.Tags {
		if tag == "" || len(tag) > limits.TagBytesMax {
			return fmt.Errorf("tag of %d bytes: want 1 to %d", len(tag), limits.TagBytesMax)
		}
	}
	return nil
}

// RunCancelRequested asks whoever performs the run to stop (R23).
type RunCancelRequested struct {
	Outcome RunOutcome `json:"outcome,omitzero"` // additive: what the run is to count as; absent: cancelled
	Reason  string     `json:"reason"`
}

// Ends is how the run that the request is about ends.
func (r RunCancelRequested) Ends() RunOutcome { return cmp.Or(r.Outcome, OutcomeCancelled) }

// Kind is "run_cancel_requested".
func (RunCancelRequested) Kind() string { return "run_cancel_requested" }

// DedupeKey allows one per run.
func (RunCancelRequested) DedupeKey(owner string, s Scope) string {
	return "run_cancel_requested:" + owner + ":" + s.RunID.String()
}

// Check refuses a reason over budget, and a second spelling of what is asked for.
func (r RunCancelRequested) Check(Scope) error {
	if r.Outcome != "" && r.Outcome != OutcomeFailed {
		return fmt.Errorf("outcome %q: want %q or none", r.Outcome, OutcomeFailed)
	}
	return checkSummary("reason", r.Reason)
}

// RunOutcome is the closed set of ends that are no completion (R23).
type RunOutcome string

// The run outcomes.
const (
	OutcomeCancelled RunOutcome = "cancelled"
	OutcomeFailed    RunOutcome = "failed"
)

// RunClosed ends a run: it takes no further steps (R23).
type RunClosed struct {
	Outcome RunOutcome `json:"outcome"`
	Reason  string     `json:"reason"`
}

// Kind is "run_closed".
func (RunClosed) Kind() string { return "run_closed" }

// DedupeKey allows one per run.
func (RunClosed) DedupeKey(owner string, s Scope) string {
	return "run_closed:" + owner + ":" + s.RunID.String()
}

// Check refuses unknown outcomes and a reason over budget.
func (r RunClosed) Check(Scope) error {
	if r.Outcome != OutcomeCancelled && r.Outcome != OutcomeFailed {
		return fmt.Errorf("unknown outcome %q", r.Outcome)
	}
	return checkSummary("reason", r.Reason)
}

// checkSummary is the budget of texts that say why in one sentence.
func checkSummary(name, s string) error {
	if s == "" || len(s) > limits.SummaryBytesMax {
		return fmt.Errorf("%s of %d bytes: want 1 to %d", name, len(s), limits.SummaryBytesMax)
	}
	return nil
}
