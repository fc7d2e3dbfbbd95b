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

// repairFile says, in a folder of the quarantine, why its files lie there. It stands
// before anything is taken away, so that no crash leaves files without it.
const (
	repairFile = "repair.json"
	repairKind = "repair"
	repairV    = 1
)

// repairNote is what it holds.
type repairNote struct {
	Actor    event.Actor        `json:"actor"`
	AtMs     int64              `json:"atMs"`
	Findings []manifest.Finding `json:"findings"`
	Health   manifest.Health    `json:"health,omitzero"` // of a log, before
	Kept     manifest.Head      `json:"kept,omitzero"`   // the prefix that stays; none of what is no log
	Owner    string             `json:"owner"`
	Root     string             `json:"root"` // of the log; "." for a file of the store's own
	Steps    []ports.RepairStep `json:"steps"`
	More     int64              `json:"more,omitzero"` // steps that are not listed
}

// stepsNoted bounds the list: a control file holds no ten thousand of them, and the
// files themselves lie beside it.
const stepsNoted = 1000

// note leaves word in the folder about what is being done.
func (a *aside) note(n repairNote) error {
	if n.Findings == nil {
		n.Findings = []manifest.Finding{}
	}
	if more := len(n.Steps) - stepsNoted; more > 0 {
		n.Steps, n.More = n.Steps[:stepsNoted], int64(more)
	}
	doc, err := controlfile.New(repairKind, repairV, n)
	if err != nil {
		return err
	}
	name := path.Join(a.folder, repairFile)
	if err := a.s.putControl(name, doc, a.s.fs.Place); err != nil {
		return err
	}
	a.made = append(a.made, name)
	return nil
}

// carryOut does what was planned. Everything that is set aside is durable there before
// any of it leaves its place; the manifest is the last to change, so that a repair that
// was cut off leaves a log that is as damaged as it was, and can be repaired again.
func (j *repairing) carryOut(out ports.Repaired) error {
	s, log := j.s, j.r.Log
	a, err := s.newAside(log.Owner, j.base(), j.r.AtMs)
	if err != nil {
		return err
	}
	err = a.note(repairNote{Actor: j.r.By, AtMs: j.r.AtMs, Findings: j.v.Findings, Health: j.v.Health,
		Kept: j.v.Head, Owner: log.Owner, Root: log.Root, Steps: out.Steps})
	if err == nil {
		err = a.take(j.files)
	}
	if err == nil {
		err = a.settle()
	}
	if err != nil {
		a.undo()
		return err
	}
	if j.whole {
		return j.leave()
	}
	// From here to the end the log is in doubt: who comes next and finds the
	// announcement makes one more copy of the manifest, and is right to (R7).
	own := j.held[0]
	_ = own.SetNote(s.openNote())
	last := len(j.files) - 1 // the manifest: it is replaced
	if err = s.takeAway(j.files[:last]); err == nil {
		err = s.renew(log, j.v.Head.Bytes)
	}
	if err != nil {
		s.markSuspect(log)
		return err
	}
	_ = own.SetNote("") // what the last writer left to say is about what is gone
	return nil
}

// leave removes a folder whose files lie in the quarantine. The log's manifest goes
// when everything else is gone for good: a folder with events and without one, or the
// other way round, is as damaged as it was.
func (j *repairing) leave() error {
	own := path.Join(j.r.Log.Root, manifest.FileName)
	rest := slices.DeleteFunc(slices.Clone(j.files), func(name string) bool { return name == own })
	if err := j.s.takeAway(rest); err != nil {
		return err
	}
	if len(rest) < len(j.files) {
		if err := j.s.takeAway([]string{own}); err != nil {
			return err
		}
	}
	// An empty folder with a lock in it is no session; what of this fails, a cleanup does.
	for _, dir := range slices.Backward(append([]string{j.r.Log.Root}, j.dirs...)) {
		for _, name := range []string{".lock", ".performer.lock"} {
			_ = j.s.fs.Remove(path.Join(dir, name))
		}
		_ = j.s.fs.Remove(dir)
	}
	return j.s.fs.SyncDir(path.Dir(j.r.Log.Root), osfs.Durable)
}

// takeAway removes files that lie somewhere else as well, for good.
func (s *Store) takeAway(names []string) error {
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
	return s.fs.Together(syncs...)
}

// setAside sets files of the store's own aside.
func (s *Store) setAside(owner string, n repairNote, out ports.Repaired) error {
	a, err := s.newAside(owner, ".", n.AtMs)
	if err != nil {
		return err
	}
	var names []string
	for _, step := range out.Steps {
		names = append(names, step.From)
	}
	n.Findings, n.Steps = out.Verdict.Findings, out.Steps
	if err = a.note(n); err == nil {
		err = a.take(names)
	}
	if err == nil {
		err = a.settle()
	}
	if err != nil {
		a.undo()
		return err
	}
	return s.takeAway(names)
}
