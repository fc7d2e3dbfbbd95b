package manifest

import "github.com/waybill/waybill/durable/id"

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
	// Tags are those of the run. Pending is what a performer that asks no person can do of it, "" for nothing.
	Tags    []string
	Pending string
	Data    string
}
