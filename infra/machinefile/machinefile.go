// Package machinefile stores the control files that belong to a machine and not to a store, in the
// configuration directory of the user. It implements ports.Controls with the same documents as a
// store's control files. It does not know the members of their data. Start with New.
package machinefile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Files are the control files of a machine.
type Files struct{ dir string }

var _ ports.Controls = Files{}

// New returns the control files in a directory, which need not exist.
func New(dir string) Files { return Files{dir} }

// lockName is the file that updates lock, and lockWait how long an update waits for another one.
const (
	lockName = ".sources.lock"
	lockWait = 2 * time.Second
)

// Control implements ports.Controls.
func (m Files) Control(_ context.Context, f ports.ControlFile) (ports.Control, error) {
	dir := osfs.NewDir(m.dir)
	defer dir.Close()
	return read(dir, f)
}

// UpdateControl implements ports.Controls. The error of change is returned as it is.
func (m Files) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	dir := osfs.NewDir(m.dir)
	defer dir.Close()
	if err := dir.Mkdir("."); err != nil && !errors.Is(err, fs.ErrExist) {
		return failure(err, f, "written")
	}
	held, err := lock.Files(dir).Acquire(ctx, lockName, lock.Exclusive, lockWait)
	var busy *lock.Busy
	if errors.As(err, &busy) {
		return fault.Wrap(err, fault.StoreLocked, "%s is being changed: %v", f.Name, err)
	}
	if err != nil {
		return failure(err, f, "written")
	}
	defer held.Unlock()
	old, err := read(dir, f)
	if err != nil {
		return err
	}
	next, err := change(old)
	if err != nil {
		return err
	}
	data, err := controlfile.Encode(controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data})
	if err == nil {
		err = replace(dir, f.Name, data)
	}
	return failure(err, f, "written")
}

// read reads and decodes one control file; the zero Control if it is missing.
func read(dir *osfs.Dir, f ports.ControlFile) (out ports.Control, err error) {
	file, err := dir.Open(f.Name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, failure(err, f, "read")
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, limits.ControlFileBytesMax+1))
	if err != nil {
		return out, failure(err, f, "read")
	}
	doc, err := controlfile.Decode(data, f.Kind)
	if err != nil {
		return out, fault.Wrap(err, fault.StoreCorrupt, "%s: %v", f.Name, err)
	}
	return ports.Control{V: doc.V, Data: doc.Data}, nil
}

// replace writes a private file and moves it to its name; both are durable when it returns nil.
func replace(dir *osfs.Dir, name string, data []byte) error {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	temp := ".tmp-" + hex.EncodeToString(random[:])
	file, err := dir.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	if _, err = file.Write(data); err == nil {
		err = file.Sync(osfs.Durable)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = dir.Replace(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
		return err
	}
	return dir.SyncDir(".", osfs.Durable)
}

// failure is the fault of an error of the disk. A link in place of the file is STORE_CORRUPT: it
// would lead to a file that no person confirmed.
func failure(err error, f ports.ControlFile, past string) error {
	switch {
	case err == nil || fault.Of(err).Code != fault.Internal:
		return err
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular):
		return fault.Wrap(err, fault.StoreCorrupt, "%s in the configuration directory is no regular file", f.Name)
	case past == "written" && (osfs.IsReadOnly(err) || errors.Is(err, fs.ErrPermission)):
		return fault.Wrap(err, fault.StoreReadOnly, "%s in the configuration directory cannot be written", f.Name)
	case osfs.IsFull(err):
		return fault.Wrap(err, fault.StoreFull, "%s in the configuration directory cannot be written", f.Name)
	}
	return fault.Wrap(err, fault.StoreIO, "%s in the configuration directory cannot be %s: %v", f.Name, past, err)
}
