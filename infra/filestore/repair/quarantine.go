package repair

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Quarantine copies the files that the steps of a record move, with the record, to a new directory in the quarantine,
// and makes them durable there. Only then the caller removes the originals: a move between two directories may be lost
// in one and durable in the other, and would lose the bytes. Paths in the directory are relative to base. After an
// error the copies are removed, and every original is in place.
//
// The directory contains the files under their relative paths and the record, for example:
//
//	quarantine/sess_….1730000000000/repair.json
//	quarantine/sess_….1730000000000/manifest.jsonl
//	quarantine/sess_….1730000000000/events/…
func Quarantine(d *disk.Disk, base string, n Record) (dir string, err error) {
	if dir, err = d.QuarantineName(n.Owner, n.AtMs); err != nil {
		return "", err
	}
	e := &entry{d: d, base: base, dir: dir, dirs: []string{"."}}
	if err = e.mkdirs(dir); err != nil {
		return "", err
	}
	setTargets(n.Steps, base, dir)
	if err = e.writeRecord(n); err == nil {
		err = e.copyFiles(moved(n.Steps))
	}
	if err == nil {
		// Until this returned nil no original may be removed.
		err = d.SyncDirs(osfs.Durable, e.dirs...)
	}
	if err != nil {
		e.undo()
	}
	return dir, err
}

// moved returns the files that steps move to the quarantine.
func moved(steps []ports.RepairStep) (names []string) {
	for _, step := range steps {
		if step.What == ports.MoveToQuarantine {
			names = append(names, step.From)
		}
	}
	return names
}

// setTargets sets the targets of the steps that move files of base to dir.
func setTargets(steps []ports.RepairStep, base, dir string) {
	for i, step := range steps {
		if step.What == ports.MoveToQuarantine {
			steps[i].To = target(base, dir, step.From)
		}
	}
}

// target is the path of a file of base in dir: its path relative to base is kept.
func target(base, dir, name string) string {
	if base == "." {
		return path.Join(dir, name)
	}
	return path.Join(dir, strings.TrimPrefix(name, base))
}

// entry is a directory in the quarantine that is being filled.
type entry struct {
	d    *disk.Disk
	base string   // a session's directory or ".": paths in the entry are relative to it
	dir  string   // quarantine/<owner>.<ms>
	dirs []string // directories to sync, "." and quarantine among them
	made []string // files and directories that were created, in this order
}

// mkdirs creates a directory of the entry, with its parents. Only the quarantine itself may exist.
func (e *entry) mkdirs(dir string) error {
	if slices.Contains(e.dirs, dir) {
		return nil
	}
	if err := e.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	err := e.d.Mkdir(dir)
	if err == nil {
		e.made = append(e.made, dir)
	} else if dir != layout.QuarantineDir || !errors.Is(err, fs.ErrExist) {
		return err
	}
	e.dirs = append(e.dirs, dir)
	return nil
}

// copyBatchMax is how many copies are synced in parallel: each is an open file.
const copyBatchMax = 32

// copyFiles copies regular files, and moves links and special files.
//
// Batches bound the number of open files, independent of the number of segments of the log.
func (e *entry) copyFiles(names []string) error {
	for group := range slices.Chunk(names, copyBatchMax) {
		if err := e.copyBatch(group); err != nil {
			return err
		}
	}
	return nil
}

// copyBatch copies files and syncs the copies.
func (e *entry) copyBatch(names []string) (err error) {
	var files []osfs.File
	for _, name := range names {
		var f osfs.File
		if f, err = e.copy(name); f != nil {
			files = append(files, f)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = disk.SyncFiles(e.d, files)
	}
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// copy writes one copy and returns it open and unsynced; nil where nothing has to be synced.
func (e *entry) copy(name string) (osfs.File, error) {
	to := target(e.base, e.dir, name)
	if err := e.mkdirs(path.Dir(to)); err != nil {
		return nil, err
	}
	from, err := e.d.Open(name, osfs.Read)
	switch {
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular):
		e.dirs = append(e.dirs, path.Dir(name))
		return nil, e.d.Place(name, to) // a link or a pipe has no bytes of its own
	case err != nil:
		// A missing file was removed in between; it is no file of a writer, since writers are locked out.
		return nil, disk.UnlessMissing(err)
	}
	defer from.Close()
	f, err := e.d.Open(to, osfs.New)
	if err != nil {
		return nil, err
	}
	e.made = append(e.made, to)
	_, err = disk.CopySparse(f, from)
	return f, err
}

// undo removes the copies, ignoring errors: a failed attempt leaves every original in place, and a
// directory that failed to sync must not be relied on later (docs/design.md#failed-sync).
func (e *entry) undo() {
	for _, name := range slices.Backward(e.made) {
		_ = e.d.Remove(name)
	}
}
