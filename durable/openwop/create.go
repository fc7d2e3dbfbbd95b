package openwop

import (
	"strconv"

	"github.com/waybill/waybill/durable/canon"
)

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

// ForcedVersion is the member of the metadata of a run that was created as by another version of the engine. Clients do not
// send it: a test key forces it with a header.
const ForcedVersion = "waybill.engineVersion"

// The versions of the engine that a test key can force, around the one that this program is.
const (
	EngineVersionMin = 0
	EngineVersionMax = 2
)

// Forced is the request with a forced version of the engine.
func (r CreateRun) Forced(version int64) CreateRun {
	if r.Metadata.IsNull() {
		r.Metadata = canon.OfMembers()
	}
	r.Metadata = r.Metadata.With(ForcedVersion, canon.OfInt(version))
	return r
}

// EngineVersionOf is the version of the engine as by which a run was created, "" if none was forced.
func EngineVersionOf(metadata canon.Value) string {
	v, _ := metadata.Get(ForcedVersion)
	if n := v.Float(); v.Kind() == canon.Number && n >= EngineVersionMin && n <= EngineVersionMax && n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return ""
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
