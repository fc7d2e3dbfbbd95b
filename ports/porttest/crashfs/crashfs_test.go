package crashfs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill/waybill/infra/osfs"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, f *FS, name, text string, sync bool) {
	t.Helper()
	o, err := f.Open(name, osfs.New)
	ok(t, err)
	_, err = o.Write([]byte(text))
	ok(t, err)
	if sync {
		ok(t, o.Sync(osfs.Durable))
	}
	ok(t, o.Close())
}

// states lists the states that a power cut can leave, each as name=content of its files.
func states(f *FS) (out []string) {
	f.Crashes(4096, func(s State) bool {
		var parts []string
		for name, b := range s.FS.Files() {
			parts = append(parts, fmt.Sprintf("%s=%q", name, compact(b)))
		}
		slices.Sort(parts)
		out = append(out, strings.Join(parts, " "))
		return true
	})
	slices.Sort(out)
	return out
}

// compact shortens runs of more than 3 equal bytes to a count and the byte; NUL appears as "0".
func compact(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		if n > 3 {
			fmt.Fprintf(&out, "%d*%c", n, max(b[0], '0'))
		} else {
			out.Write(b[:n])
		}
		b = b[n:]
	}
	return out.String()
}

func expect(t *testing.T, f *FS, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := states(f); !slices.Equal(got, want) {
		t.Errorf("a power cut can leave\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestFileIsLostBeforeItsDirectoryIsSynced(t *testing.T) {
	f := New()
	write(t, f, "a", "x", true)
	expect(t, f, "", `a="x"`)
	ok(t, f.SyncDir(".", osfs.Order))
	expect(t, f, `a="x"`)
}

func TestUnsyncedSectorsAndSizesAreLostIndependently(t *testing.T) {
	f := New()
	write(t, f, "a", strings.Repeat("o", 512), true)
	ok(t, f.SyncDir(".", osfs.Order))
	o, err := f.Open("a", osfs.Append)
	ok(t, err)
	_, err = o.Write([]byte(strings.Repeat("n", 1024)))
	ok(t, err)
	expect(t, f, `a="512*o"`, `a="512*o1024*0"`, `a="512*o1024*n"`, `a="512*o512*n512*0"`, `a="512*o512*0512*n"`)
	ok(t, o.Sync(osfs.Durable))
	expect(t, f, `a="512*o1024*n"`)
	ok(t, o.Truncate(512))
	expect(t, f, `a="512*o1024*n"`, `a="512*o"`)
	_, err = o.Write([]byte("m"))
	ok(t, err)
	// The file may have any of its three sizes, the second sector either content.
	expect(t, f, `a="512*o1024*n"`, `a="512*om511*0512*n"`, `a="512*o"`, `a="512*on"`, `a="512*om"`)
}

func TestSyncAfterFailedSyncMakesNothingDurable(t *testing.T) {
	f := New()
	write(t, f, "a", "", true)
	ok(t, f.SyncDir(".", osfs.Order))
	o, err := f.Open("a", osfs.Append)
	ok(t, err)
	_, err = o.Write([]byte("new"))
	ok(t, err)
	f.Fault = &Fault{At: f.Ops(), Err: syscall.EIO}
	if err := o.Sync(osfs.Durable); !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync returned %v; want EIO", err)
	}
	ok(t, o.Sync(osfs.Durable))
	expect(t, f, `a=""`, `a="\x00\x00\x00"`, `a="new"`)
	ok(t, o.Truncate(0))
	ok(t, o.Sync(osfs.Durable))
	expect(t, f, `a=""`)
}

func TestRenameChangesTwoEntriesAndPlaceKeepsExistingFile(t *testing.T) {
	f := New()
	write(t, f, "a", "x", true)
	write(t, f, "b", "y", true)
	ok(t, f.SyncDir(".", osfs.Order))
	if err := f.Place("a", "b"); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("place over an existing file returned %v; want ErrExist", err)
	}
	ok(t, f.Replace("a", "b"))
	expect(t, f, `a="x" b="y"`, `a="x" b="x"`, `b="y"`, `b="x"`)
	ok(t, f.SyncDir(".", osfs.Order))
	expect(t, f, `b="x"`)
}

func TestFaultTearsWriteAndKillsProcess(t *testing.T) {
	f := New()
	f.Fault = &Fault{At: 1, Part: 2}
	o, err := f.Open("a", osfs.New)
	ok(t, err)
	if n, err := o.Write([]byte("1234")); n != 2 || !errors.Is(err, ErrKilled) {
		t.Fatalf("a torn write returned %d, %v; want 2, ErrKilled", n, err)
	}
	if _, err := f.Open("a", osfs.Read); !errors.Is(err, ErrKilled) {
		t.Fatalf("open after the kill returned %v; want ErrKilled", err)
	}
	if got := string(f.Reopen().Files()["a"]); got != "12" {
		t.Fatalf("the next process reads %q; want 12", got)
	}
}

func TestPostponedSyncTakesEffectWithManifestSync(t *testing.T) {
	f := New()
	f.Mutation = func(op Op) Act {
		if op.Action == "sync" && op.Name == "t" {
			return Postpone
		}
		return Perform
	}
	write(t, f, "t", "x", true)
	ok(t, f.SyncDir(".", osfs.Order))
	expect(t, f, `t=""`, `t="\x00"`, `t="x"`)
	write(t, f, "manifest.jsonl", "", true)
	ok(t, f.SyncDir(".", osfs.Order))
	expect(t, f, `manifest.jsonl="" t="x"`)
}

func TestBoundedEnumerationIsDeterministic(t *testing.T) {
	f := New()
	for i := range 20 {
		write(t, f, fmt.Sprint("f", i), "x", false)
	}
	count := func() (n int) {
		f.Crashes(100, func(State) bool { n++; return true })
		return n
	}
	if a, b := count(), count(); a != b || a < 1000 {
		t.Fatalf("%d and %d states; want the same number, at least 1000", a, b)
	}
}

// The two names of a moved directory are two entries; values inside it are durable or unsynced as
// they were before the move.
func TestMovedDirectoryKeepsItsContent(t *testing.T) {
	f := New()
	ok(t, f.Mkdir("a"))
	ok(t, f.Mkdir("taken"))
	write(t, f, "a/x", "1", true)
	ok(t, f.SyncDir("a", osfs.Order))
	ok(t, f.SyncDir(".", osfs.Order))
	if err := f.Place("a", "taken"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("place over an existing directory returned %v; want ErrExist", err)
	}
	ok(t, f.Place("a", "b"))
	if got, want := states(f), []string{"", `a/x="1"`, `a/x="1" b/x="1"`, `b/x="1"`}; !slices.Equal(got, want) {
		t.Errorf("before the sync: %q; want %q", got, want)
	}
	write(t, f, "b/y", "2", false)
	ok(t, f.SyncDir(".", osfs.Durable))
	if got, want := states(f), []string{`b/x="1"`, `b/x="1" b/y=""`, `b/x="1" b/y="2"`,
		`b/x="1" b/y="\x00"`}; !slices.Equal(got, want) {
		t.Errorf("after the sync: %q; want %q", got, want)
	}
}

// States and copies of a disk share the arrays of file contents: a change to a state, to a copy or
// to the disk itself must not be visible in any of the others.
func TestStatesAndCopiesAreIndependent(t *testing.T) {
	f := New()
	write(t, f, "a", "one", true)
	ok(t, f.SyncDir(".", osfs.Order))
	append1 := func(f *FS, text string) {
		o, err := f.Open("a", osfs.Append)
		ok(t, err)
		_, err = o.Write([]byte(text))
		ok(t, err)
		ok(t, o.Sync(osfs.Durable))
	}
	overwrite := func(f *FS) {
		o, err := f.Open("a", osfs.Update)
		ok(t, err)
		_, err = o.WriteAt([]byte("X"), 0)
		ok(t, err)
		ok(t, o.Sync(osfs.Durable))
	}
	read := func(f *FS) string { return string(f.Files()["a"]) }
	copied := f.Reopen()
	var left []*FS
	f.Crashes(8, func(s State) bool { left = append(left, s.FS, s.FS.Reopen()); return true })
	append1(f, "+f")
	append1(copied, "+copy")
	for i, s := range left {
		append1(s, fmt.Sprint("+", i))
		overwrite(s)
	}
	if read(f) != "one+f" || read(copied) != "one+copy" {
		t.Errorf("the disk holds %q, its copy %q; want one+f and one+copy", read(f), read(copied))
	}
	for i, s := range left {
		want := fmt.Sprint("Xne+", i)
		if expect(t, s, fmt.Sprintf("a=%q", want)); read(s) != want {
			t.Errorf("state %d holds %q, want %q", i, read(s), want)
		}
	}
	if len(left) != 2 {
		t.Errorf("%d states; want 2", len(left))
	}
}
