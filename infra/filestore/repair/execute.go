package repair

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Record is the data of repairFile.
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

// WriteRecord writes repairFile, durably.
func (a *Entry) WriteRecord(n Record) error {
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
	name := path.Join(a.Dir, layout.RepairFile)
	if err := a.s.d.PutControl(name, doc, a.s.d.Place); err != nil {
		return err
	}
	a.made = append(a.made, name)
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
	s, log := j.s, j.r.Log
	a, err := s.NewEntry(log.Owner, j.base(), j.r.AtMs)
	if err != nil {
		return err
	}
	err = a.WriteRecord(Record{Actor: j.r.By, AtMs: j.r.AtMs, Findings: j.v.Findings, Health: j.v.Health,
		Kept: j.v.Head, Owner: log.Owner, Root: log.Root, Steps: out.Steps})
	if err == nil {
		err = a.CopyFiles(j.files)
	}
	if err == nil {
		err = a.SyncAll()
	}
	if err != nil {
		a.Undo()
		return err
	}
	if j.noPrefix {
		return j.removeLog()
	}
	// From here to the end the log is suspect: a process that finds the open note copies the
	// manifest once more (docs/design.md#failed-sync).
	own := j.held[0]
	_ = own.SetNote(s.commit.OpenNote())
	last := len(j.files) - 1 // the manifest: it is replaced, not removed
	if err = s.removeFiles(j.files[:last]); err == nil {
		err = s.commit.CopyManifest(log, j.v.Head.Bytes)
	}
	if err != nil {
		s.commit.MarkSuspect(log)
		return err
	}
	_ = own.SetNote("") // the note of the last writer described the old manifest
	return nil
}

// removeLog removes a directory whose files were copied to the quarantine. The manifest is removed
// after everything else is durably gone: events without a manifest, or a manifest without events,
// are as damaged as the log was.
func (j *repairOp) removeLog() error {
	own := path.Join(j.r.Log.Root, manifest.FileName)
	rest := slices.DeleteFunc(slices.Clone(j.files), func(name string) bool { return name == own })
	if err := j.s.removeFiles(rest); err != nil {
		return err
	}
	if len(rest) < len(j.files) {
		if err := j.s.removeFiles([]string{own}); err != nil {
			return err
		}
	}
	// An empty directory with a lock in it is no session; a cleanup removes what fails here.
	for _, dir := range slices.Backward(append([]string{j.r.Log.Root}, j.dirs...)) {
		for _, name := range []string{".lock", ".performer.lock"} {
			_ = j.s.d.Remove(path.Join(dir, name))
		}
		_ = j.s.d.Remove(dir)
	}
	return j.s.d.SyncDir(path.Dir(j.r.Log.Root), osfs.Durable)
}

// removeFiles removes files that exist elsewhere as well, and syncs their directories.
func (r *Repairer) removeFiles(names []string) error {
	var dirs []string
	for _, name := range names {
		if err := r.d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	var syncs []func() error
	for _, dir := range dirs {
		syncs = append(syncs, func() error { return r.d.SyncDir(dir, osfs.Durable) })
	}
	return r.d.SyncAll(syncs...)
}

// quarantineFiles moves the files of out.Steps, which belong to the store itself, to the
// quarantine. owner is the store id.
func (r *Repairer) quarantineFiles(owner string, n Record, out ports.RepairResult) error {
	a, err := r.NewEntry(owner, ".", n.AtMs)
	if err != nil {
		return err
	}
	var names []string
	for _, step := range out.Steps {
		names = append(names, step.From)
	}
	n.Findings, n.Steps = out.Verdict.Findings, out.Steps
	if err = a.WriteRecord(n); err == nil {
		err = a.CopyFiles(names)
	}
	if err == nil {
		err = a.SyncAll()
	}
	if err != nil {
		a.Undo()
		return err
	}
	return r.removeFiles(names)
}
