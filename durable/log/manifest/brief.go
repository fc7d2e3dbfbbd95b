package manifest

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// Brief is what the catalogue of a store shows of a session (docs/design.md#briefs). It is derived: a store without a
// catalogue takes no notice of it, and one without a brief of the present logs has the session read.
type Brief struct {
	Runs []BriefRun // in the order of their start
	// Notes is the head of the session's annotations that it counts.
	Notes Head
}

// BriefRun is a run in a Brief: what selects and orders it, and its data, which a store does not look into.
type BriefRun struct {
	ID                  id.Run
	LastAtMs, LastIndex int64 // of its last event
	// Open reports that the run may wait for a person.
	Open bool
	// States are the statuses by which it is selected, Workflow is the id of its workflow, Branches those on which it was recorded.
	States   []string
	Workflow string
	Branches []string
	Pending  Pending
	Data     string
}

// PendingKind is what the pending step of a run needs, a closed set.
type PendingKind string

// The kinds.
const (
	// NothingPending: a person or an agent is next, the run is paused, or it is over.
	NothingPending PendingKind = ""
	// CommandPending: a command that was not tried yet, and needs nothing of a person or an agent.
	CommandPending PendingKind = "command"
	WaitPending    PendingKind = "wait" // until a moment
	HostPending    PendingKind = "host" // a step of the HTTP host
	EndPending     PendingKind = "end"  // the end of the run is requested, and not recorded
)

// Pending is what a performer that asks no person needs to know of a run, so that it reads only runs that it
// can perform (docs/design.md#performing-runs).
type Pending struct {
	Kind PendingKind
	// AtMs is the moment until which the step waits, in milliseconds since 1970 UTC; 0: it waits for none.
	AtMs     int64
	Tags     []string // of the run
	Workflow canon.Digest
	// Imported reports that the run came with a bundle and that no person has continued it here.
	Imported bool
}
