//go:build linux || darwin

package osfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, d *Dir, name, text string) {
	t.Helper()
	f, err := d.Open(name, New)
	ok(t, err)
	_, err = f.Write([]byte(text))
	ok(t, err)
	ok(t, f.Sync(Durable))
	ok(t, f.Close())
}

func get(t *testing.T, d *Dir, name string) string {
	t.Helper()
	f, err := d.Open(name, Read)
	ok(t, err)
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	ok(t, err)
	return string(b)
}

// withAndWithoutOpenat2 runs a test with openat2 and with the walk that replaces it.
func withAndWithoutOpenat2(t *testing.T, run func(t *testing.T, d *Dir, path string)) {
	for _, way := range []string{"openat2", "walk"} {
		t.Run(way, func(t *testing.T) {
			defer forceWalk(way == "walk")()
			path := filepath.Join(t.TempDir(), "a", "root")
			d := NewDir(path)
			ok(t, d.Mkdir("."))
			run(t, d, path)
			ok(t, d.Close())
		})
	}
}

func TestFilesAreWrittenReadAndMoved(t *testing.T) {
	withAndWithoutOpenat2(t, func(t *testing.T, d *Dir, _ string) {
		ok(t, d.Mkdir("x"))
		ok(t, d.Mkdir("x/y"))
		put(t, d, "x/y/one", "1")
		put(t, d, "x/two", "22")
		if err := d.Place("x/two", "x/y/one"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("place over a file: %v", err)
		}
		ok(t, d.Replace("x/two", "x/y/one"))
		ok(t, d.Place("x/y/one", "x/three"))
		if got := get(t, d, "x/three"); got != "22" {
			t.Errorf("read %q", got)
		}
		f, err := d.Open("x/three", Append)
		ok(t, err)
		_, err = f.Write([]byte("end"))
		ok(t, err)
		ok(t, f.Truncate(4))
		info, err := f.Stat()
		ok(t, err)
		same, err := d.Stat("x/three")
		ok(t, err)
		if info.Size != 4 || !SameFile(info, same) || same.Kind != Regular {
			t.Errorf("%+v and %+v", info, same)
		}
		ok(t, f.Close())
		u, err := d.Open("x/three", Update)
		ok(t, err)
		_, err = u.WriteAt([]byte("3"), 1)
		ok(t, err)
		ok(t, u.Close())
		if got := get(t, d, "x/three"); got != "23en" {
			t.Errorf("read %q", got)
		}
		ok(t, d.SyncDir("x", Order))
		entries, err := d.List("x")
		ok(t, err)
		slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		if !slices.Equal(entries, []Entry{{"three", Regular}, {"y", Directory}}) {
			t.Errorf("listed %v", entries)
		}
		ok(t, d.Remove("x/y"))
		ok(t, d.Remove("x/three"))
		if _, err := d.Stat("x/three"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat of a removed file: %v", err)
		}
	})
}

// TestNamesNeverLeaveRootOrFollowLinks: a store that was unpacked from an untrusted archive must
// not make Waybill read or write anything else.
func TestNamesNeverLeaveRootOrFollowLinks(t *testing.T) {
	withAndWithoutOpenat2(t, func(t *testing.T, d *Dir, path string) {
		outside := filepath.Join(filepath.Dir(path), "outside")
		ok(t, os.Mkdir(outside, 0o700))
		ok(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600))
		ok(t, os.Symlink(outside, filepath.Join(path, "dir")))
		ok(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(path, "file")))
		ok(t, d.Mkdir("in"))
		ok(t, os.Symlink("in", filepath.Join(path, "inside")))
		put(t, d, "mine", "m")
		put(t, d, "in/mine", "m")
		for name, call := range map[string]func() error{
			"open a link":          func() error { _, err := d.Open("file", Read); return err },
			"append to a link":     func() error { _, err := d.Open("file", Append); return err },
			"open past a link":     func() error { _, err := d.Open("dir/secret", Read); return err },
			"open past an inner":   func() error { _, err := d.Open("inside/mine", Read); return err },
			"create past a link":   func() error { _, err := d.Open("dir/new", New); return err },
			"list a link":          func() error { _, err := d.List("dir"); return err },
			"sync a link":          func() error { return d.SyncDir("dir", Order) },
			"remove past a link":   func() error { return d.Remove("dir/secret") },
			"make past a link":     func() error { return d.Mkdir("dir/new") },
			"place past a link":    func() error { return d.Place("mine", "dir/mine") },
			"replace past a link":  func() error { return d.Replace("dir/secret", "stolen") },
			"stat past a link":     func() error { _, err := d.Stat("dir/secret"); return err },
			"open a parent":        func() error { _, err := d.Open("../outside/secret", Read); return err },
			"open an absolute one": func() error { _, err := d.Open("/etc/passwd", Read); return err },
			"place into a parent":  func() error { return d.Place("mine", "../mine") },
		} {
			err := call()
			if !errors.Is(err, ErrSymlink) && !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
			if err != nil && strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("%s: the error contains the path of the store: %v", name, err)
			}
		}
		if info, err := d.Stat("file"); err != nil || info.Kind != Symlink {
			t.Errorf("stat of a link itself: %+v, %v", info, err)
		}
		if b, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(b) != "s" {
			t.Errorf("the file outside is %q, %v", b, err)
		}
	})
}

func TestOpenRefusesSpecialFilesWithoutBlocking(t *testing.T) {
	withAndWithoutOpenat2(t, func(t *testing.T, d *Dir, path string) {
		ok(t, syscall.Mkfifo(filepath.Join(path, "pipe"), 0o600))
		ok(t, d.Mkdir("dir"))
		for _, name := range []string{"pipe", "dir"} {
			if _, err := d.Open(name, Read); !errors.Is(err, ErrNotRegular) {
				t.Errorf("open %s: %v", name, err)
			}
		}
		put(t, d, "file", "")
		if _, err := d.Open("file/x", Read); !IsNotDirectory(err) {
			t.Errorf("a file as a directory: %v", err)
		}
	})
}

// TestReadStart: the beginning of a regular file is read, and nothing of what else a name may be.
func TestReadStart(t *testing.T) {
	withAndWithoutOpenat2(t, func(t *testing.T, d *Dir, path string) {
		put(t, d, "file", "content")
		put(t, d, "empty", "")
		ok(t, d.Mkdir("dir"))
		ok(t, os.Symlink("file", filepath.Join(path, "link")))
		ok(t, syscall.Mkfifo(filepath.Join(path, "pipe"), 0o600))
		for name, want := range map[string]string{"file": "cont", "empty": "", "dir": "", "link": "", "pipe": "", "missing": "", "../file": ""} {
			b := make([]byte, 4)
			if n, ok := ReadStart(d, name, b); string(b[:n]) != want || ok != (want != "") {
				t.Errorf("%s: %q, %v", name, b[:n], ok)
			}
		}
		b := make([]byte, 8)
		if n, ok := ReadStart(d, "file", b); string(b[:n]) != "content" || !ok {
			t.Errorf("%q, %v", b[:n], ok)
		}
		if n, ok := ReadStart(struct{ FS }{d}, "file", b); n != 0 || ok {
			t.Errorf("of another tree: %d, %v", n, ok)
		}
	})
}

// TestReadStartOfManyFiles: of a directory that is kept open, a name has the same meaning as at first; such directories are
// few, are kept while a caller wants it, and are closed with the root.
func TestReadStartOfManyFiles(t *testing.T) {
	withAndWithoutOpenat2(t, func(t *testing.T, d *Dir, path string) {
		for i := range 3 * startsMax {
			dir := fmt.Sprint("dir", i)
			ok(t, d.Mkdir(dir))
			put(t, d, dir+"/file", dir)
			ok(t, os.Symlink("file", filepath.Join(path, dir, "link")))
		}
		put(t, d, "file", "of the root")
		read := func(dir string) {
			b := make([]byte, 16)
			if n, found := ReadStart(d, dir+"/file", b); string(b[:n]) != dir || !found {
				t.Errorf("%s: %q", dir, b[:n])
			}
		}
		for range 3 {
			read("dir1")
		}
		if n := openBelow(path); n > 1 {
			t.Errorf("%d directories are open, without KeepDirs", n)
		}
		other := KeepDirs(d)
		done := KeepDirs(d)
		for range 5 {
			for i := range 2 * startsMax {
				dir := fmt.Sprint("dir", i/2)
				for name, want := range map[string]string{"file": dir, "link": "", "missing": "", "../file": "", "": "", ".": "", "..": "", "../" + dir + "/file": ""} {
					b := make([]byte, 16)
					if n, ok := ReadStart(d, dir+"/"+name, b); string(b[:n]) != want || ok != (want != "") {
						t.Errorf("%s/%s: %q, %v", dir, name, b[:n], ok)
					}
				}
			}
		}
		kept := d.starts.open
		for _, dir := range kept {
			if fi, err := os.Stat(filepath.Join(path, dir.name)); dir.name == "" || err != nil || !fi.IsDir() {
				t.Errorf("kept open: %+v, %v", kept, err)
			}
		}
		// Each name is that of a directory, a file of which is read again and again while others come and go.
		var reading sync.WaitGroup
		for i := range 3 * startsMax {
			reading.Go(func() {
				for range 200 {
					read(fmt.Sprint("dir", i))
				}
			})
		}
		reading.Wait()
		if n := openBelow(path); n > 1+startsMax {
			t.Errorf("%d directories are open", n)
		}
		// One that was moved is found at its place, or not at all.
		last := d.starts.open[0].name
		ok(t, d.Place(last, "moved"))
		b := make([]byte, 16)
		if n, found := ReadStart(d, "moved/file", b); string(b[:n]) != last || !found {
			t.Errorf("moved: %q, %v", b[:n], found)
		}
		if n, found := ReadStart(d, last+"/file", b); found && string(b[:n]) != last {
			t.Errorf("the name of before: %q", b[:n])
		}
		done()
		if d.starts.open == [startsMax]startDir{} {
			t.Error("none is kept open for the other caller")
		}
		other()
		if n := openBelow(path); n > 1 {
			t.Errorf("%d directories are open, without a caller", n)
		}
		ok(t, d.Mkdir("new"))
		put(t, d, "new/file", "new")
		done = KeepDirs(d)
		for range 3 {
			read("new")
		}
		ok(t, d.Close())
		done()
		if n := openBelow(path); n > 0 || d.starts.open != [startsMax]startDir{} {
			t.Errorf("after Close: %+v, %d are open", d.starts.open, n)
		}
	})
}

// openBelow returns how many descriptors of this process are of a directory or of what is in it; 0 where the system has no
// such list.
func openBelow(dir string) (n int) {
	all, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range all {
		if at, err := os.Readlink(fd); err == nil && strings.HasPrefix(at, dir) {
			n++
		}
	}
	return n
}

// TestFilesArePrivateUnderAnyUmask: only the owner has access, and the owner always has it.
func TestFilesArePrivateUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0, 0o777} {
		old := syscall.Umask(mask)
		d := NewDir(filepath.Join(t.TempDir(), "a", "b"))
		err := errors.Join(d.Mkdir("."), d.Mkdir("dir"))
		f, openErr := d.Open("dir/file", New)
		syscall.Umask(old)
		ok(t, errors.Join(err, openErr))
		ok(t, f.Close())
		for name, want := range map[string]fs.FileMode{".": 0o700, "dir": 0o700, "dir/file": 0o600} {
			info, err := d.Stat(name)
			if err != nil || info.Perm != want {
				t.Errorf("umask %#o: %s has mode %#o, %v; want %#o", mask, name, info.Perm, err, want)
			}
		}
	}
}

func TestTogetherRunsAllAndJoinsErrors(t *testing.T) {
	d := NewDir(t.TempDir())
	var mu sync.Mutex
	ran := 0
	fails := func(err error) func() error {
		return func() error { mu.Lock(); defer mu.Unlock(); ran++; return err }
	}
	one, two := errors.New("one"), errors.New("two")
	err := d.SyncAll(fails(one), fails(nil), fails(two))
	if ran != 3 || !errors.Is(err, one) || !errors.Is(err, two) {
		t.Errorf("%d ran, %v", ran, err)
	}
	ok(t, d.SyncAll())
}

func TestErrorClasses(t *testing.T) {
	wrap := func(err error) error { return fail("write", "x", err) }
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if !IsFull(wrap(err)) || IsReadOnly(wrap(err)) {
			t.Errorf("%v is not classified as full", err)
		}
	}
	for _, err := range []error{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		if !IsReadOnly(wrap(err)) || IsFull(wrap(err)) {
			t.Errorf("%v is not classified as read-only", err)
		}
	}
	if IsFull(wrap(syscall.EIO)) || IsReadOnly(wrap(syscall.EIO)) {
		t.Error("EIO is classified as full or read-only")
	}
}

func TestVolumeOfMissingRoot(t *testing.T) {
	d := NewDir(filepath.Join(t.TempDir(), "missing", "root"))
	v, err := d.Volume()
	if err != nil || v.Type == "" || v.Network {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestPlaceMovesWholeDirectories: with the system call, and with the fallback for filesystems
// without it.
func TestPlaceMovesWholeDirectories(t *testing.T) {
	for name, fallback := range map[string]bool{"with the flag": false, "without the flag": true} {
		t.Run(name, func(t *testing.T) {
			d := NewDir(filepath.Join(t.TempDir(), "root"))
			defer d.Close()
			ok(t, d.Mkdir("."))
			place := d.Place
			if fallback {
				place = func(from, to string) error { return d.rename("place", from, to, linkNoReplace) }
			}
			for _, dir := range []string{"x", "x/one", "x/one/in", "x/empty", "x/full", "y"} {
				ok(t, d.Mkdir(dir))
			}
			put(t, d, "x/one/in/file", "1")
			put(t, d, "x/full/file", "2")
			for _, taken := range []string{"x/empty", "x/full", "x/full/file"} {
				if err := place("x/one", taken); !errors.Is(err, fs.ErrExist) {
					t.Errorf("over %s: %v", taken, err)
				}
			}
			ok(t, place("x/one", "x/two"))
			ok(t, place("x/two", "y/three"))
			if got := get(t, d, "y/three/in/file") + get(t, d, "x/full/file"); got != "12" {
				t.Errorf("read %q", got)
			}
			for _, gone := range []string{"x/one", "x/two"} {
				if _, err := d.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s still exists: %v", gone, err)
				}
			}
			if err := place("x/absent", "x/four"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("place of a missing file: %v", err)
			}
			if _, err := d.Stat("x/four"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the claimed name still exists: %v", err)
			}
		})
	}
}
