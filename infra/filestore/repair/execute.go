package repair

import (
	"path"
	"slices"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/commit"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Record is the data of layout.RepairFile.
type Record struct {
	Actor    event.Actor        `json:"actor"`
	AtMs     int64              `json:"atMs"`
	Findings []manifest.Finding `json:"findings"`
	Health   manifest.Health    `json:"health,omitzero"` // of a log, before the repair
	Kept     manifest.Head      `json:"kept,omitzero"`   // the remaining prefix; zero where no log was repaired
	Owner    string             `json:"owner"`
	Root     string             `json:"root"` // of the log; "." for a file of the store itself
	Steps    []ports.RepairStep `json:"steps"`
	More     int64              `json:"more,omitzero"` // number of steps that are not listed
}

// repairStepsMax bounds the recorded steps: a control file has a bounded size, and the files
// themselves are in the entry.
const repairStepsMax = 1000

// writeRecord writes the record, durably.
func (e *entry) writeRecord(n Record) error {
	if n.Findings == nil {
		n.Findings = []manifest.Finding{}
	}
	if more := len(n.Steps) - repairStepsMax; more > 0 {
		n.Steps, n.More = n.Steps[:repairStepsMax], int64(more)
	}
	doc, err := controlfile.New(layout.RepairKind, layout.RepairVersion, n)
	if err != nil {
		return err
	}
	name := path.Join(e.dir, layout.RepairFile)
	if err := e.d.PutControl(name, doc, e.d.Place); err != nil {
		return err
	}
	e.made = append(e.made, name)
	return nil
}

// execute carries out a planned repair. All copies are durable in the quarantine before any
// original is removed, and the manifest changes last: an interrupted repair leaves the log as
// damaged as it was, and it can be repaired again.
//
// After an error before the first removal the copies are removed again. After a later one
// everything that was removed is in the quarantine, and a log with a usable prefix is marked as
// suspect.
func (j *repairOp) execute(out ports.RepairResult) error {
	log := j.r.Log
	if _, err := Quarantine(j.d, j.base(), Record{Actor: j.r.By, AtMs: j.r.AtMs, Findings: j.v.Findings,
		Health: j.v.Health, Kept: j.v.Head, Owner: log.Owner, Root: log.Root, Steps: out.Steps}); err != nil {
		return err
	}
	files := moved(j.steps)
	if j.noPrefix {
		return j.removeLog(files)
	}
	// From here to the end the log is suspect: a process that finds the open note copies the
	// manifest once more (docs/design.md#failed-sync).
	own := j.held[0]
	_ = own.SetNote(commit.OpenNote(j.d))
	err := removeFiles(j.d, files[:len(files)-1]) // the last is the manifest: it is replaced, not removed
	if err == nil {
		err = commit.CopyManifest(j.d, log, j.v.Head.Bytes)
	}
	if err != nil {
		commit.MarkSuspect(j.d, log)
		return err
	}
	_ = own.SetNote("") // the note of the last writer described the old manifest
	return nil
}

// removeLog removes a directory whose files were copied to the quarantine. The manifest is removed
// after everything else is durably gone: events without a manifest, or a manifest without events,
// are as damaged as the log was.
func (j *repairOp) removeLog(files []string) error {
	rest := len(files) // or one less: the manifest, if there is one, is the last
	if slices.Contains(files, layout.ManifestPath(j.r.Log)) {
		rest--
	}
	for _, part := range [][]string{files[:rest], files[rest:]} {
		if err := removeFiles(j.d, part); err != nil {
			return err
		}
	}
	// An empty directory with a lock in it is no session; a cleanup removes what fails here.
	for _, dir := range slices.Backward(append([]string{j.r.Log.Root}, j.dirs...)) {
		for _, name := range layout.LockNames {
			_ = j.d.Remove(path.Join(dir, name))
		}
		_ = j.d.Remove(dir)
	}
	return j.d.SyncDir(path.Dir(j.r.Log.Root), osfs.Durable)
}

// removeFiles removes files that exist elsewhere as well, and syncs their directories.
func removeFiles(d *disk.Disk, names []string) error {
	for _, name := range names {
		if err := d.Remove(name); disk.UnlessMissing(err) != nil {
			return err
		}
	}
	return d.SyncDirs(osfs.Durable, disk.Dirs(names)...)
}
