package commit

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/ports"
)

// pendingFile is an object or segment that an append writes.
type pendingFile struct {
	disk.Staged
	bytes     []byte
	segment   bool
	installed bool // its bytes may be erased before the commit
	present   bool // the right bytes are stored at the name already
}

// addObjects adds the objects of a plan. One above its bound is STORE_LIMIT.
func (a *appendOp) addObjects(objects []manifest.Object) error {
	for _, o := range objects {
		if n, most := len(o.Bytes), layout.ObjectBytesMax(o.Kind); n > most {
			return fault.New(fault.StoreLimit, "%s of %d bytes: a store accepts at most %d", o.Kind, n, most)
		}
		name := layout.ObjectPath(o.Kind, o.Ref())
		// Two events may refer to one object; its file is written once.
		if slices.ContainsFunc(a.incoming, func(other *pendingFile) bool { return other.Name == name }) {
			continue
		}
		same := func() (bool, error) { return a.d.FileEquals(name, o.Bytes) }
		a.incoming = append(a.incoming, &pendingFile{Staged: disk.Staged{Name: name, Same: same}, bytes: o.Bytes,
			installed: o.Kind == manifest.Installed})
	}
	return nil
}

// stage writes the files that are missing to temporary names, syncs them and places them: the first
// barrier of Append. Bytes are durable before a name refers to them.
//
// Objects that are stored already, with equal bytes, are not written again, but they are part of
// the names that the second barrier syncs.
func (a *appendOp) stage(ctx context.Context) error {
	defer a.dropTemps()
	var files []*pendingFile
	for _, in := range a.incoming {
		if err := a.write(in); err != nil {
			return err
		}
		if !in.present {
			files = append(files, in)
		}
		a.relied.Add(in.Name)
	}
	// All files are written before any is synced.
	leave := ports.Enter(ctx, ports.Syncing)
	err := disk.SyncFiles(a.d, files)
	if leave(); err != nil {
		return err
	}
	for _, in := range files {
		if err := a.place(in); err != nil {
			return err
		}
	}
	return nil
}

// write writes the bytes of one file to a temporary name, which stays open for stage to sync. An object that is stored
// with the same bytes is present, and not written.
func (a *appendOp) write(in *pendingFile) (err error) {
	if in.installed {
		// The bytes were read before the use lock was taken: they may have been erased since.
		err = read.ErasedFault(a.d, canon.Sum(in.bytes))
	}
	if err == nil && !in.segment {
		in.present, err = in.Stored(a.d, a.unsynced)
	}
	if err != nil || in.present {
		return err
	}
	if err = in.Create(a.d, &a.relied); err == nil {
		_, err = in.Write(in.bytes)
	}
	return err
}

// place gives a synced file its final name.
func (a *appendOp) place(in *pendingFile) error {
	err := in.Place(a.d)
	if in.segment && errors.Is(err, fs.ErrExist) {
		err = a.placeOverOrphan(in)
	}
	return err
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
	return in.Place(a.d)
}

// dropTemps removes the temporary files that were not placed.
func (a *appendOp) dropTemps() {
	for _, in := range a.incoming {
		in.Drop(a.d)
	}
}
