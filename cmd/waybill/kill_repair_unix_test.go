//go:build linux

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRepairOfSparseFileIsKilled: repairs of a log whose manifest has a hole of ten gigabytes are killed at random
// moments. No event is lost, the next repair completes, and the copies take little space on the disk and little time.
func TestRepairOfSparseFileIsKilled(t *testing.T) {
	t.Parallel()
	const size, rounds = 10 << 30, 25
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	if err := os.WriteFile(filepath.Join(p.dir, "kill.json"), []byte(manyCommands(2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.command("run", "kill.json", "--trust", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	session, err := filepath.Glob(filepath.Join(p.store, "sessions", "sess_*"))
	if err != nil || len(session) != 1 {
		t.Fatal(session, err)
	}
	log := filepath.Join(session[0], "manifest.jsonl")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for round := range rounds {
		if err := os.Truncate(log, size); err != nil {
			t.Skip("the filesystem has no files of ten gigabytes")
		}
		cmd := p.command("repair", "--apply", "--yes")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if round < rounds-1 {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGKILL)
		}
		if cmd.Wait() != nil {
			killed++
		}
		if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); used > 5*time.Second {
			t.Errorf("round %d took %v of CPU", round, used)
		}
		if now, err := os.Open(log); err != nil {
			t.Fatalf("round %d: %v", round, err)
		} else {
			have := make([]byte, len(whole))
			if _, err := now.ReadAt(have, 0); err != nil || string(have) != string(whole) {
				t.Fatalf("round %d: the log begins with %q, %v", round, have, err)
			}
			_ = now.Close()
		}
	}
	if killed == 0 {
		t.Error("no repair was killed")
	}
	p.verified()
	if used := diskUsage(t, p.store); used > 32<<20 {
		t.Errorf("the store takes %d bytes of the disk", used)
	}
	entries, err := filepath.Glob(filepath.Join(p.store, "quarantine", "*", "manifest.jsonl"))
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	if info, err := os.Stat(entries[len(entries)-1]); err != nil || info.Size() != size {
		t.Errorf("%s: %v, %v", strings.TrimPrefix(entries[len(entries)-1], p.store), info, err)
	}
}

// diskUsage adds up the blocks of all files below a directory.
func diskUsage(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
