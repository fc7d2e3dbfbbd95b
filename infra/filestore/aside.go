package filestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/infra/osfs"
)

// aside is a folder of the quarantine on its way to hold what is taken away from the
// store. Files are copied there, the copies and the way to them are made durable, and
// only then does anybody remove an original: a move between two folders may be lost
// on one side and kept on the other, and would take the bytes with it.
type aside struct {
	s      *Store
	base   string   // where paths in the folder count from: a session's folder, or "."
	folder string   // quarantine/<owner>.<ms>
	dirs   []string // whose entries have to be durable, "." and quarantine among them
	made   []string // files and folders that were made, in this order
}

// asideName is the folder that would be made: the first free one from the moment on.
func (s *Store) asideName(owner string, atMs int64) (string, error) {
	for {
		name := fmt.Sprintf("%s/%s.%d", quarantineDir, owner, atMs)
		_, taken, err := s.stat(name)
		if err != nil || !taken {
			return name, err
		}
		atMs++ // two repairs in one millisecond, or a clock that was put back
	}
}

// newAside makes the folder.
func (s *Store) newAside(owner, base string, atMs int64) (*aside, error) {
	name, err := s.asideName(owner, atMs)
	if err != nil {
		return nil, err
	}
	a := &aside{s: s, base: base, folder: name, dirs: []string{".", quarantineDir}}
	err = s.fs.Mkdir(quarantineDir)
	if err == nil {
		a.made = append(a.made, quarantineDir)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = s.fs.Mkdir(name)
	}
	if err != nil {
		return nil, err
	}
	a.made, a.dirs = append(a.made, name), append(a.dirs, name)
	return a, nil
}

// to is where a file of the store lies in the folder: under the same relative path.
func (a *aside) to(name string) string { return path.Join(a.folder, a.rel(name)) }

func (a *aside) rel(name string) string {
	if a.base == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, a.base), "/")
}

// batch is how many copies are synced side by side: each is an open file.
const batch = 32

// take copies files, and moves what is none.
func (a *aside) take(names []string) error {
	for group := range slices.Chunk(names, batch) {
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
			err = a.s.fs.Together(syncs...)
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

// copy is one copy, written and not yet synced; nil where there is nothing to sync.
func (a *aside) copy(name string) (osfs.File, error) {
	to := a.to(name)
	if err := a.mkdirs(path.Dir(to)); err != nil {
		return nil, err
	}
	from, err := a.s.fs.Open(name, osfs.Read)
	switch {
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular):
		return nil, a.move(name, to) // a link or a pipe has no bytes of its own
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // it was nobody's: whoever writes here is kept away
	case err != nil:
		return nil, err
	}
	defer from.Close()
	f, err := a.s.fs.Open(to, osfs.New)
	if err != nil {
		return nil, err
	}
	a.made = append(a.made, to)
	b := make([]byte, copyBytes)
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

// copyBytes is how much of a file is held at a time.
const copyBytes = 256 << 10

func (a *aside) move(name, to string) error {
	a.dirs = append(a.dirs, path.Dir(name))
	return a.s.fs.Place(name, to)
}

// mkdirs makes a folder below the aside's own.
func (a *aside) mkdirs(dir string) error {
	if slices.Contains(a.dirs, dir) {
		return nil
	}
	if err := a.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := a.s.fs.Mkdir(dir); err != nil {
		return err
	}
	a.made, a.dirs = append(a.made, dir), append(a.dirs, dir)
	return nil
}

// settle makes everything that was taken durable, and the way to it. Until it has
// said so nothing may be removed.
func (a *aside) settle() error {
	var syncs []func() error
	for _, dir := range a.dirs {
		syncs = append(syncs, func() error { return a.s.fs.SyncDir(dir, osfs.Durable) })
	}
	return a.s.fs.Together(syncs...)
}

// undo takes copies away again, best effort: an attempt that failed left everything
// in its place, and a folder of which a sync failed must not be relied on later (R7).
func (a *aside) undo() {
	for _, name := range slices.Backward(a.made) {
		_ = a.s.fs.Remove(name)
	}
}
