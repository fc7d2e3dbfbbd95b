package filestore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
)

// incoming is a file on its way to its name.
type incoming struct {
	dir, name string
	bytes     []byte
	segment   bool
	installed bool // of bytes that somebody may erase meanwhile

	there   bool // the right bytes stand at the name already
	damaged bool // wrong bytes do
	temp    string
	file    osfs.File
}

func (in *incoming) path() string { return path.Join(in.dir, in.name) }

// entries are names that a commit relies on, by the directories to sync for them.
type entries struct {
	dirs  []string
	names map[string][]string
}

func (e *entries) add(names ...string) {
	for _, name := range names {
		dir := path.Dir(name)
		if !slices.Contains(e.dirs, dir) {
			e.dirs = append(e.dirs, dir)
		}
		if e.names == nil {
			e.names = map[string][]string{}
		}
		e.names[dir] = append(e.names[dir], name)
	}
}

func objectBytesMax(kind manifest.ObjectKind) int {
	if kind == manifest.Snapshot {
		return limits.SnapshotBytesMax
	}
	return limits.ArtifactBytesMax
}

func incomingObjects(objects []manifest.Object) (out []*incoming, err error) {
	for _, o := range objects {
		if n, most := len(o.Bytes), objectBytesMax(o.Kind); n > most {
			return nil, fault.New(fault.StoreLimit, "%s of %d bytes: a store takes at most %d", o.Kind, n, most)
		}
		in := &incoming{dir: manifest.ObjectDir(o.Kind), name: manifest.ObjectName(o.Kind, o.Ref()), bytes: o.Bytes,
			installed: o.Kind == manifest.Installed}
		// Two events may refer to one object; its file is written once.
		if !slices.ContainsFunc(out, func(other *incoming) bool { return other.path() == in.path() }) {
			out = append(out, in)
		}
	}
	return out, nil
}

// stage writes what is not there yet beside its name, and syncs it: the first
// barrier. Bytes are durable before a name leads to them.
func (a *appending) stage() error {
	defer a.dropTemps()
	for _, in := range a.incoming {
		if !in.segment {
			if err := a.look(in); err != nil {
				return err
			}
		}
		if !in.there {
			if err := a.writeTemp(in); err != nil {
				return err
			}
		}
		a.relied.add(in.path())
	}
	// All are written before any is synced: the disk takes them in one go, and as
	// many flushes as there are files cost little more than one.
	var syncs []func() error
	for _, in := range a.incoming {
		if in.file != nil {
			syncs = append(syncs, func() error { return in.file.Sync(osfs.Order) })
		}
	}
	if err := a.s.fs.Together(syncs...); err != nil {
		return err
	}
	for _, in := range a.incoming {
		if !in.there {
			if err := a.place(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// look compares an object that is there with ours. One whose folder may have failed
// to sync is moved in anew: its entry may be in memory only, and another sync of
// the same folder would not say so (R7).
func (a *appending) look(in *incoming) error {
	if in.installed {
		// They were read before the use lock was taken: somebody may have erased them since.
		if err := a.s.erased(canon.Sum(in.bytes)); err != nil {
			return err
		}
	}
	same, err := a.s.holds(in.path(), in.bytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	in.there = same && !a.doubtful && !a.s.doubts(in.path())
	in.damaged = !in.there // or as good as: it is replaced
	return nil
}

// holds compares bytes, not sizes and times: what stat says is no evidence.
func (s *Store) holds(name string, want []byte) (bool, error) {
	have, err := s.readFile(name, int64(len(want)))
	return bytes.Equal(have, want), err
}

func (a *appending) writeTemp(in *incoming) (err error) {
	var made []string
	in.temp, in.file, made, err = a.s.openTemp(in.dir)
	a.relied.add(made...)
	if err == nil {
		_, err = in.file.Write(in.bytes)
	}
	return err
}

// openTemp opens a file that will get a name in dir. A folder of the skeleton may be
// gone: tools that copy stores leave out empty folders. It is made again, and its own
// entry becomes part of the commit.
func (s *Store) openTemp(dir string) (temp string, f osfs.File, made []string, err error) {
	if temp, err = s.tempName(dir); err != nil {
		return "", nil, nil, err
	}
	f, err = s.fs.Open(temp, osfs.New)
	if errors.Is(err, fs.ErrNotExist) {
		if made, err = s.mkdirs(dir); err != nil {
			return temp, nil, nil, err
		}
		f, err = s.fs.Open(temp, osfs.New)
	}
	return temp, f, made, err
}

// place gives a synced file its name.
func (a *appending) place(in *incoming) (err error) {
	placed := true
	if in.segment {
		err = a.s.fs.Place(in.temp, in.path())
		if errors.Is(err, fs.ErrExist) {
			err = a.placeAgain(in)
		}
	} else {
		placed, err = a.s.placeObject(in.temp, in.path(), in.damaged,
			func() (bool, error) { return a.s.holds(in.path(), in.bytes) })
	}
	if err == nil && placed {
		in.temp = ""
	}
	return err
}

// placeObject gives a synced object its name. A name that is taken is looked at:
// another writer may have brought the same object meanwhile, and then the temporary
// file is not needed.
func (s *Store) placeObject(temp, name string, replace bool, same func() (bool, error)) (placed bool, err error) {
	if replace {
		return true, s.fs.Replace(temp, name)
	}
	err = s.fs.Place(temp, name)
	if !errors.Is(err, fs.ErrExist) {
		return true, err
	}
	if kept, err := same(); kept || err != nil {
		return false, err
	}
	return true, s.fs.Replace(temp, name)
}

// placeAgain: a name that is taken is an orphan's, and the note that promised there
// was none came from before a power cut; or else somebody writes without the lock,
// and what stands there may be committed. The head tells.
func (a *appending) placeAgain(in *incoming) error {
	if err := a.reopen(); err != nil {
		return err
	}
	if err := a.compare(context.Background()); err != nil {
		return err
	}
	if err := a.quarantineOrphans(); err != nil {
		return err
	}
	return a.s.fs.Place(in.temp, in.path())
}

// dropTemps closes what was staged, and removes what never got its name. What
// cannot be removed is left to gc: no reader looks at such names.
func (a *appending) dropTemps() {
	for _, in := range a.incoming {
		if in.file != nil {
			_ = in.file.Close()
			in.file = nil
		}
		if in.temp != "" {
			_ = a.s.fs.Remove(in.temp)
			in.temp = ""
		}
	}
}
