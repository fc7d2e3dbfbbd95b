package arrive

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/osfs"
)

const (
	// arrivalBatchMax is how many files of an import are synced in parallel: each is open, and
	// larger batches save little.
	arrivalBatchMax = 64
	// reliedMax is how many objects are placed before their directories are synced. It bounds the
	// names that are remembered for a failed sync, independent of the size of the import.
	reliedMax = 1024
)

// staged is a written file that waits for its sync. A file of the staged directory has its final
// name already; an object is placed after the sync.
type staged struct {
	file    osfs.File
	temp    string               // "" for a file of the staged directory
	name    string               // final name of an object
	replace bool                 // the stored bytes are wrong
	same    func() (bool, error) // compares the object that another process placed
}

// write creates a file of the staged directory. A name that exists was passed twice: INTERNAL.
func (a *arrival) write(name string, b []byte) error {
	f, err := a.s.d.Open(name, osfs.New)
	if errors.Is(err, fs.ErrExist) {
		return fault.Wrap(err, fault.Internal, "%s was passed twice", path.Base(name))
	}
	if err != nil {
		return err
	}
	a.unflushed = append(a.unflushed, &staged{file: f})
	if _, err := f.Write(b); err != nil {
		return err
	}
	return a.flushFull()
}

// stage creates the temporary file of an object.
func (a *arrival) stage(name string) (*staged, error) {
	temp, f, made, err := a.s.d.OpenTemp(path.Dir(name))
	if err != nil {
		return nil, err
	}
	a.relied.Add(made...)
	st := &staged{file: f, temp: temp, name: name}
	a.unflushed = append(a.unflushed, st)
	return st, nil
}

// flushFull flushes once the batch is full.
func (a *arrival) flushFull() error {
	if len(a.unflushed) < arrivalBatchMax {
		return nil
	}
	return a.flush()
}

// flush syncs the batch in parallel, closes the files and places the objects: the number of open
// files and the memory do not grow with the import.
//
// After an error the files are closed, and End removes the temporary ones that were not placed.
func (a *arrival) flush() error {
	var syncs []func() error
	for _, st := range a.unflushed {
		syncs = append(syncs, func() error { return st.file.Sync(osfs.Order) })
	}
	err := a.s.d.SyncAll(syncs...)
	for _, st := range a.unflushed {
		err = errors.Join(err, st.file.Close())
		st.file = nil
	}
	if err != nil {
		return err
	}
	for _, st := range a.unflushed {
		if st.temp == "" {
			continue
		}
		placed, err := a.s.commit.PlaceObject(st.temp, st.name, st.replace, st.same)
		if err != nil {
			return err
		}
		if !placed {
			_ = a.s.d.Remove(st.temp)
		}
		st.temp = ""
		if err := a.addRelied(st.name); err != nil {
			return err
		}
	}
	a.unflushed = a.unflushed[:0]
	return nil
}

// addRelied adds an object that the commit relies on, and syncs their directories from time to
// time.
func (a *arrival) addRelied(name string) error {
	if dir := path.Dir(name); !slices.Contains(a.objectDirs, dir) {
		a.objectDirs = append(a.objectDirs, dir)
	}
	a.relied.Add(name)
	if a.reliedCount++; a.reliedCount < reliedMax {
		return nil
	}
	return a.syncRelied(nil)
}

// syncRelied syncs the directories of the relied objects and runs the syncs in more.
func (a *arrival) syncRelied(more []func() error) error {
	err := a.s.d.SyncAll(append(a.s.d.SyncsFor(&a.relied), more...)...)
	if err != nil {
		a.markUnsynced()
	}
	a.relied, a.reliedCount = disk.Entries{}, 0
	return err
}

// markUnsynced rewrites the objects that a failed sync may have lost, since other logs may rely on
// them. When that fails the staged directory is kept, and the next import rewrites them.
func (a *arrival) markUnsynced() {
	for _, dir := range a.objectDirs {
		for _, name := range a.relied.Names[dir] {
			if a.s.d.RewriteFromDisk(name) {
				a.s.d.SetSyncFailed([]string{name}, false)
			} else {
				a.keepStaged = true
			}
		}
	}
}

// sourceError marks an error of the reader that the caller passed, so that do returns it unchanged.
type sourceError struct{ error }

// Object implements ports.SessionImport. ref is the digest of the bytes of r; other bytes are
// STORE_CORRUPT, more than the bound of the kind STORE_LIMIT.
func (a *arrival) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	return a.do(ctx, func() error {
		name := path.Join(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
		if kind == manifest.Artifact {
			// An import must not restore bytes that were erased here by a decision of the user.
			data, erased, err := a.s.read.Tombstone(ctx, ref)
			if err != nil && !fault.Is(err, fault.StoreCorrupt) {
				return err
			}
			if err != nil || erased && !read.IsImported(data) {
				return a.skip(ctx, kind, ref, r, name+layout.ErasedSuffix)
			}
		}
		whole, wrong, err := a.checkExisting(name, kind, ref)
		if err != nil {
			return err
		}
		if whole {
			return a.skip(ctx, kind, ref, r, name)
		}
		st, err := a.stage(name)
		if err != nil {
			return err
		}
		st.replace = wrong
		st.same = func() (bool, error) { return a.fileMatches(name, kind, ref) }
		if err := a.receive(ctx, st.file, kind, ref, r); err != nil {
			return err
		}
		return a.flushFull()
	})
}

// skip reads and checks the bytes of an object that is not stored, since name exists and is kept.
func (a *arrival) skip(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader,
	name string) error {
	if err := a.receive(ctx, nil, kind, ref, r); err != nil {
		return err
	}
	return a.relyOnExisting(name)
}

// relyOnExisting relies on a stored file; one that may exist in memory only is rewritten first.
func (a *arrival) relyOnExisting(name string) error {
	if a.unsynced || a.s.d.MayBeUnsynced(name) {
		if !a.s.d.RewriteFromDisk(name) {
			return fault.New(fault.StoreIO, "%s may be lost by a power cut, and could not be written again", name).
				With("path", name)
		}
		a.s.d.SetSyncFailed([]string{name}, false)
	}
	return a.addRelied(name)
}

// checkExisting is compareObject for bytes that are not in memory: whole is a stored object that is
// kept, wrong one that is replaced.
//
// A stored object that may be unsynced counts as wrong, so that it is rewritten.
func (a *arrival) checkExisting(
	name string,
	kind manifest.ObjectKind,
	ref canon.Digest,
) (whole, wrong bool, err error) {
	same, err := a.fileMatches(name, kind, ref)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	whole = same && !a.unsynced && !a.s.d.MayBeUnsynced(name)
	return whole, !whole, err
}

// fileMatches hashes the file at a name and compares the digest: its size and times prove nothing.
func (a *arrival) fileMatches(name string, kind manifest.ObjectKind, ref canon.Digest) (bool, error) {
	f, err := a.s.d.Open(name, osfs.Read)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	// One byte more than the bound: a longer file is not an object.
	n, err := io.CopyBuffer(onlyWriter{sum}, io.NewSectionReader(f, 0, int64(layout.ObjectBytesMax(kind))+1), a.buf)
	return err == nil && n <= int64(layout.ObjectBytesMax(kind)) && canon.DigestOf([sha256.Size]byte(sum.Sum(nil))) == ref, err
}

// onlyWriter hides other methods of a writer, so that io.CopyBuffer uses the buffer it is given.
type onlyWriter struct{ io.Writer }

// receive reads r to its end and checks bound and digest, also when the bytes are not needed (to is
// nil): wrong bytes are an error in every case.
func (a *arrival) receive(ctx context.Context, to osfs.File, kind manifest.ObjectKind, ref canon.Digest,
	r io.Reader) error {
	sum := sha256.New()
	most := int64(layout.ObjectBytesMax(kind))
	for n := int64(0); ; {
		m, err := r.Read(a.buf)
		if n += int64(m); n > most {
			return fault.New(fault.StoreLimit, "%s %s has more than %d bytes, the most that a store accepts", kind,
				ref, most)
		}
		sum.Write(a.buf[:m])
		if to != nil && m > 0 {
			if _, err := to.Write(a.buf[:m]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if canon.DigestOf([sha256.Size]byte(sum.Sum(nil))) != ref {
				return fault.New(fault.StoreCorrupt, "the bytes of %s %s do not have that digest", kind, ref)
			}
			return nil
		case err != nil:
			return sourceError{err}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
