package commit

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// pendingFile is an object or segment that an append writes: first to a temporary file, then placed
// at its final name.
//
// The states are: not written (file nil, temp ""), written (file open, temp set), and placed or
// dropped (temp "").
type pendingFile struct {
	dir, name string
	bytes     []byte
	segment   bool
	installed bool // its bytes may be erased before the commit

	present bool // the right bytes are stored at the name already
	damaged bool // wrong or unsynced bytes are: they are replaced
	temp    string
	file    osfs.File
}

// path is the final name, relative to the store.
func (in *pendingFile) path() string { return path.Join(in.dir, in.name) }

// pendingObjects converts the objects of a plan. One above its bound is STORE_LIMIT.
func pendingObjects(objects []manifest.Object) (out []*pendingFile, err error) {
	for _, o := range objects {
		if n, most := len(o.Bytes), layout.ObjectBytesMax(o.Kind); n > most {
			return nil, fault.New(fault.StoreLimit, "%s of %d bytes: a store accepts at most %d", o.Kind, n, most)
		}
		in := &pendingFile{dir: manifest.ObjectDir(o.Kind), name: manifest.ObjectName(o.Kind, o.Ref()), bytes: o.Bytes,
			installed: o.Kind == manifest.Installed}
		// Two events may refer to one object; its file is written once.
		if !slices.ContainsFunc(out, func(other *pendingFile) bool { return other.path() == in.path() }) {
			out = append(out, in)
		}
	}
	return out, nil
}

// stage writes the files that are missing to temporary names, syncs them and places them: the first
// barrier of Append. Bytes are durable before a name refers to them.
//
// Objects that are stored already, with equal bytes, are not written again, but they are part of
// the names that the second barrier syncs.
func (a *appendOp) stage() error {
	defer a.dropTemps()
	for _, in := range a.incoming {
		if !in.segment {
			if err := a.compareObject(in); err != nil {
				return err
			}
		}
		if !in.present {
			if err := a.writeTemp(in); err != nil {
				return err
			}
		}
		a.relied.Add(in.path())
	}
	// All files are written before any is synced: the disk accepts them together, and as many
	// flushes as there are files cost little more than one.
	var syncs []func() error
	for _, in := range a.incoming {
		if in.file != nil {
			syncs = append(syncs, func() error { return in.file.Sync(osfs.Order) })
		}
	}
	if err := a.s.d.SyncAll(syncs...); err != nil {
		return err
	}
	for _, in := range a.incoming {
		if !in.present {
			if err := a.place(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareObject compares a stored object with the bytes of the plan and sets present or damaged. An
// object whose directory may have failed to sync is replaced: its entry may exist in memory only,
// and another sync of the same directory would not report that (docs/design.md#failed-sync).
func (a *appendOp) compareObject(in *pendingFile) error {
	if in.installed {
		// The bytes were read before the use lock was taken: they may have been erased since.
		if err := a.s.read.ErasedFault(canon.Sum(in.bytes)); err != nil {
			return err
		}
	}
	same, err := a.s.d.FileEquals(in.path(), in.bytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	in.present = same && !a.unsynced && !a.s.d.MayBeUnsynced(in.path())
	in.damaged = !in.present // or unsynced: it is replaced in both cases
	return nil
}

// WriteTemp writes the bytes of one file to a temporary name, which stays open for stage to sync.
func (a *appendOp) writeTemp(in *pendingFile) (err error) {
	var made []string
	in.temp, in.file, made, err = a.s.d.OpenTemp(in.dir)
	a.relied.Add(made...)
	if err == nil {
		_, err = in.file.Write(in.bytes)
	}
	return err
}

// place gives a synced file its final name.
func (a *appendOp) place(in *pendingFile) (err error) {
	placed := true
	if in.segment {
		err = a.s.d.Place(in.temp, in.path())
		if errors.Is(err, fs.ErrExist) {
			err = a.placeOverOrphan(in)
		}
	} else {
		placed, err = a.s.PlaceObject(in.temp, in.path(), in.damaged,
			func() (bool, error) { return a.s.d.FileEquals(in.path(), in.bytes) })
	}
	if err == nil && placed {
		in.temp = ""
	}
	return err
}

// PlaceObject gives a synced object its final name. With replace the stored bytes are known to be
// wrong. Otherwise another writer may have stored the same object in between: same compares it, and
// placed is false when the temporary file is not needed.
//
// The caller removes temp when placed is false or err is not nil.
func (c *Committer) PlaceObject(temp, name string, replace bool, same func() (bool, error)) (placed bool, err error) {
	if replace {
		return true, c.d.Replace(temp, name)
	}
	err = c.d.Place(temp, name)
	if !errors.Is(err, fs.ErrExist) {
		return true, err
	}
	if kept, err := same(); kept || err != nil {
		return false, err
	}
	return true, c.d.Replace(temp, name)
}

// placeOverOrphan places a segment whose name is taken. Either an orphan has the name, and the
// clean note that excluded orphans reappeared after a power cut; or a process writes without the
// lock, and the file may be committed. Reading the log again decides: a changed head is
// STORE_CONFLICT, and an orphan is moved to the quarantine.
func (a *appendOp) placeOverOrphan(in *pendingFile) error {
	if err := a.reopen(); err != nil {
		return err
	}
	if err := a.compare(context.Background()); err != nil {
		return err
	}
	if err := a.quarantineOrphans(); err != nil {
		return err
	}
	return a.s.d.Place(in.temp, in.path())
}

// dropTemps closes the temporary files and removes those that were not placed. Files that cannot be
// removed are left to gc: readers ignore such names.
func (a *appendOp) dropTemps() {
	for _, in := range a.incoming {
		if in.file != nil {
			_ = in.file.Close()
			in.file = nil
		}
		if in.temp != "" {
			_ = a.s.d.Remove(in.temp)
			in.temp = ""
		}
	}
}
