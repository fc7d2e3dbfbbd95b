package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/waybill/waybill/infra/osfs"
)

// RewriteFromDisk is rewriteBytes for a file whose bytes are not in memory. It copies the current
// content.
func (d *Disk) RewriteFromDisk(name string) bool {
	old, err := d.Open(name, osfs.Read)
	if err != nil {
		return false
	}
	defer old.Close()
	return d.rewriteFile(name, func(f osfs.File) error {
		b := make([]byte, CopyBytes)
		for at := int64(0); ; {
			n, err := old.ReadAt(b, at)
			at += int64(n)
			if _, err := f.Write(b[:n]); err != nil {
				return err
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}

// WriteTemp creates the file temp with the bytes b and syncs it.
func (d *Disk) WriteTemp(temp string, b []byte) error {
	return d.fillTemp(temp, func(f osfs.File) error { _, err := f.Write(b); return err })
}

// fillTemp is writeTemp for content that fill writes.
func (d *Disk) fillTemp(temp string, fill func(osfs.File) error) error {
	f, err := d.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	// Synced before the file gets its name, so that a name never refers to part of a file.
	if err = fill(f); err == nil {
		err = f.Sync(osfs.Order)
	}
	return errors.Join(err, f.Close())
}

// ReadFile reads a file of at most limit bytes; of a longer one it returns limit and one bytes,
// which match no recorded digest.
//
// A symbolic link or special file is osfs.ErrSymlink or osfs.ErrNotRegular, which readFault maps to
// STORE_CORRUPT.
func (d *Disk) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := d.Open(name, osfs.Read)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads the open file f as readFile does.
func ReadAll(f osfs.File, limit int64) ([]byte, error) {
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

// WriteUnsynced is writeTemp without the sync, for bytes that may be lost.
func (d *Disk) WriteUnsynced(temp string, b []byte) error {
	f, err := d.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// FileEquals compares the bytes of a file: its size and times prove nothing. A missing file is
// fs.ErrNotExist.
func (d *Disk) FileEquals(name string, want []byte) (bool, error) {
	have, err := d.ReadFile(name, int64(len(want)))
	return bytes.Equal(have, want), err
}

// OpenTemp creates a temporary file in dir. A directory of the skeleton may be missing, since tools
// that copy stores omit empty directories. It is created again, and made returns the entries that
// become part of the commit.
func (d *Disk) OpenTemp(dir string) (temp string, f osfs.File, made []string, err error) {
	if temp, err = d.TempName(dir); err != nil {
		return "", nil, nil, err
	}
	f, err = d.Open(temp, osfs.New)
	if errors.Is(err, fs.ErrNotExist) {
		if made, err = d.Mkdirs(dir); err != nil {
			return temp, nil, nil, err
		}
		f, err = d.Open(temp, osfs.New)
	}
	return temp, f, made, err
}

// CopyBytes is how much of a file is held in memory at a time.
const CopyBytes = 256 << 10

// RewriteBytes replaces the file at name by a new file with the bytes b, and reports success. The
// old file is not removed first: another session may be committing a reference to it.
func (d *Disk) RewriteBytes(name string, b []byte) bool {
	return d.rewriteFile(name, func(f osfs.File) error { _, err := f.Write(b); return err })
}

// rewriteFile is rewriteBytes for content that fill writes.
func (d *Disk) rewriteFile(name string, fill func(osfs.File) error) bool {
	temp, err := d.TempName(path.Dir(name))
	if err == nil {
		err = d.fillTemp(temp, fill)
	}
	if err == nil {
		err = d.Replace(temp, name)
	}
	if err != nil {
		_ = d.Remove(temp)
	}
	return err == nil
}
