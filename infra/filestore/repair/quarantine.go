package repair

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// Entry is a directory in the quarantine that receives files of the store. Files are
// copied, the copies and the path to them are made durable, and only then the caller removes the
// originals: a move between two directories may be lost in one and durable in the other, and would
// lose the bytes.
//
// An entry contains the files under their relative paths and a record of the repair, for example:
//
//	quarantine/sess_….1730000000000/repair.json
//	quarantine/sess_….1730000000000/manifest.jsonl
//	quarantine/sess_….1730000000000/events/…
//
// The calls are, in this order: newQuarantineEntry, writeRecord, copyFiles, syncAll; undo after an
// error of any of them.
type Entry struct {
	s    *Repairer
	base string   // a session's directory or ".": paths in the entry are relative to it
	Dir  string   // quarantine/<owner>.<ms>
	dirs []string // directories to sync, "." and quarantine among them
	made []string // files and directories that were created, in this order
}

// NewEntry creates the directory. base is where relative paths start, owner a session or
// store id.
func (r *Repairer) NewEntry(owner, base string, atMs int64) (*Entry, error) {
	name, err := r.d.QuarantineName(owner, atMs)
	if err != nil {
		return nil, err
	}
	a := &Entry{s: r, base: base, Dir: name, dirs: []string{".", layout.QuarantineDir}}
	err = r.d.Mkdir(layout.QuarantineDir)
	if err == nil {
		a.made = append(a.made, layout.QuarantineDir)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = r.d.Mkdir(name)
	}
	if err != nil {
		return nil, err
	}
	a.made, a.dirs = append(a.made, name), append(a.dirs, name)
	return a, nil
}

// Target is the path of a file in the entry: its path relative to base is kept.
func (a *Entry) Target(name string) string { return path.Join(a.Dir, a.rel(name)) }

// rel is name relative to base.
func (a *Entry) rel(name string) string {
	if a.base == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, a.base), "/")
}

// copyBatchMax is how many copies are synced in parallel: each is an open file.
const copyBatchMax = 32

// CopyFiles copies regular files, and moves links and special files. After an error the caller
// calls undo.
//
// Batches bound the number of open files, independent of the number of segments of the log.
func (a *Entry) CopyFiles(names []string) error {
	for group := range slices.Chunk(names, copyBatchMax) {
		var files []osfs.File
		var err error
		for _, name := range group {
			var f osfs.File
			if f, err = a.copy(name); f != nil {
				files = append(files, f)
			}
			if err != nil {
				break
			}
		}
		var syncs []func() error
		for _, f := range files {
			syncs = append(syncs, func() error { return f.Sync(osfs.Order) })
		}
		if err == nil {
			err = a.s.d.SyncAll(syncs...)
		}
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copy writes one copy and returns it open and unsynced; nil where nothing has to be synced.
func (a *Entry) copy(name string) (osfs.File, error) {
	to := a.Target(name)
	if err := a.mkdirs(path.Dir(to)); err != nil {
		return nil, err
	}
	from, err := a.s.d.Open(name, osfs.Read)
	switch {
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular):
		return nil, a.move(name, to) // a link or a pipe has no bytes of its own
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // removed in between; it is no file of a writer, since writers are locked out
	case err != nil:
		return nil, err
	}
	defer from.Close()
	f, err := a.s.d.Open(to, osfs.New)
	if err != nil {
		return nil, err
	}
	a.made = append(a.made, to)
	b := make([]byte, disk.CopyBytes)
	for at := int64(0); ; {
		n, readErr := from.ReadAt(b, at)
		if n > 0 {
			if _, err := f.Write(b[:n]); err != nil {
				return f, err
			}
			at += int64(n)
		}
		if errors.Is(readErr, io.EOF) {
			return f, nil
		}
		if readErr != nil {
			return f, readErr
		}
	}
}

// move renames a link or special file into the entry; its old directory is synced with the rest.
func (a *Entry) move(name, to string) error {
	a.dirs = append(a.dirs, path.Dir(name))
	return a.s.d.Place(name, to)
}

// Mkdirs creates a directory below the entry, with its parents.
func (a *Entry) mkdirs(dir string) error {
	if slices.Contains(a.dirs, dir) {
		return nil
	}
	if err := a.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := a.s.d.Mkdir(dir); err != nil {
		return err
	}
	a.made, a.dirs = append(a.made, dir), append(a.dirs, dir)
	return nil
}

// SyncAll makes all copies and the path to them durable. Until it returned nil no original may be
// removed.
func (a *Entry) SyncAll() error {
	var syncs []func() error
	for _, dir := range a.dirs {
		syncs = append(syncs, func() error { return a.s.d.SyncDir(dir, osfs.Durable) })
	}
	return a.s.d.SyncAll(syncs...)
}

// Undo removes the copies, ignoring errors: a failed attempt leaves every original in place, and a
// directory that failed to sync must not be relied on later (docs/design.md#failed-sync).
func (a *Entry) Undo() {
	for _, name := range slices.Backward(a.made) {
		_ = a.s.d.Remove(name)
	}
}
