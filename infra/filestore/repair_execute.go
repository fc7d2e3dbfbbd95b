package filestore

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// repairFile records, in a quarantine entry, why its files were moved. It is durable before any
// original is removed, so that no crash leaves quarantined files without it.
const (
	repairFile = "repair.json"
	repairKind = "repair"
	repairV    = 1
)

// repairRecord is the data of repairFile.
type repairRecord struct {
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

// writeRecord writes repairFile, durably.
func (a *quarantineEntry) writeRecord(n repairRecord) error {
	if n.Findings == nil {
		n.Findings = []manifest.Finding{}
	}
	if more := len(n.Steps) - repairStepsMax; more > 0 {
		n.Steps, n.More = n.Steps[:repairStepsMax], int64(more)
	}
	doc, err := controlfile.New(repairKind, repairV, n)
	if err != nil {
		return err
	}
	name := path.Join(a.dir, repairFile)
	if err := a.s.putControl(name, doc, a.s.fs.Place); err != nil {
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
	a, err := s.newQuarantineEntry(log.Owner, j.base(), j.r.AtMs)
	if err != nil {
		return err
	}
	err = a.writeRecord(repairRecord{Actor: j.r.By, AtMs: j.r.AtMs, Findings: j.v.Findings, Health: j.v.Health,
		Kept: j.v.Head, Owner: log.Owner, Root: log.Root, Steps: out.Steps})
	if err == nil {
		err = a.copyFiles(j.files)
	}
	if err == nil {
		err = a.syncAll()
	}
	if err != nil {
		a.undo()
		return err
	}
	if j.noPrefix {
		return j.removeLog()
	}
	// From here to the end the log is suspect: a process that finds the open note copies the
	// manifest once more (docs/design.md#failed-sync).
	own := j.held[0]
	_ = own.SetNote(s.openNote())
	last := len(j.files) - 1 // the manifest: it is replaced, not removed
	if err = s.removeFiles(j.files[:last]); err == nil {
		err = s.copyManifest(log, j.v.Head.Bytes)
	}
	if err != nil {
		s.markSuspect(log)
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
			_ = j.s.fs.Remove(path.Join(dir, name))
		}
		_ = j.s.fs.Remove(dir)
	}
	return j.s.fs.SyncDir(path.Dir(j.r.Log.Root), osfs.Durable)
}

// removeFiles removes files that exist elsewhere as well, and syncs their directories.
func (s *Store) removeFiles(names []string) error {
	var dirs []string
	for _, name := range names {
		if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	var syncs []func() error
	for _, dir := range dirs {
		syncs = append(syncs, func() error { return s.fs.SyncDir(dir, osfs.Durable) })
	}
	return s.fs.SyncAll(syncs...)
}

// quarantineFiles moves the files of out.Steps, which belong to the store itself, to the
// quarantine. owner is the store id.
func (s *Store) quarantineFiles(owner string, n repairRecord, out ports.RepairResult) error {
	a, err := s.newQuarantineEntry(owner, ".", n.AtMs)
	if err != nil {
		return err
	}
	var names []string
	for _, step := range out.Steps {
		names = append(names, step.From)
	}
	n.Findings, n.Steps = out.Verdict.Findings, out.Steps
	if err = a.writeRecord(n); err == nil {
		err = a.copyFiles(names)
	}
	if err == nil {
		err = a.syncAll()
	}
	if err != nil {
		a.undo()
		return err
	}
	return s.removeFiles(names)
}
