package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Repairs takes what is damaged out of the way (R9). It deletes nothing: whatever it
// takes away lies in the quarantine before it leaves its place. What is worth a
// repair, and who wants it, is for the caller to know.
type Repairs interface {
	// RepairLog makes a damaged log usable again. With a usable prefix the manifest
	// becomes that prefix, in a new file, and the old manifest, the segments behind the
	// prefix and the caches of the log are set aside; without one all of the log's folder
	// is. A log that is not damaged stays as it is, and so does everything in a dry run:
	// Steps then says what would be done. An unknown version, damaged or not, is
	// SESSION_UNHEALTHY. nil promises that what was done survives a power cut; after an
	// error the log is as damaged as it was, or repaired, and nothing of it is gone.
	RepairLog(ctx context.Context, r LogRepair) (Repaired, error)

	// RepairControl sets a control file of the store aside that cannot be read, or that
	// check refuses: then it is as if none were there. One that is in order, or is not
	// there, stays as it is. What nil and an error promise is as for RepairLog.
	RepairControl(ctx context.Context, r ControlRepair, check func(Control) error) (Repaired, error)
}

// LogRepair says which log is to be repaired, by whom, and how.
type LogRepair struct {
	Log    manifest.Log
	By     event.Actor
	AtMs   int64 // names the folder in the quarantine
	DryRun bool
	// Claimed is up to which event the log is known to have reached: where it ends
	// before that, what was committed in between is lost, and that is damage (R9).
	Claimed int64
	// Aside is handed what is set aside of events, before anything is done: the bytes
	// of the manifest behind the prefix under manifest.FileName, and segments by their
	// names. It may be nil.
	Aside func(name string, data []byte)
}

// Judge is the verdict of a reading in the light of what the caller knows.
func (r LogRepair) Judge(v manifest.Verdict) manifest.Verdict {
	if r.Claimed <= v.Head.Next || v.Damaged() {
		return v
	}
	v.Health, v.TailBytes = manifest.CorruptTail, 0
	if v.Head.IsZero() {
		v.Health = manifest.CorruptHead
	}
	v.Findings = append(v.Findings, manifest.NewFinding(manifest.LostTail, r.Log.Root,
		"the log ends before event %d, and is known to have reached event %d: what was committed between is lost",
		v.Head.Next, r.Claimed-1))
	return v
}

// ControlRepair is the same for a control file of the store's own folder.
type ControlRepair struct {
	File   ControlFile
	By     event.Actor
	AtMs   int64
	DryRun bool
}

// RepairAct is the closed set of what a repair does to a file.
type RepairAct string

// The acts of a repair.
const (
	SetAside   RepairAct = "set_aside"   // moved to the quarantine
	KeepPrefix RepairAct = "keep_prefix" // its valid beginning is written anew
)

// RepairStep is one thing that was done, or would be. Paths are relative to the store.
type RepairStep struct {
	What  RepairAct `json:"what"`
	From  string    `json:"from"`
	To    string    `json:"to"`
	Bytes int64     `json:"bytes"`
}

// Repaired is what a repair did, or would do. No steps: there was nothing to repair.
type Repaired struct {
	Verdict manifest.Verdict // over the log, before; of a control file the findings alone
	Folder  string           // in the quarantine
	Steps   []RepairStep
}
