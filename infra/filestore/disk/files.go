package disk

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"path"
	"sync"

	"github.com/waybill/waybill/infra/osfs"
)

// ReadFile reads a file of at most limit bytes; of a longer one it returns limit and one bytes,
// which match no recorded digest.
//
// A symbolic link or special file is osfs.ErrSymlink or osfs.ErrNotRegular, which ReadFault maps to
// STORE_CORRUPT.
func (d *Disk) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := d.Open(name, osfs.Read)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := osfs.InfoAtOpen(f)
	if err != nil {
		return nil, err
	}
	return readUpTo(f, nil, min(info.Size, limit+1))
}

// ReadWithin is ReadFile for a large limit: a longer file is not read, and within is false. A sparse file of any length
// can be made at no cost, and must not cost memory here.
func (d *Disk) ReadWithin(name string, limit int64) (b []byte, within bool, err error) {
	return d.ReadInto(nil, name, limit)
}

// ReadInto is ReadWithin, into the memory of b if it suffices.
func (d *Disk) ReadInto(b []byte, name string, limit int64) (_ []byte, within bool, err error) {
	f, err := d.Open(name, osfs.Read)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := osfs.InfoAtOpen(f)
	if err != nil || info.Size > limit {
		return nil, false, err
	}
	b, err = readUpTo(f, b, info.Size)
	return b, err == nil, err
}

// ReadStart is osfs.ReadStart.
func ReadStart(d *Disk, name string, b []byte) (int, bool) {
	return osfs.ReadStart(d.files.FS, name, b)
}

// KeepDirs is osfs.KeepDirs.
func KeepDirs(d *Disk) (done func()) { return osfs.KeepDirs(d.files.FS) }

// readUpTo reads the first n bytes of a file, or as many as it has, into the memory of b if it suffices.
func readUpTo(f osfs.File, b []byte, n int64) ([]byte, error) {
	switch {
	case b == nil:
		b = make([]byte, n)
	case int64(cap(b)) < n:
		b = make([]byte, n, n+n/8) // the next file may be a little longer
	}
	b = b[:n]
	osfs.Populate(b)
	have, err := f.ReadAt(b, 0)
	if have < len(b) && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:have], nil
}

// FileEquals compares the bytes of a file: its size and times prove nothing. A missing file is
// fs.ErrNotExist.
func (d *Disk) FileEquals(name string, want []byte) (bool, error) {
	have, err := d.ReadFile(name, int64(len(want)))
	return bytes.Equal(have, want), err
}

// ReaderFrom reads a file from the offset at to its end at the time of reading.
func ReaderFrom(f osfs.File, at int64) io.Reader { return io.NewSectionReader(f, at, math.MaxInt64-at) }

// copyBytes is how much of a file is held in memory at a time.
const copyBytes = 128 << 10

// copyBuffers are reused between files: no file is held in memory as a whole.
var copyBuffers = sync.Pool{New: func() any { return new([copyBytes]byte) }}

// Copy copies r to w with one of copyBuffers, and returns the number of bytes.
func Copy(w io.Writer, r io.Reader) (int64, error) {
	buffer := copyBuffers.Get().(*[copyBytes]byte)
	defer copyBuffers.Put(buffer)
	// The struct hides other methods of w, so that io.CopyBuffer uses the buffer.
	return io.CopyBuffer(struct{ io.Writer }{w}, r, buffer[:])
}

// Hash returns the SHA-256 of the first most bytes of a file, and how many it has of them.
func Hash(f osfs.File, most int64) (sum [sha256.Size]byte, n int64, err error) {
	h := sha256.New()
	n, err = Copy(h, io.NewSectionReader(f, 0, most))
	return [sha256.Size]byte(h.Sum(nil)), n, err
}

// A Content writes the content of a new file.
type Content func(osfs.File) error

// Bytes is the content b.
func Bytes(b []byte) Content {
	return func(f osfs.File) error { _, err := f.Write(b); return err }
}

// WriteUnsynced creates the file name with the bytes b, which may be lost.
func (d *Disk) WriteUnsynced(name string, b []byte) error {
	f, err := d.Open(name, osfs.New)
	if err != nil {
		return err
	}
	return errors.Join(Bytes(b)(f), f.Close())
}

// WriteTemp creates a temporary file in dir with a content and syncs it. After an error there is none.
func (d *Disk) WriteTemp(dir string, content Content) (temp string, err error) {
	if temp, err = d.TempName(dir); err != nil {
		return "", err
	}
	f, err := d.Open(temp, osfs.New)
	if err == nil {
		// Synced before the file gets its name, so that a name never refers to part of a file.
		if err = content(f); err == nil {
			err = f.Sync(osfs.Order)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		_ = d.Remove(temp)
	}
	return temp, err
}

// WriteFile writes a content to a temporary file, syncs it, and moves it to name: readers see the old file or the new
// one. move is Place, which fails with fs.ErrExist for a taken name, or Replace.
func (d *Disk) WriteFile(name string, content Content, move func(from, to string) error) error {
	temp, err := d.WriteTemp(path.Dir(name), content)
	if err != nil {
		return err
	}
	if err = move(temp, name); err != nil {
		_ = d.Remove(temp)
	}
	return err
}

// Rewrite replaces the file at name by a new one with its content, and reports success: the entry is new, so that the
// next sync of the directory applies to it. The old file is not removed first: another session may be committing a
// reference to it.
func (d *Disk) Rewrite(name string, content Content) bool {
	if d.WriteFile(name, content, d.Replace) != nil {
		return false
	}
	d.SetSyncFailed([]string{name}, false)
	return true
}

// RewriteFromDisk is Rewrite for a file whose bytes are not in memory.
func (d *Disk) RewriteFromDisk(name string) bool {
	old, err := d.Open(name, osfs.Read)
	if err != nil {
		return false
	}
	defer old.Close()
	return d.Rewrite(name, func(f osfs.File) error { _, err := Copy(f, ReaderFrom(old, 0)); return err })
}
