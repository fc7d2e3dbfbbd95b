package engine_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"strings"
	"sync"

	"github.com/waybill/waybill/infra/osfs"
)

// flatFS is a tree in memory of which a copy costs next to nothing: a hundred thousand copies are
// made, each with one changed byte. It loses nothing and fails nothing, unlike crashfs.
type flatFS struct {
	mu    sync.Mutex
	files map[string][]byte // never changed in place
	dirs  map[string]bool
}

// flat is a tree of these files and their directories.
func flat(files map[string][]byte) *flatFS {
	f := &flatFS{files: maps.Clone(files), dirs: map[string]bool{".": true}}
	for name := range files {
		for i, c := range name {
			if c == '/' {
				f.dirs[name[:i]] = true
			}
		}
	}
	for _, dir := range []string{"sessions", "snapshots", "artifacts", "workflows", "workflows/pinned", "keys",
		"quarantine"} {
		f.dirs[dir] = true
	}
	return f
}

// with is a copy with one file changed.
func (f *flatFS) with(name string, data []byte) *flatFS {
	c := &flatFS{files: maps.Clone(f.files), dirs: maps.Clone(f.dirs)}
	c.files[name] = data
	return c
}

func refuse(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

func parentDir(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

func (f *flatFS) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, there := f.files[name]
	switch {
	case f.dirs[name]:
		return nil, refuse("open", name, osfs.ErrNotRegular)
	case mode == osfs.New && there:
		return nil, refuse("open", name, fs.ErrExist)
	case mode == osfs.New && f.dirs[parentDir(name)]:
		f.files[name] = []byte{}
		data = f.files[name]
	case !there:
		return nil, refuse("open", name, fs.ErrNotExist)
	}
	file := &flatFile{f: f, name: name}
	if mode == osfs.Append {
		file.at = int64(len(data))
	}
	return file, nil
}

func (f *flatFS) move(op, from, to string, replace bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, ok := f.files[from]
	if !ok {
		return refuse(op, from, fs.ErrNotExist)
	}
	if _, there := f.files[to]; there && !replace {
		return refuse(op, to, fs.ErrExist)
	}
	delete(f.files, from)
	f.files[to] = data
	return nil
}

func (f *flatFS) Place(from, to string) error   { return f.move("place", from, to, false) }
func (f *flatFS) Replace(from, to string) error { return f.move("rename", from, to, true) }

func (f *flatFS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.files[name]; !ok {
		return refuse("remove", name, fs.ErrNotExist)
	}
	delete(f.files, name)
	return nil
}

func (f *flatFS) Mkdir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dirs[name] {
		return refuse("mkdir", name, fs.ErrExist)
	}
	if !f.dirs[parentDir(name)] {
		return refuse("mkdir", name, fs.ErrNotExist)
	}
	f.dirs[name] = true
	return nil
}

func (f *flatFS) List(name string) (out []osfs.Entry, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dirs[name] {
		return nil, refuse("list", name, fs.ErrNotExist)
	}
	for file := range f.files {
		if parentDir(file) == name {
			out = append(out, osfs.Entry{Name: file[strings.LastIndexByte(file, '/')+1:], Kind: osfs.Regular})
		}
	}
	for dir := range f.dirs {
		if dir != "." && parentDir(dir) == name {
			out = append(out, osfs.Entry{Name: dir[strings.LastIndexByte(dir, '/')+1:], Kind: osfs.Directory})
		}
	}
	return out, nil
}

func (f *flatFS) Stat(name string) (osfs.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dirs[name] {
		return osfs.Info{Kind: osfs.Directory, Perm: 0o700, ID: name}, nil
	}
	data, ok := f.files[name]
	if !ok {
		return osfs.Info{}, refuse("stat", name, fs.ErrNotExist)
	}
	return osfs.Info{Kind: osfs.Regular, Perm: 0o600, Size: int64(len(data)), ID: name}, nil
}

func (f *flatFS) SyncDir(string, osfs.Sync) error { return nil }

func (f *flatFS) SyncAll(calls ...func() error) (err error) {
	for _, call := range calls {
		err = errors.Join(err, call())
	}
	return err
}

func (f *flatFS) Volume() (osfs.Volume, error) { return osfs.Volume{Type: "memory"}, nil }

type flatFile struct {
	f    *flatFS
	name string
	at   int64
}

func (o *flatFile) data() []byte {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	return o.f.files[o.name]
}

func (o *flatFile) ReadAt(p []byte, at int64) (int, error) {
	data := o.data()
	if at >= int64(len(data)) {
		return 0, io.EOF
	}
	n := copy(p, data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (o *flatFile) Write(p []byte) (int, error) {
	n, err := o.WriteAt(p, o.at)
	o.at += int64(n)
	return n, err
}

func (o *flatFile) WriteAt(p []byte, at int64) (int, error) {
	old := o.data()
	data := make([]byte, max(int64(len(old)), at+int64(len(p))))
	copy(data, old)
	copy(data[at:], p)
	return len(p), o.put(data)
}

func (o *flatFile) Truncate(size int64) error {
	data := make([]byte, size)
	copy(data, o.data())
	return o.put(data)
}

func (o *flatFile) put(data []byte) error {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.f.files[o.name] = data
	return nil
}

func (o *flatFile) Stat() (osfs.Info, error) { return o.f.Stat(o.name) }
func (o *flatFile) Sync(osfs.Sync) error     { return nil }
func (o *flatFile) Close() error             { return nil }
