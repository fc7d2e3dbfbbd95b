package filestore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// controlName is what callers may name: a file of the store's own folder.
var controlName = pattern.New(`^[a-z]{1,32}\.json$`)

// ReadControl reads a control file, config.json or trust.json; ok is false when
// it is not there. A damaged one is STORE_CORRUPT.
func (s *Store) ReadControl(ctx context.Context, name, kind string) (doc controlfile.Document, ok bool, err error) {
	// Names come from our own code; one that does not fit would be a way out of the
	// store's folder, and is a bug.
	if !controlName.MatchString(name) {
		return doc, false, fault.New(fault.Internal, "%q is no control file", name)
	}
	if err := ctx.Err(); err != nil {
		return doc, false, readFault(err)
	}
	return s.readControl(name, kind)
}

// UpdateControl replaces a control file by what change makes of it, durably; no
// other update comes in between. Absent ones are handed over as zero documents.
func (s *Store) UpdateControl(ctx context.Context, name, kind string,
	change func(controlfile.Document) (controlfile.Document, error)) error {
	if !controlName.MatchString(name) || name == storeFile {
		return fault.New(fault.Internal, "%q is no control file to be changed", name)
	}
	if _, err := s.toWrite(); err != nil {
		return err
	}
	// The lock that cleanups take serves: both are rare and short.
	held, err := s.locks.Acquire(ctx, useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return busyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	// Read under the lock: what change sees is what it replaces.
	old, _, err := s.readControl(name, kind)
	if err != nil {
		return err
	}
	next, err := change(old)
	if err != nil {
		return err
	}
	return writeFault(s.putControl(name, next, s.fs.Replace))
}

// WriteControl is UpdateControl for callers whose document does not depend on
// what was there.
func (s *Store) WriteControl(ctx context.Context, name string, doc controlfile.Document) error {
	return s.UpdateControl(ctx, name, doc.Kind, func(controlfile.Document) (controlfile.Document, error) {
		return doc,
			nil
	})
}

func (s *Store) readControl(name, kind string) (doc controlfile.Document, ok bool, err error) {
	b, err := s.readFile(name, limits.ControlFileBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, false, nil
	}
	if err != nil {
		return doc, false, readFault(err)
	}
	if doc, err = controlfile.Decode(b, kind); err != nil {
		return doc, false, corrupt(name, "%v", err)
	}
	return doc, true, nil
}

// putControl writes a document beside its name, syncs it, moves it there and
// syncs the folder: whoever reads sees the old one or the new one.
func (s *Store) putControl(name string, doc controlfile.Document, move func(from, to string) error) error {
	b, err := controlfile.Encode(doc)
	if err != nil {
		return err
	}
	temp, err := s.tempName(path.Dir(name))
	if err != nil {
		return err
	}
	if err := s.writeTemp(temp, b); err != nil {
		_ = s.fs.Remove(temp)
		return err
	}
	if err := move(temp, name); err != nil {
		_ = s.fs.Remove(temp)
		return err
	}
	err = s.fs.SyncDir(path.Dir(name), osfs.Durable)
	if err != nil {
		s.moveAnew(name, b) // see unsettle
	}
	return err
}

func (s *Store) writeTemp(temp string, b []byte) error {
	return s.fillTemp(temp, func(f osfs.File) error { _, err := f.Write(b); return err })
}

func (s *Store) fillTemp(temp string, fill func(osfs.File) error) error {
	f, err := s.fs.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	// Synced before it gets its name, so that no name ever leads to half of a file.
	if err = fill(f); err == nil {
		err = f.Sync(osfs.Order)
	}
	return errors.Join(err, f.Close())
}

// readFile reads a file of at most limit bytes; a longer one comes back longer
// than the limit, which no digest of ours fits.
func (s *Store) readFile(name string, limit int64) ([]byte, error) {
	f, err := s.fs.Open(name, osfs.Read)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

func readAll(f osfs.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size, limit+1))
	n, err := f.ReadAt(b, 0)
	if n < len(b) && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

// stat is Stat for what may be absent.
func (s *Store) stat(name string) (info osfs.Info, ok bool, err error) {
	info, err = s.fs.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return info, false, nil
	}
	return info, err == nil, err
}
