package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Repairs makes damaged logs and control files usable again (docs/design.md#log-tail). It deletes
// nothing: all that it removes is in the quarantine first. Whether to repair, and on whose
// behalf, is decided by the caller.
type Repairs interface {
	// RepairLog makes a damaged log usable again. If the manifest has a usable prefix, the log ends
	// with it, and what followed, the old manifest and the
	// caches of the log are moved to the quarantine; otherwise all of the log is, with its side logs. A log
	// that is not damaged is not changed, and a dry run changes nothing: Steps then lists what
	// would be done. SESSION_UNHEALTHY: the log has an unknown version, damaged or not. nil
	// promises that the changes are as durable as an Append; after an error the log is either damaged as
	// before or repaired, and none of its bytes are lost.
	RepairLog(ctx context.Context, r LogRepair) (RepairResult, error)

	// RepairControl moves a control file of the store to the quarantine if it cannot be read or if
	// check refuses it: from then on it counts as missing. A valid or missing file is not changed.
	// nil and errors promise what those of RepairLog do.
	RepairControl(ctx context.Context, r ControlRepair, check func(Control) error) (RepairResult, error)
}

// LogRepair selects the log to repair and how.
type LogRepair struct {
	Log    manifest.Log
	By     event.Actor
	AtMs   int64 // part of the name of its place in the quarantine
	DryRun bool
	// ExpectedNext is the number of events that the log is known to have had, 0 if unknown. If it ends
	// before that, committed events are lost, which is damage (docs/design.md#log-tail).
	ExpectedNext int64
	// Quarantine, if not nil, is called with the event data to be quarantined before anything is
	// changed: the bytes of the manifest after the prefix under the name manifest.FileName, and
	// segments under their names (manifest.Segment.Name).
	Quarantine func(name string, data []byte)
}

// Judge returns the verdict v corrected for what the caller knows: a log that reads as valid but
// ends before event ExpectedNext is damaged, corrupt_head if it is empty and corrupt_tail otherwise.
func (r LogRepair) Judge(v manifest.Verdict) manifest.Verdict {
	if r.ExpectedNext <= v.Head.Next || v.Damaged() {
		return v
	}
	v.Health, v.TailBytes = manifest.CorruptTail, 0
	if v.Head.IsZero() {
		v.Health = manifest.CorruptHead
	}
	v.Findings = append(v.Findings, manifest.NewFinding(manifest.LostTail, r.Log.Root,
		"the log ends before event %d, and is known to have reached event %d: what was committed between is lost",
		v.Head.Next, r.ExpectedNext-1))
	return v
}

// ControlRepair selects the control file of the store to repair and how.
type ControlRepair struct {
	File   ControlFile
	By     event.Actor
	AtMs   int64
	DryRun bool
}

// RepairAct is the closed set of actions of a repair on a part of a store.
type RepairAct string

// The acts of a repair.
const (
	MoveToQuarantine RepairAct = "set_aside"   // moved to the quarantine
	KeepPrefix       RepairAct = "keep_prefix" // replaced by its valid prefix
)

// RepairStep is one action, done or planned. From and To are places; Bytes is the size of
// the moved or kept data.
type RepairStep struct {
	What  RepairAct `json:"what"`
	From  string    `json:"from"`
	To    string    `json:"to"`
	Bytes int64     `json:"bytes"`
}

// RepairResult is the result of a repair or a dry run. Without Steps nothing had to be repaired.
type RepairResult struct {
	Verdict         manifest.Verdict // of the log before the repair; for a control file only Findings are set
	QuarantinePlace string           // where in the quarantine the old data are; "" if nothing was moved
	Steps           []RepairStep
}
