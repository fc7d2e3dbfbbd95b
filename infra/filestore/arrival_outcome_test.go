package filestore_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// failingSyncDir is a disk that fails to sync one directory.
type failingSyncDir struct {
	osfs.FS
	dir string
}

func (s failingSyncDir) SyncDir(name string, kind osfs.Sync) error {
	if name == s.dir {
		return syscall.EIO
	}
	return s.FS.SyncDir(name, kind)
}

// TestImportOutcomeUnknown: when neither the rename nor its reversal can be made durable, a power
// cut leaves all of the session or nothing, and the error is STORE_OUTCOME_UNKNOWN.
func TestImportOutcomeUnknown(t *testing.T) {
	t.Parallel()
	j := importCases(t)[1]
	run := j.base.Reopen()
	s, err := filestore.Open(failingSyncDir{run, "sessions"}, filestore.Options{Locks: lock.NewMemory().
		On(run), Boot: "boot"})
	fatal(t, err)
	if placed, err := j.tr.Import(s, imported); placed || !fault.Is(err, fault.StoreOutcomeUnknown) {
		t.Fatalf("placed %v, %v", placed, err)
	}
	for name := range run.Files() {
		if strings.HasPrefix(name, "sessions/.tmp-") {
			t.Errorf("%s: a cleanup would empty it, and a power cut may restore the session's name", name)
		}
	}
	seen := map[bool]int{}
	run.Crashes(200, func(state crashfs.State) bool {
		exists, err := j.truth(state.FS)
		if seen[exists]++; err != nil {
			t.Errorf("%s: %v", state.Name, err)
		}
		return err == nil
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("states with and without the session: %v; want both", seen)
	}
}

// TestKeepFileMakesInterruptedImportDurable: a keep file in a session whose rename was not synced
// would be lost with the session, so the rename is synced first.
func TestKeepFileMakesInterruptedImportDurable(t *testing.T) {
	t.Parallel()
	ctx, j := context.Background(), importCases(t)[1]
	run := j.base.Reopen()
	run.Fault = &crashfs.Fault{At: -1, After: true}
	run.Before = func(op crashfs.Op) {
		if op.Action == "place" && op.Name == j.tr.Log.Root {
			run.Fault.At = op.N
		}
	}
	if err := j.act(run); !errors.Is(err, crashfs.ErrKilled) {
		t.Fatal(err)
	}
	next := run.Reopen()
	s, err := process(next, 4)
	fatal(t, err)
	fatal(t, s.UpdateSessionControl(ctx, j.tr.Session, ports.KeepFile,
		func(ports.Control) (ports.Control, error) { return imported, nil }))
	next.Crashes(100, func(state crashfs.State) bool {
		after, err := process(state.FS, 5)
		fatal(t, err)
		exists, err := j.truth(state.FS)
		if c, keepErr := after.SessionControl(ctx, j.tr.Session, ports.KeepFile); err != nil || keepErr != nil ||
			!exists || c.V != 1 {
			t.Errorf("%s: the session exists: %v, its keep file is %+v, %v, %v", state.Name, exists, c, err, keepErr)
			return false
		}
		return true
	})
}

// TestImportOnTemporarilyFailingDisk: a disk fails for a while, from the sync of the objects or
// of the session itself on, and works again for the next process.
func TestImportOnTemporarilyFailingDisk(t *testing.T) {
	t.Parallel()
	j, states := importCases(t)[1], 0
	names, _ := j.syncs(t)
	for at, name := range names {
		if name != "syncdir snapshots#0" && name != "syncdir sessions#0" {
			continue
		}
		for ops := range sample.OneIn(t, 8).Of(50) {
			run := j.base.Reopen()
			run.Fault = &crashfs.Fault{At: at, Err: syscall.EIO, For: ops}
			result := j.act(run)
			after := run.Reopen()
			err := j.checkOutcome(after, result, importFaultLimit, &states)
			if err == nil {
				err = j.continues(after)
			}
			if err == nil {
				err = j.checkOutcome(after, nil, importFaultLimit, &states)
			}
			if err != nil {
				t.Fatalf("%s and %d more fail: %v", name, ops, err)
			}
		}
	}
	t.Logf("%d states", states)
}
