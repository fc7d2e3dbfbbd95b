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

// Target is a bundle on its way into a file: the name leads to all of it, or to what
// it led to before.
type Target struct {
	name  string
	force bool
	f     *os.File
	w     *bufio.Writer
}

// writeBuffer is large enough for one write to be worth its call.
const writeBuffer = 256 << 10

// Create begins a file beside name. One that is there is refused unless force is set;
// what is no regular file is refused in any case: a rename would put a file in the place
// of a device, which a superuser may do to the whole machine. Through a link the file
// that it leads to is replaced, not the link.
func Create(name string, force bool) (*Target, error) {
	name, err := place(name, force)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".tmp-*") // private: 0600
	if err != nil {
		return nil, unwritten(name, err)
	}
	return &Target{name: name, force: force, f: f, w: bufio.NewWriterSize(f, writeBuffer)}, nil
}

// place is where the file goes in the end.
func place(name string, force bool) (string, error) {
	if _, err := os.Lstat(name); err != nil {
		return name, nil // nothing is there; what else is wrong, the first write meets
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return "", fault.New(fault.ValidationError, "%s is no regular file, and nothing is put in its place", name).
			Suggest("Name another file with -o, or - for stdout.")
	case !force:
		return "", taken(name)
	}
	real, err := filepath.EvalSymlinks(name)
	return real, unwritten(name, err)
}

// Write implements io.Writer.
func (t *Target) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	return n, unwritten(t.name, err)
}

// Commit gives the file its name, durably.
func (t *Target) Commit() error {
	err := t.w.Flush()
	if err == nil {
		err = t.f.Sync() // a bundle that is mailed off as soon as its name is there must be whole
	}
	if err == nil {
		err = t.f.Close()
	}
	switch {
	case err != nil:
	case t.force:
		err = os.Rename(t.f.Name(), t.name)
	default:
		// A link is made only where nothing stands, a rename puts itself in its place.
		if err = os.Link(t.f.Name(), t.name); errors.Is(err, fs.ErrExist) {
			_ = os.Remove(t.f.Name())
			return taken(t.name)
		}
		if err != nil { // a filesystem without links
			err = os.Rename(t.f.Name(), t.name)
		} else {
			_ = os.Remove(t.f.Name())
		}
	}
	if err != nil {
		t.Abandon()
		return unwritten(t.name, err)
	}
	if dir, err := os.Open(filepath.Dir(t.name)); err == nil {
		_ = dir.Sync() // not everywhere can a folder be synced
		_ = dir.Close()
	}
	return nil
}

// Abandon removes what was written.
func (t *Target) Abandon() {
	_ = t.f.Close()
	_ = os.Remove(t.f.Name())
}

func taken(name string) error {
	return fault.New(fault.ValidationError, "%s is there already", name).
		Suggest("Name another file with -o, or replace it with --force.")
}

func unwritten(name string, err error) error {
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
		Suggest("Name a place with room that you may write to with -o; nothing was left behind.")
}
