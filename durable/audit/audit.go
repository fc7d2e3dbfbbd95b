// Package audit is the log of what people decided about a store: approvals,
// deletions, imports and the like (R10). It is a side log of the store, in the same
// form as every other log; this package holds its records and their checks.
package audit

// Action is the closed set of what is put on record.
type Action string

// The actions.
const (
	Approve    Action = "approve"
	Override   Action = "override"
	Repair     Action = "repair"
	Keep       Action = "keep"
	Delete     Action = "delete"
	Restore    Action = "restore"
	EmptyTrash Action = "empty_trash"
	GC         Action = "gc"
	Erase      Action = "erase"
	Import     Action = "import"
	Rotate     Action = "rotate"
	Trust      Action = "trust"
	Cancel     Action = "cancel"
)

// TargetKind is the closed set of what an action is about.
type TargetKind string

// The kinds of targets.
const (
	OfStore    TargetKind = "store"
	OfSession  TargetKind = "session"
	OfRun      TargetKind = "run"
	OfArtifact TargetKind = "artifact"
	OfWorkflow TargetKind = "workflow"
	OfKeyring  TargetKind = "keyring"
)

// Target is what an action is about; ID is an id, a digest, or "" for the store.
type Target struct {
	Kind TargetKind `json:"kind"`
	ID   string     `json:"id,omitzero"`
}

// Act is an action as whoever carries it out asks for it. Reason is a person's text.
type Act struct {
	Action  Action
	Target  Target
	Reason  string
	Details map[string]string // what else is worth knowing, by short names
}
