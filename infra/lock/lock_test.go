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

// bothKinds runs a test on files and in memory; each call of open is a process.
func bothKinds(t *testing.T, run func(t *testing.T, tree osfs.FS, open func() *Locks)) {
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
	bothKinds(t, func(t *testing.T, _ osfs.FS, open func() *Locks) {
		a, b := open(), open()
		held, err := a.Acquire(ctx, "l", Exclusive, 0)
		ok(t, err)
		for _, how := range []How{Exclusive, Shared, SharedIfThere} {
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

func TestASharedLockOnNothingMakesNothing(t *testing.T) {
	ctx := context.Background()
	bothKinds(t, func(t *testing.T, tree osfs.FS, open func() *Locks) {
		held, err := open().Acquire(ctx, "l", SharedIfThere, 0)
		ok(t, err)
		ok(t, held.Unlock())
		if _, err := tree.Stat("l"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat: %v", err)
		}
		if _, err := open().Acquire(ctx, "no/such/l", Exclusive, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("in a folder that is not there: %v", err)
		}
	})
}

func TestNotesReachTheNextHolder(t *testing.T) {
	ctx := context.Background()
	bothKinds(t, func(t *testing.T, _ osfs.FS, open func() *Locks) {
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
				t.Errorf("the note %q was taken", bad)
			}
		}
		ok(t, held.Unlock())
	})
}

// TestALockOnARemovedFileIsNone: a cleanup removes the file while somebody waits.
func TestALockOnARemovedFileIsNone(t *testing.T) {
	ctx := context.Background()
	bothKinds(t, func(t *testing.T, tree osfs.FS, open func() *Locks) {
		first, err := open().Acquire(ctx, "l", Exclusive, 0)
		ok(t, err)
		ok(t, tree.Remove("l"))
		second, err := open().Acquire(ctx, "l", Exclusive, 0) // a new file: nothing to wait for
		ok(t, err)
		if _, err := open().Acquire(ctx, "l", Exclusive, 0); err == nil {
			t.Error("a third got the lock of the new file as well")
		}
		ok(t, first.Unlock())
		ok(t, second.Unlock())
	})
	// Another file takes its place between locking it and looking again.
	d := osfs.NewDir(t.TempDir())
	swapped := 0
	l := &Locks{fs: d, keep: swapping{files{d.Path()}, func() {
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

// swapping does something right behind each lock.
type swapping struct {
	exclusion
	after func()
}

func (s swapping) try(name string, exclusive bool) (grip, bool, error) {
	g, got, err := s.exclusion.try(name, exclusive)
	if got {
		s.after()
	}
	return g, got, err
}

func TestALinkInTheLocksPlaceIsRefusedAndNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	ok(t, os.WriteFile(target, []byte("keep"), 0o600))
	if err := os.Symlink(target, filepath.Join(dir, "l")); err != nil {
		t.Skip("no links here")
	}
	if _, err := Files(osfs.NewDir(dir)).Acquire(context.Background(), "l", Exclusive, 0); err == nil {
		t.Error("a link was locked")
	} else if strings.Contains(err.Error(), dir) {
		t.Errorf("the error tells where the store lies: %v", err)
	}
	if b, _ := os.ReadFile(target); string(b) != "keep" {
		t.Errorf("what the link leads to is %q now", b)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	bothKinds(t, func(t *testing.T, _ osfs.FS, open func() *Locks) {
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

// TestAnotherProcessIsKeptOutAndNamed runs itself as the other process.
func TestAnotherProcessIsKeptOutAndNamed(t *testing.T) {
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
	other := exec.Command(os.Args[0], "-test.run", "^TestAnotherProcessIsKeptOutAndNamed$")
	other.Env = append(os.Environ(), "LOCK_TEST_DIR="+dir)
	out, err := other.CombinedOutput()
	ok(t, err)
	if want := "busy " + strconv.Itoa(os.Getpid()); !strings.Contains(string(out), want) {
		t.Errorf("the other process said %q; want %q", out, want)
	}
	ok(t, held.Unlock())
}

func TestAFolderThatWasReplacedIsSaidToBe(t *testing.T) {
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
	for _, there := range []bool{false, true} { // the lock file in the new folder
		if there {
			ok(t, os.WriteFile(filepath.Join(dir, "l"), nil, 0o600))
		}
		for _, how := range []How{Exclusive, Shared} {
			done := make(chan error, 1)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				_, err := Files(d).Acquire(ctx, "l", how, time.Second)
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, ErrMoved) {
					t.Errorf("how %d, file there %v: %v", how, there, err)
				}
			case <-time.After(5 * time.Second):
				t.Errorf("how %d, file there %v: it goes round for ever", how, there)
			}
			cancel()
		}
	}
}
