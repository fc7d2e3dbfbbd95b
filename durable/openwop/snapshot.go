package openwop

import "github.com/waybill/waybill/durable/canon"

// Status is the closed set of states of a run.
type Status string

// The states.
const (
	Pending         Status = "pending"
	Running         Status = "running"
	Paused          Status = "paused"
	WaitingApproval Status = "waiting-approval"
	WaitingInput    Status = "waiting-input"
	WaitingExternal Status = "waiting-external"
	Completed       Status = "completed"
	Failed          Status = "failed"
	Cancelling      Status = "cancelling"
	Cancelled       Status = "cancelled"
)

// DrainPolicy is when a pause is in force, a closed set.
type DrainPolicy string

// The policies.
const (
	Immediate        DrainPolicy = "immediate"          // at once
	DrainCurrentNode DrainPolicy = "drain-current-node" // behind the node that is executed
)

// Terminal reports a state that the run does not leave.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// EventLogSchemaVersion is the version of the mapping from stored events to run events.
const EventLogSchemaVersion = 1

// Snapshot is the state of a run.
type Snapshot struct {
	RunID       string `json:"runId"`
	WorkflowID  string `json:"workflowId"`
	Status      Status `json:"status"`
	Owner       *Owner `json:"owner,omitzero"`
	StartedAt   string `json:"startedAt,omitzero"`
	CompletedAt string `json:"completedAt,omitzero"`
	// CurrentNodeID is the node at which the run is suspended, "" for none.
	CurrentNodeID string `json:"currentNodeId,omitzero"`
	// Interrupt is set while the run waits for another system, for a caller that may answer.
	Interrupt  *Callback            `json:"interrupt,omitzero"`
	NodeStates map[string]NodeState `json:"nodeStates"`
	// Variables is the context, without the secrets that redaction finds.
	Variables    canon.Value `json:"variables"`
	Error        *RunError   `json:"error,omitzero"`
	Tags         []string    `json:"tags,omitzero"`
	Metadata     canon.Value `json:"metadata,omitzero"`
	Configurable canon.Value `json:"configurable,omitzero"`
	// EngineVersion is that of the program which reads the run.
	EngineVersion         string  `json:"engineVersion,omitzero"`
	EventLogSchemaVersion int64   `json:"eventLogSchemaVersion"`
	Metrics               Metrics `json:"metrics"`
}

// Owner is whom a run belongs to.
type Owner struct {
	Principal string `json:"principal,omitzero"`
	Tenant    string `json:"tenant"`
	Workspace string `json:"workspace,omitzero"`
}

// NodeState is the state of one node: its latest one.
type NodeState struct {
	Status      NodeStatus `json:"status"`
	StartedAt   string     `json:"startedAt,omitzero"`
	CompletedAt string     `json:"completedAt,omitzero"`
	Attempts    int64      `json:"attempts"`
}

// NodeStatus is the closed set of states of a node.
type NodeStatus string

// The states of nodes.
const (
	NodeIsRunning   NodeStatus = "running"
	NodeIsSuspended NodeStatus = "suspended"
	NodeIsCompleted NodeStatus = "completed"
	NodeIsFailed    NodeStatus = "failed"
	NodeIsCancelled NodeStatus = "cancelled"
)

// RunError is why a run failed.
type RunError struct {
	Code    string      `json:"code"`
	Message string      `json:"message"`
	Details canon.Value `json:"details,omitzero"`
}

// Metrics counts what a run has.
type Metrics struct {
	EventCount int64 `json:"eventCount"`
	NodeCount  int64 `json:"nodeCount"`
}
