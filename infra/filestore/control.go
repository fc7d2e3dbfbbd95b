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
	"github.com/waybill/waybill/ports"
)

// controlName matches the names that callers may pass: files of the store's own directory.
var controlName = pattern.New(`^[a-z]{1,32}\.json$`)

// Control implements ports.Controls. A name that does not match controlName is INTERNAL.
func (s *Store) Control(ctx context.Context, f ports.ControlFile) (ports.Control, error) {
	// Names are constants of the program; any other name could leave the store's directory and is a
	// bug.
	if !controlName.MatchString(f.Name) {
		return ports.Control{}, fault.New(fault.Internal, "%q is not a control file", f.Name)
	}
	if err := ctx.Err(); err != nil {
		return ports.Control{}, readFault(err)
	}
	doc, _, err := s.readControl(f.Name, f.Kind)
	return ports.Control{V: doc.V, Data: doc.Data}, err
}

// UpdateControl implements ports.Controls. The error of change is returned as it is.
func (s *Store) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	if !controlName.MatchString(f.Name) || f.Name == storeFile {
		return fault.New(fault.Internal, "%q is not a control file that can be changed", f.Name)
	}
	if _, err := s.toWrite(); err != nil {
		return err
	}
	// The lock of cleanups also serves updates: both are rare and short.
	held, err := s.locks.Acquire(ctx, useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return busyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	// Read under the lock: change sees exactly the document that it replaces.
	old, _, err := s.readControl(f.Name, f.Kind)
	if err != nil {
		return err
	}
	next, err := change(ports.Control{V: old.V, Data: old.Data})
	if err != nil {
		return err
	}
	doc := controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data}
	return writeFault(s.putControl(f.Name, doc, s.fs.Replace))
}

// readControl reads and decodes the control file at a path inside the store. kind is the expected
// kind of its envelope.
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

// putControl writes a document to a temporary file, syncs it, moves it to name and syncs the
// directory: readers see the old document or the new one. move is Place, which fails with
// fs.ErrExist for a taken name, or Replace.
//
// After an error of writing or moving the old document is unchanged. After a failed sync of the
// directory either document may be durable, so the new one is written again: a later sync of the
// directory then makes it durable.
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
		s.rewriteBytes(name, b) // see markUnsynced
	}
	return err
}

// writeTemp creates the file temp with the bytes b and syncs it.
func (s *Store) writeTemp(temp string, b []byte) error {
	return s.fillTemp(temp, func(f osfs.File) error { _, err := f.Write(b); return err })
}

// fillTemp is writeTemp for content that fill writes.
func (s *Store) fillTemp(temp string, fill func(osfs.File) error) error {
	f, err := s.fs.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	// Synced before the file gets its name, so that a name never refers to part of a file.
	if err = fill(f); err == nil {
		err = f.Sync(osfs.Order)
	}
	return errors.Join(err, f.Close())
}

// readFile reads a file of at most limit bytes; of a longer one it returns limit and one bytes,
// which match no recorded digest.
//
// A symbolic link or special file is osfs.ErrSymlink or osfs.ErrNotRegular, which readFault maps to
// STORE_CORRUPT.
func (s *Store) readFile(name string, limit int64) ([]byte, error) {
	f, err := s.fs.Open(name, osfs.Read)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// readAll reads the open file f as readFile does.
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

// stat is Stat for a file that may be missing: ok is false then, and err nil.
func (s *Store) stat(name string) (info osfs.Info, ok bool, err error) {
	info, err = s.fs.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return info, false, nil
	}
	return info, err == nil, err
}
