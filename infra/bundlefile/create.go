package bundlefile

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/osfs"
)

// Target is a bundle that is being written. The name refers to the complete new file or to the
// previous one, never to a part. It is used by one goroutine; every Target ends with Commit or
// Abandon.
type Target struct {
	name  string
	force bool
	f     *os.File
	w     *bufio.Writer
}

// writeBuffer is the size of a write, in bytes.
const writeBuffer = 256 << 10

// Create starts a file beside name. An existing file is VALIDATION_ERROR unless force is set. A
// name that is not a regular file is VALIDATION_ERROR in any case: a rename would replace a device,
// which a superuser could do for the whole machine. Through a symbolic link the target of the link
// is replaced.
func Create(name string, force bool) (*Target, error) {
	name, err := targetName(name, force)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".tmp-*") // with mode 0600
	if err != nil {
		return nil, unwritable(name, err)
	}
	return &Target{name: name, force: force, f: f, w: bufio.NewWriterSize(f, writeBuffer)}, nil
}

// targetName is the final path of the file, with links resolved.
func targetName(name string, force bool) (string, error) {
	if _, err := os.Lstat(name); err != nil {
		return name, nil // free; other problems are reported by the first write
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return "", fault.New(fault.ValidationError, "%s is not a regular file and is not replaced", name).
			Suggest("Name another file with -o, or - for stdout.")
	case !force:
		return "", alreadyExists(name)
	}
	real, err := filepath.EvalSymlinks(name)
	return real, unwritable(name, err)
}

// Write implements io.Writer. Errors: STORE_FULL, STORE_IO.
func (t *Target) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	return n, unwritable(t.name, err)
}

// Commit gives the file its name, durably. After an error nothing is left, except when the
// directory cannot be synced, which is ignored.
func (t *Target) Commit() error {
	err := t.w.Flush()
	if err == nil {
		err = t.f.Sync() // the file must be complete as soon as its name exists
	}
	if err == nil {
		err = t.f.Close()
	}
	switch {
	case err != nil:
	case t.force:
		err = os.Rename(t.f.Name(), t.name)
	default:
		// A link fails for an existing name; a rename would replace it.
		if err = os.Link(t.f.Name(), t.name); errors.Is(err, fs.ErrExist) {
			_ = os.Remove(t.f.Name())
			return alreadyExists(t.name)
		}
		if err != nil { // a filesystem without links
			err = os.Rename(t.f.Name(), t.name)
		} else {
			_ = os.Remove(t.f.Name())
		}
	}
	if err != nil {
		t.Abandon()
		return unwritable(t.name, err)
	}
	if dir, err := os.Open(filepath.Dir(t.name)); err == nil {
		_ = dir.Sync() // not every system can sync a directory
		_ = dir.Close()
	}
	return nil
}

// Written returns the bytes that were written, from the first one on. The file remains the one that was written
// also after Commit, when its name may mean another one. The caller closes it.
func (t *Target) Written() (*os.File, error) {
	err := t.w.Flush()
	if err != nil {
		return nil, unwritable(t.name, err)
	}
	f, err := os.Open(t.f.Name())
	if err != nil {
		return nil, unwritable(t.name, err)
	}
	written, err := t.f.Stat()
	if info, infoErr := f.Stat(); err != nil || infoErr != nil || !os.SameFile(written, info) {
		_ = f.Close()
		return nil, fault.New(fault.StoreIO, "the temporary file of %s was replaced by another program", t.name)
	}
	return f, nil
}

// RemovePrevious removes the file that Commit would replace, if one exists.
func (t *Target) RemovePrevious() error {
	if err := os.Remove(t.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(t.name, err)
	}
	return nil
}

// Abandon removes the temporary file.
//
// It may be called after an error of Write or instead of Commit.
func (t *Target) Abandon() {
	_ = t.f.Close()
	_ = os.Remove(t.f.Name())
}

// alreadyExists is VALIDATION_ERROR for an existing file without force.
func alreadyExists(name string) error {
	return fault.Wrap(fs.ErrExist, fault.ValidationError, "%s already exists", name).
		Suggest("Name another file with -o, or replace it with --force.")
}

// IsExisting reports that Create or Commit failed because the file exists and force was not set.
func IsExisting(err error) bool { return errors.Is(err, fs.ErrExist) }

// Folder makes a directory for files that Create starts, unless it exists.
func Folder(name string) error { return unwritable(name, os.MkdirAll(name, 0o700)) }

// unwritable maps an error of the disk, without the path of the temporary file; nil for nil.
func unwritable(name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	code := fault.StoreIO
	if osfs.IsFull(err) {
		code = fault.StoreFull
	}
	return fault.Wrap(err, code, "%s cannot be written: %v", name, err).
		Suggest("Use -o to name a writable place with enough space; no partial file was left.")
}
