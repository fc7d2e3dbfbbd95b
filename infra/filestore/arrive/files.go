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
	// reliedMax is how many names a commit may rely on before their directories are synced. It bounds the
	// names that are remembered for a failed sync, independent of the size of the import.
	reliedMax = 1024
)

// write creates a file of the staged directory. A name that exists was passed twice: INTERNAL.
func (a *arrival) write(name string, content disk.Content) error {
	f, err := a.d.Open(name, osfs.New)
	if errors.Is(err, fs.ErrExist) {
		return fault.Wrap(err, fault.Internal, "%s was passed twice", path.Base(name))
	}
	if err != nil {
		return err
	}
	a.unflushed = append(a.unflushed, &disk.Staged{File: f})
	if err := content(f); err != nil {
		return err
	}
	return a.flushFull()
}

// stage creates the temporary file of an object.
func (a *arrival) stage(f *disk.Staged) error {
	if err := f.Create(a.d, &a.relied); err != nil {
		return err
	}
	a.unflushed = append(a.unflushed, f)
	return nil
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
	err := disk.SyncFiles(a.d, a.unflushed)
	for _, f := range a.unflushed {
		err = errors.Join(err, f.Close())
		f.File = nil
	}
	if err != nil {
		return err
	}
	for _, f := range a.unflushed {
		if f.Name == "" {
			continue
		}
		if err := f.Place(a.d); err != nil {
			return err
		}
		f.Drop(a.d)
		if err := a.addRelied(f.Name); err != nil {
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
	if len(a.relied) < reliedMax {
		return nil
	}
	return a.syncRelied(nil)
}

// syncRelied syncs the directories of the relied objects and runs the syncs in more.
func (a *arrival) syncRelied(more []func() error) error {
	err := a.d.SyncAll(append(a.d.SyncsFor(a.relied), more...)...)
	if err != nil {
		a.markUnsynced()
	}
	a.relied = nil
	return err
}

// markUnsynced rewrites the objects that a failed sync may have lost, since other logs may rely on
// them. When that fails the staged directory is kept, and the next import rewrites them.
func (a *arrival) markUnsynced() {
	for _, name := range a.relied {
		if slices.Contains(a.objectDirs, path.Dir(name)) && !a.d.RewriteFromDisk(name) {
			a.keepStaged = true
		}
	}
}

// Object implements ports.SessionImport. ref is the digest of the bytes of r; other bytes are
// STORE_CORRUPT, more than the bound of the kind STORE_LIMIT.
func (a *arrival) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	return a.do(ctx, func() error {
		name := layout.ObjectPath(kind, ref)
		if kind == manifest.Artifact {
			// An import must not restore bytes that were erased here by a decision of the user.
			data, erased, err := a.read.Tombstone(ctx, ref)
			if err != nil && !fault.Is(err, fault.StoreCorrupt) {
				return err
			}
			if err != nil || erased && !read.IsImported(data) {
				return a.skip(ctx, kind, ref, r, layout.TombstonePath(ref))
			}
		}
		f := &disk.Staged{Name: name, Same: func() (bool, error) { return a.fileMatches(name, kind, ref) }}
		stored, err := f.Stored(a.d, a.unsynced)
		if err != nil {
			return err
		}
		if stored {
			return a.skip(ctx, kind, ref, r, name)
		}
		if err := a.stage(f); err != nil {
			return err
		}
		if err := a.receive(ctx, f, kind, ref, r); err != nil {
			return err
		}
		return a.flushFull()
	})
}

// skip reads and checks the bytes of an object that is not stored, since name exists and is kept.
func (a *arrival) skip(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader,
	name string) error {
	if err := a.receive(ctx, io.Discard, kind, ref, r); err != nil {
		return err
	}
	return a.relyOnExisting(name)
}

// relyOnExisting relies on a stored file; one that may exist in memory only is rewritten first.
func (a *arrival) relyOnExisting(name string) error {
	if (a.unsynced || a.d.MayBeUnsynced(name)) && !a.d.RewriteFromDisk(name) {
		return fault.New(fault.StoreIO, "%s may be lost by a power cut, and could not be written again", name).
			With("path", name)
	}
	return a.addRelied(name)
}

// fileMatches hashes the file at a name and compares the digest: its size and times prove nothing.
func (a *arrival) fileMatches(name string, kind manifest.ObjectKind, ref canon.Digest) (bool, error) {
	f, err := a.d.Open(name, osfs.Read)
	if err != nil {
		return false, err
	}
	defer f.Close()
	most := int64(layout.ObjectBytesMax(kind))
	sum, n, err := disk.Hash(f, most+1) // one byte more than the bound: a longer file is not an object
	return err == nil && n <= most && sum == ref.Raw(), err
}

// source reads the bytes that the caller passed. Errors of the reader are returned unchanged.
type source struct {
	io.Reader
	canceled func() error // the error of the caller's context
}

// Read implements io.Reader.
func (s source) Read(p []byte) (int, error) {
	if err := s.canceled(); err != nil {
		return 0, err
	}
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		return n, io.EOF
	}
	return n, disk.Unchanged(err)
}

// receive reads r to its end and checks bound and digest, also when the bytes are not needed and
// discarded: wrong bytes are an error in every case.
func (a *arrival) receive(ctx context.Context, to io.Writer, kind manifest.ObjectKind, ref canon.Digest,
	r io.Reader) error {
	sum := sha256.New()
	most := int64(layout.ObjectBytesMax(kind))
	n, err := disk.Copy(io.MultiWriter(sum, to), io.LimitReader(source{r, ctx.Err}, most+1))
	switch {
	case err != nil:
		return err
	case n > most:
		return fault.New(fault.StoreLimit, "%s %s has more than %d bytes, the most that a store accepts", kind, ref,
			most)
	case [sha256.Size]byte(sum.Sum(nil)) != ref.Raw():
		return fault.New(fault.StoreCorrupt, "the bytes of %s %s do not have that digest", kind, ref)
	}
	return nil
}
