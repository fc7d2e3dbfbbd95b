package openwop

import "github.com/waybill/waybill/durable/canon"

// CreateRun is the request to create a run: a closed object whose parts inputs, configurable and metadata are open.
type CreateRun struct {
	WorkflowID string `json:"workflowId"`
	// Inputs become the context of the run; an object, null without one.
	Inputs   canon.Value `json:"inputs,omitzero"`
	TenantID string      `json:"tenantId,omitzero"`
	ScopeID  string      `json:"scopeId,omitzero"`
	// CallbackURL is accepted and never called.
	CallbackURL  string      `json:"callbackUrl,omitzero"`
	Configurable canon.Value `json:"configurable,omitzero"`
	Tags         []string    `json:"tags,omitzero"`
	Metadata     canon.Value `json:"metadata,omitzero"`
}

// RunCreated is the answer to CreateRun.
type RunCreated struct {
	RunID     string `json:"runId"`
	Status    Status `json:"status"`
	EventsURL string `json:"eventsUrl"`
	StatusURL string `json:"statusUrl"`
}

// RunState is the answer to a request to cancel a run.
type RunState struct {
	RunID  string `json:"runId"`
	Status Status `json:"status"`
}

// PauseRun is the request to pause a run.
type PauseRun struct {
	DrainPolicy DrainPolicy `json:"drainPolicy,omitzero"` // "": DrainCurrentNode
	Reason      string      `json:"reason,omitzero"`
}

// RunPause is the answer to a request to pause a run.
type RunPause struct {
	RunID string `json:"runId"`
	// Status is running, without PausedAt, while a node is drained.
	Status   Status `json:"status"`
	PausedAt string `json:"pausedAt,omitzero"`
}
