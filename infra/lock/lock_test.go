package lock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/crashfs"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// onFilesAndInMemory runs a test on files and in memory; each call of open acts as a process.
func onFilesAndInMemory(t *testing.T, run func(t *testing.T, tree osfs.FS, open func() *Locks)) {
	t.Run("files", func(t *testing.T) {
		d := osfs.NewDir(t.TempDir())
		run(t, d, func() *Locks { return Files(d) })
	})
	t.Run("memory", func(t *testing.T) {
		f, m := crashfs.New(), NewMemory()
		run(t, f, func() *Locks { return m.On(f) })
	})
}

func TestExclusiveExcludesAllAndSharedOnlyWriters(t *testing.T) {
	ctx := context.Background()
	onFilesAndInMemory(t, func(t *testing.T, _ osfs.FS, open func() *Locks) {
		a, b := open(), open()
		held, err := a.Acquire(ctx, "l", Exclusive, 0)
		ok(t, err)
		for _, how := range []Mode{Exclusive, Shared, SharedIfExists} {
			var busy *Busy
			if _, err := b.Acquire(ctx, "l", how, 0); !errors.As(err, &busy) || busy.PID != os.Getpid() {
				t.Errorf("how %d beside an exclusive lock: %v", how, err)
			}
		}
		ok(t, held.Unlock())
		one, err := a.Acquire(ctx, "l", Shared, 0)
		ok(t, err)
		two, err := b.Acquire(ctx, "l", Shared, 0)
		ok(t, err)
		ok(t, one.Unlock())
		if _, err := a.Acquire(ctx, "l", Exclusive, 0); err == nil {
			t.Error("exclusive beside a shared lock")
		}
		ok(t, two.Unlock())
		held, err = a.Acquire(ctx, "l", Exclusive, 0)
		ok(t, err)
		ok(t, held.Unlock())
		ok(t, held.Unlock())
	})
}

func TestSharedIfThereCreatesNoFile(t *testing.T) {
	ctx := context.Background()
	onFilesAndInMemory(t, func(t *testing.T, tree osfs.FS, open func() *Locks) {
		held, err := open().Acquire(ctx, "l", SharedIfExists, 0)
		ok(t, err)
		ok(t, held.Unlock())
		if _, err := tree.Stat("l"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat: %v", err)
		}
		if _, err := open().Acquire(ctx, "no/such/l", Exclusive, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("in a missing directory: %v", err)
		}
	})
}

func TestNotesReachTheNextHolder(t *testing.T) {
	ctx := context.Background()
	onFilesAndInMemory(t, func(t *testing.T, _ osfs.FS, open func() *Locks) {
		l := open()
		for _, note := range []string{"first", "second-and-longer", ""} {
			held, err := l.Acquire(ctx, "l", Exclusive, 0)
			ok(t, err)
			ok(t, held.SetNote(note))
			ok(t, held.Unlock())
			if got := open().Note("l"); got != note {
				t.Errorf("Note = %q, want %q", got, note)
			}
			held, err = open().Acquire(ctx, "l", Exclusive, 0)
			ok(t, err)
			if held.Note() != note {
				t.Errorf("the next holder reads %q, want %q", held.Note(), note)
			}
			ok(t, held.Unlock())
		}
		held, err := l.Acquire(ctx, "l", Exclusive, 0)
		ok(t, err)
		for _, bad := range []string{"two words", "two\nlines", strings.Repeat("x", recordBytes)} {
			if held.SetNote(bad) == nil {
				t.Errorf("the note %q was accepted", bad)
			}
		}
		ok(t, held.Unlock())
	})
}

// TestLockOnRemovedFileExcludesNothing: a cleanup removes the file while a process waits.
func TestLockOnRemovedFileExcludesNothing(t *testing.T) {
	ctx := context.Background()
	onFilesAndInMemory(t, func(t *testing.T, tree osfs.FS, open func() *Locks) {
		first, err := open().Acquire(ctx, "l", Exclusive, 0)
		ok(t, err)
		ok(t, tree.Remove("l"))
		second, err := open().Acquire(ctx, "l", Exclusive, 0) // a new file: no wait
		ok(t, err)
		if _, err := open().Acquire(ctx, "l", Exclusive, 0); err == nil {
			t.Error("a third got the lock of the new file as well")
		}
		ok(t, first.Unlock())
		ok(t, second.Unlock())
	})
	// Another file replaces it between locking and the comparison.
	d := osfs.NewDir(t.TempDir())
	swapped := 0
	l := &Locks{fs: d, exclusion: swapAfterLock{fileExclusion{d.Path()}, func() {
		if swapped++; swapped == 1 {
			ok(t, d.Remove("l"))
			f, err := d.Open("l", osfs.New)
			ok(t, err)
			ok(t, f.Close())
		}
	}}, pid: 1}
	held, err := l.Acquire(ctx, "l", Exclusive, 0)
	ok(t, err)
	if swapped != 2 {
		t.Errorf("locked %d times; want once on the removed file, once on the new", swapped)
	}
	if _, err := Files(d).Acquire(ctx, "l", Exclusive, 0); err == nil {
		t.Error("the lock that was kept is of the removed file")
	}
	ok(t, held.Unlock())
}

// swapAfterLock calls after behind each successful lock.
type swapAfterLock struct {
	exclusion
	after func()
}

func (s swapAfterLock) try(name string, exclusive bool) (lockedFile, bool, error) {
	g, got, err := s.exclusion.try(name, exclusive)
	if got {
		s.after()
	}
	return g, got, err
}

func TestSymlinkAsLockFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	ok(t, os.WriteFile(target, []byte("keep"), 0o600))
	if err := os.Symlink(target, filepath.Join(dir, "l")); err != nil {
		t.Skip("symbolic links are not supported")
	}
	if _, err := Files(osfs.NewDir(dir)).Acquire(context.Background(), "l", Exclusive, 0); err == nil {
		t.Error("a link was locked")
	} else if strings.Contains(err.Error(), dir) {
		t.Errorf("the error contains the path of the store: %v", err)
	}
	if b, _ := os.ReadFile(target); string(b) != "keep" {
		t.Errorf("the target of the link is %q now", b)
	}
}

func TestAcquireStopsWithContext(t *testing.T) {
	onFilesAndInMemory(t, func(t *testing.T, _ osfs.FS, open func() *Locks) {
		held, err := open().Acquire(context.Background(), "l", Exclusive, 0)
		ok(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if _, err := open().Acquire(ctx, "l", Exclusive, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		ok(t, held.Unlock())
	})
}

// TestOtherProcessIsExcludedAndNamed runs the test binary as the other process.
func TestOtherProcessIsExcludedAndNamed(t *testing.T) {
	if dir := os.Getenv("LOCK_TEST_DIR"); dir != "" {
		_, err := Files(osfs.NewDir(dir)).Acquire(context.Background(), "l", Exclusive, 0)
		var busy *Busy
		if errors.As(err, &busy) {
			os.Stdout.WriteString("busy " + strconv.Itoa(busy.PID) + "\n")
		}
		return
	}
	dir := t.TempDir()
	held, err := Files(osfs.NewDir(dir)).Acquire(context.Background(), "l", Exclusive, 0)
	ok(t, err)
	other := exec.Command(os.Args[0], "-test.run", "^TestOtherProcessIsExcludedAndNamed$")
	other.Env = append(os.Environ(), "LOCK_TEST_DIR="+dir)
	out, err := other.CombinedOutput()
	ok(t, err)
	if want := "busy " + strconv.Itoa(os.Getpid()); !strings.Contains(string(out), want) {
		t.Errorf("the other process printed %q; want %q", out, want)
	}
	ok(t, held.Unlock())
}

func TestReplacedDirectoryIsErrMoved(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "store")
	ok(t, os.Mkdir(dir, 0o700))
	d := osfs.NewDir(dir)
	defer d.Close()
	held, err := Files(d).Acquire(context.Background(), "l", Exclusive, 0)
	ok(t, err)
	ok(t, held.Unlock())
	ok(t, os.Rename(dir, filepath.Join(parent, "away")))
	ok(t, os.Mkdir(dir, 0o700))
	for _, exists := range []bool{false, true} { // the lock file in the new directory
		if exists {
			ok(t, os.WriteFile(filepath.Join(dir, "l"), nil, 0o600))
		}
		for _, how := range []Mode{Exclusive, Shared} {
			done := make(chan error, 1)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				_, err := Files(d).Acquire(ctx, "l", how, time.Second)
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, ErrMoved) {
					t.Errorf("how %d, file exists %v: %v", how, exists, err)
				}
			case <-time.After(time.Minute):
				t.Errorf("how %d, file exists %v: Acquire does not return", how, exists)
			}
			cancel()
		}
	}
}
