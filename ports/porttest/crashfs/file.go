package crashfs

import (
	"io"
	"io/fs"
	"syscall"

	"github.com/waybill/waybill/infra/osfs"
)

// file is an open file of an FS.
type file struct {
	f      *FS
	n      *inode
	name   string
	mode   osfs.Mode
	at     int64 // offset of the next Write, outside mode Append
	own    int64 // size at Open, changed by this handle's writes only (see HandleSize)
	closed bool
}

// Open implements osfs.FS. Mode New creates a file, and an existing name is fs.ErrExist; every
// other mode opens an existing one, and a directory is osfs.ErrNotRegular.
func (f *FS) Open(name string, mode osfs.Mode) (osfs.File, error) {
	op, _, flaw, err := f.op("open", name, mode, 0)
	if err != nil {
		return nil, err
	}
	n, err := f.open(name, mode)
	var own int64
	if err == nil {
		own = int64(len(n.now)) // before done, which unlocks: another goroutine may change it then
	}
	if err = f.done(op, flaw, err); err != nil {
		return nil, err
	}
	return &file{f: f, n: n, name: name, mode: mode, own: own}, nil
}

// open finds or creates the inode for Open; the caller holds mu.
func (f *FS) open(name string, mode osfs.Mode) (*inode, error) {
	// Modes Read, Append and Update require an existing file; permissions are not modeled.
	if mode != osfs.New {
		n, err := f.find(name)
		if err == nil && n.dir {
			err = osfs.ErrNotRegular
		}
		return n, err
	}
	dir, base, err := f.parent(name)
	if err != nil {
		return nil, err
	}
	if _, taken := dir.entries[base]; taken {
		return nil, fs.ErrExist
	}
	n := newFile()
	f.link(dir, base, n)
	return n, nil
}

// ReadAt implements osfs.File. It reads the visible content, synced or not.
func (o *file) ReadAt(p []byte, at int64) (n int, err error) {
	op, _, flaw, err := o.f.op("read", o.name, o.mode, 0)
	if err != nil {
		return 0, err
	}
	if at < int64(len(o.n.now)) {
		n = copy(p, o.n.now[at:])
	}
	err = o.f.done(op, flaw, o.usable(false))
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// usable returns the error of an operation on a closed file, or of a write to a file that was
// opened for reading.
func (o *file) usable(toWrite bool) error {
	switch {
	case o.closed:
		return fs.ErrClosed
	case toWrite && o.mode == osfs.Read:
		return syscall.EBADF
	}
	return nil
}

// Write implements osfs.File. Mode Append writes at the end that the file has at that time, also
// where another handle moved it; every other mode continues at this handle's offset.
func (o *file) Write(p []byte) (int, error) {
	at := o.at
	if o.mode == osfs.Append {
		at = -1
	}
	n, err := o.write(p, at)
	o.at += int64(n)
	return n, err
}

// WriteAt implements osfs.File.
func (o *file) WriteAt(p []byte, at int64) (int, error) { return o.write(p, at) }

// write is Write and WriteAt; a negative offset is the end of the file. A fault with Part carries
// out that many quarters of p.
func (o *file) write(p []byte, at int64) (int, error) {
	op, _, flaw, err := o.f.op("write", o.name, o.mode, 0)
	if err != nil {
		return 0, err
	}
	if err := o.usable(true); err != nil {
		return 0, o.f.done(op, flaw, err)
	}
	if flaw != nil && flaw.Part > 0 {
		p = p[:len(p)*flaw.Part/4]
	}
	if at < 0 {
		at = int64(len(o.n.now))
	}
	o.f.seq++
	o.n.write(p, at, o.f.seq)
	o.own += int64(len(p))
	return len(p), o.f.done(op, flaw, nil)
}

// Truncate implements osfs.File; size is in bytes.
func (o *file) Truncate(size int64) error {
	op, act, flaw, err := o.f.op("truncate", o.name, o.mode, 0)
	if err != nil {
		return err
	}
	if err = o.usable(true); err == nil && act != Skip {
		o.f.seq++
		o.n.truncate(size, o.f.seq)
		o.own = size
	}
	return o.f.done(op, flaw, err)
}

// Stat implements osfs.File.
func (o *file) Stat() (osfs.Info, error) {
	op, act, flaw, err := o.f.op("stat", o.name, o.mode, 0)
	if err != nil {
		return osfs.Info{}, err
	}
	info := o.n.info()
	if act == HandleSize {
		info.Size = o.own
	}
	return info, o.f.done(op, flaw, o.usable(false))
}

// Sync implements osfs.File. It makes content and size durable, not the entry of the file in its
// directory. Both kinds of sync have the same effect.
func (o *file) Sync(kind osfs.Sync) error {
	op, act, flaw, err := o.f.op("sync", o.name, o.mode, kind)
	if err != nil {
		return err
	}
	if err = o.usable(false); err == nil {
		o.f.sync(o.n, act, flaw, op)
	}
	return o.f.done(op, flaw, err)
}

// Close implements osfs.File. It makes nothing durable.
func (o *file) Close() error {
	op, _, flaw, err := o.f.op("close", o.name, o.mode, 0)
	if err != nil {
		return err
	}
	err = o.usable(false)
	o.closed = true
	return o.f.done(op, flaw, err)
}
