package diagnose_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	fatal(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	fatal(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for name, want := range map[string]doctor.Kind{"file": doctor.File, "folder": doctor.Directory,
		"none/below": doctor.Missing, "file/below": doctor.Other} {
		got := diagnose.DescribePath(filepath.Join(dir, name))
		if runtime.GOOS == "windows" && name == "file/below" {
			continue // Windows reports a missing name
		}
		if got.Kind != want || want == doctor.Directory && !got.OwnedByUser {
			t.Errorf("%s: %+v", name, got)
		}
		if name != "folder" {
			if near := diagnose.NearestDirectory(filepath.Join(dir, name)); near != dir {
				t.Errorf("near %s: %s", name, near)
			}
		}
	}
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		closed := filepath.Join(dir, "closed")
		fatal(t, os.Mkdir(closed, 0))
		if got := diagnose.DescribePath(filepath.Join(closed, "store")); got.Kind != doctor.Hidden || got.Why == "" {
			t.Errorf("in an inaccessible directory: %+v", got)
		}
		if g := diagnose.Probe(context.Background(), closed); g.Why == "" || g.Write != "" {
			t.Errorf("tried in an inaccessible directory: %+v", g)
		}
	}
}

// TestProbe: a temporary directory supports what a store needs, and is left unchanged.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	g := diagnose.Probe(context.Background(), dir)
	for what, why := range map[string]string{"write": g.Write, "read": g.Read, "sync": g.Sync, "syncdir": g.SyncDir,
		"lock": g.Lock, "place": g.RenameError, "left": g.Unremoved, "why": g.Why} {
		if why != "" {
			t.Errorf("%s: %s", what, why)
		}
	}
	if !g.Excludes || !g.RenameKeepsExisting || len(g.SyncMs) == 0 || g.Filesystem == "" || !g.SpaceKnown ||
		g.FreeBytes <= 0 {
		t.Errorf("%+v", g)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("entries remain: %v, %v", entries, err)
	}
	if gone := diagnose.Probe(context.Background(), filepath.Join(dir, "gone")); gone.Why == "" {
		t.Errorf("in a missing directory: %+v", gone)
	}
}

func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"store.json", "sessions/.tmp-1/a", "sessions/s/events/.tmp-2", "snapshots/.tmp-3",
		"trash/s.1/manifest.jsonl",
		"trash/s.1/.tmp-4", "quarantine/s.1/a", "quarantine/flat"} {
		fatal(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		fatal(t, os.WriteFile(filepath.Join(dir, name), []byte("12345"), 0o600))
	}
	want := doctor.Leftovers{Checked: true, Temporary: 3, Trashed: 1, TrashBytes: 10, Quarantined: 2,
		QuarantineBytes: 10}
	if got := diagnose.Leftovers(dir); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	if held, _ := diagnose.InUse(context.Background(), dir); held {
		t.Error("a store without a lock is in use")
	}
	if _, err := os.Stat(filepath.Join(dir, ".use.lock")); err == nil {
		t.Error("InUse created the lock")
	}
	d := osfs.NewDir(dir)
	defer d.Close()
	held, err := lock.Files(d).Acquire(context.Background(), ".use.lock", lock.Exclusive, 0)
	fatal(t, err)
	if held, pid := diagnose.InUse(context.Background(), dir); !held || pid != os.Getpid() {
		t.Errorf("held %v by %d", held, pid)
	}
	fatal(t, held.Unlock())
	if held, _ := diagnose.InUse(context.Background(), dir); held {
		t.Error("a released lock is held")
	}
}
