package filestore_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// unknownOutcome returns a disk after an append with STORE_OUTCOME_UNKNOWN: the sync of its group
// failed, and so did the truncation of the group. Processes see the group, and the disk works
// again.
func unknownOutcome(t *testing.T, boot string) (scenario, *crashfs.FS) {
	t.Helper()
	sc := advanceScenario(t)
	sc.boot = boot
	run := sc.base.Reopen()
	run.Before = func(op crashfs.Op) {
		if op.Action == "sync" && isManifest(op) && run.Fault == nil {
			run.Fault = &crashfs.Fault{At: op.N, Err: syscall.EIO, For: 1} // and the truncation after it
		}
	}
	if err := sc.act(run); !fault.Is(err, fault.StoreOutcomeUnknown) {
		t.Fatalf("the append returned %v; want STORE_OUTCOME_UNKNOWN", err)
	}
	after := run.Reopen()
	if head, err := sc.truth(after); err != nil || head != sc.after {
		t.Fatalf("the group is not visible: %+v, %v", head, err)
	}
	return sc, after
}

// confirmAndCrash lets the next process confirm the head, and checks that every power cut keeps it.
func confirmAndCrash(sc scenario, f *crashfs.FS) (lost error) {
	s, err := sc.process(f, 7)
	if err != nil {
		return err
	}
	if err := s.Confirm(context.Background(), sc.plan.Log, sc.after); err != nil {
		return err
	}
	f.Crashes(64, func(state crashfs.State) bool {
		if head, err := sc.truth(state.FS); err != nil || head != sc.after {
			lost = fmt.Errorf("%s: the log is at %d, %v", state.Name, head.Next, err)
		}
		return lost == nil
	})
	return lost
}

// TestConfirmAfterFailedSyncRewritesLog (docs/design.md#failed-sync): the suspect marker, or, where
// the boot has an id, the writer's note, makes the next process rewrite the manifest.
func TestConfirmAfterFailedSyncRewritesLog(t *testing.T) {
	t.Parallel()
	for _, boot := range []string{"boot", ""} {
		sc, f := unknownOutcome(t, boot)
		if err := confirmAndCrash(sc, f); err != nil {
			t.Errorf("on boot %q: %v", boot, err)
		}
	}
	// An append after such a group must make that group durable too.
	for _, boot := range []string{"boot", ""} {
		sc, f := unknownOutcome(t, boot)
		s, err := sc.process(f, 7)
		fatal(t, err)
		sc.before = sc.after
		sc.after, err = appendPlan(s, sc.after, sc.further(sc.after.Next))
		fatal(t, err)
		if err := sc.checkOutcome(f, nil, 64, new(int)); err != nil {
			t.Errorf("on boot %q, a further append: %v", boot, err)
		}
	}
	// Without the marker and without notes, the confirmed group is lost.
	sc, f := unknownOutcome(t, "")
	f.Mutation = act(crashfs.HideFile, func(op crashfs.Op) bool {
		return op.Action == "stat" &&
			filepath.Base(op.Name) == "suspect"
	})
	if confirmAndCrash(sc, f) == nil {
		t.Error("the mutant that does not find the marker is not detected")
	}
}

// TestFailedConfirmLeavesSuspectMarker: the failed sync of a Confirm may have
// marked unsynced pages as clean.
func TestFailedConfirmLeavesSuspectMarker(t *testing.T) {
	t.Parallel()
	for _, boot := range []string{"boot", ""} {
		sc := advanceScenario(t)
		sc.boot = boot
		killed := sc.base.Reopen()
		killed.Before = func(op crashfs.Op) { // after the write of the group
			if op.Action == "sync" && isManifest(op) && killed.Fault == nil {
				killed.Fault = &crashfs.Fault{At: op.N}
			}
		}
		_ = sc.act(killed)
		f := killed.Reopen()
		f.Before = func(op crashfs.Op) {
			if op.Action == "sync" && f.Fault == nil {
				f.Fault = &crashfs.Fault{At: op.N, Err: syscall.EIO}
			}
		}
		s, err := sc.process(f, 6)
		fatal(t, err)
		if err := s.Confirm(context.Background(), sc.plan.Log, sc.after); !fault.Is(err, fault.StoreIO) {
			t.Fatalf("Confirm with a failing sync returned %v; want STORE_IO", err)
		}
		if err := confirmAndCrash(sc, f.Reopen()); err != nil {
			t.Errorf("on boot %q, confirmed again: %v", boot, err)
		}
	}
}

// TestObjectOfFailedSyncIsRewritten: an object whose directory failed to sync is visible, but a
// later sync of the directory does not make it durable. Another session that commits the same
// object must not lose it (docs/design.md#failed-sync).
func TestObjectOfFailedSyncIsRewritten(t *testing.T) {
	t.Parallel()
	shared := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("an artifact of two sessions")}
	first, second := suite.NewSessionFixture(1).Start(), suite.NewSessionFixture(2).Start()
	first.Objects, second.Objects = append(first.Objects, shared), append(second.Objects, shared)
	for name, once := range map[string]bool{"one sync fails": true, "the directory fails from then on": false} {
		f := crashfs.New()
		failing := false
		f.Before = func(op crashfs.Op) {
			if op.Action == "syncdir" && op.Name == "artifacts" && !failing || failing && !once &&
				strings.HasPrefix(op.Name, "artifacts") {
				failing = true
				f.Fault = &crashfs.Fault{At: op.N, Err: syscall.EIO}
			}
		}
		s, err := process(f, 1)
		fatal(t, err)
		if _, err := suite.Gate(s, first); !fault.Is(err, fault.StoreIO) {
			t.Fatalf("%s: the first append returned %v; want STORE_IO", name, err)
		}
		f.Fault, f.Before = nil, nil
		if once { // the next process does not know of the failure, unlike this one
			f = f.Reopen()
			s, err = process(f, 2)
			fatal(t, err)
		}
		_, err = suite.Gate(s, second)
		fatal(t, err)
		f.Crashes(64, func(state crashfs.State) bool {
			after, err := process(state.FS, 3)
			fatal(t, err)
			if _, err := after.Object(context.Background(), shared.Kind, shared.Ref()); err != nil {
				t.Errorf("%s: %s: %v", name, state.Name, err)
				return false
			}
			return true
		})
	}
}

// TestFailedAppendLeavesNoTemporaryFiles: a full disk still allows removing them.
func TestFailedAppendLeavesNoTemporaryFiles(t *testing.T) {
	t.Parallel()
	sc := advanceScenario(t)
	crashfs.InjectFaults(sc.base, sample.OneIn(t, 4), sc.act, func(flaw crashfs.Fault, op crashfs.Op, err error,
		after *crashfs.FS) bool {
		if flaw.Err != syscall.ENOSPC || op.Action == "remove" || err == nil {
			return true
		}
		for name := range after.Files() {
			if strings.Contains(name, ".tmp-") && op.Name != name {
				t.Errorf("%s, %s: %s was not removed", op, flaw, name)
			}
		}
		return true
	})
}

// TestOrphanBeyondEndBlocksAppend: it proves that more was committed, and must not be
// quarantined like the orphan of a crash (docs/design.md#log-tail).
func TestOrphanBeyondEndBlocksAppend(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(openDir(t, dir, 0), fixture.Start())
	fatal(t, err)
	beyond := filepath.Join(dir, fixture.Log.Root, "events", manifest.SegmentName(head.Next+5, head.Next+6))
	fatal(t, os.WriteFile(beyond, []byte("{}"), 0o600))
	fatal(t, os.Truncate(filepath.Join(dir, fixture.Log.Root, ".lock"), 0)) // as after a reboot: no note of the writer
	if _, err := appendPlan(openDir(t, dir, 0), head, fixture.Advance(head.Next)); !fault.Is(err,
		fault.SessionUnhealthy) {
		t.Errorf("an append returned %v; want SESSION_UNHEALTHY", err)
	}
	if _, err := os.Stat(beyond); err != nil {
		t.Errorf("the orphan was removed: %v", err)
	}
}

// TestAnnouncedLogKeepsItsLockFile: a log without a commit is created again, but
// its lock file stays where a process may hold a lock on it.
func TestAnnouncedLogKeepsItsLockFile(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"alone": "", "with a cache": "cache"} {
		f := crashfs.New()
		fixture := suite.NewSessionFixture(1)
		f.Before = func(op crashfs.Op) { // killed while it stages its first segment
			if op.Action == "sync" && strings.Contains(op.Name, "/events/") && f.Fault == nil {
				f.Fault = &crashfs.Fault{At: op.N}
			}
		}
		s, err := process(f, 1)
		fatal(t, err)
		if _, err := suite.Gate(s, fixture.Start()); err == nil {
			t.Fatal("a killed process committed")
		}
		f = f.Reopen()
		if more != "" {
			fatal(t, f.Mkdir(fixture.Log.Root+"/"+more))
		}
		locks := lock.NewMemory()
		open := func(seed byte) *filestore.Store {
			s, err := filestore.Open(f, filestore.Options{Locks: locks.On(f), Boot: "boot",
				Random: rand.NewChaCha8([32]byte{seed})})
			fatal(t, err)
			return s
		}
		unlock, err := open(2).Lock(context.Background(), fixture.Log)
		fatal(t, err)
		if _, err := open(3).Lock(context.Background(), fixture.Log); !fault.Is(err, fault.SessionLocked) {
			t.Errorf("%s: a second lock returned %v; want SESSION_LOCKED", name, err)
		}
		fatal(t, unlock())
		_, err = suite.Gate(open(4), suite.NewSessionFixture(1).Start())
		fatal(t, err)
	}
}

// TestConfirmCreatesNoLockFile: reading does not change a store (docs/design.md#reading).
func TestConfirmCreatesNoLockFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir, 0)
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	fatal(t, err)
	fatal(t, os.Remove(filepath.Join(dir, fixture.Log.Root, ".lock")))
	before := tree(t, dir)
	fatal(t, openDir(t, dir, 0).Confirm(context.Background(), fixture.Log, head))
	if after := tree(t, dir); after != before {
		t.Errorf("the store changed from\n%s to\n%s", before, after)
	}
}

// TestReadersSeeNoDamageDuringAppends: readers run while torn tails are written, truncated and
// overwritten (docs/design.md#reading).
func TestReadersSeeNoDamageDuringAppends(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	writer := openDir(t, dir, 5*time.Second)
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(writer, fixture.Start())
	fatal(t, err)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		s := openDir(t, dir, 5*time.Second)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !done.Load() {
				v, err := s.Read(context.Background(), ports.ReadRequest{Log: fixture.Log}, ports.Skip)
				if err != nil || v.Health != manifest.Healthy {
					t.Errorf("reading during appends: %+v, %v", v, err)
					return
				}
			}
		}()
	}
	for range 40 {
		ahead := *fixture
		plan := ahead.Advance(head.Next)
		tear(t, dir, head, plan)
		head, err = suite.Gate(writer, fixture.Advance(head.Next))
		fatal(t, err)
	}
	done.Store(true)
	wg.Wait()
}

// tear writes what a killed append of a plan leaves: its segment, and its group without the last
// bytes. The plan differs from the following one in its times.
func tear(t *testing.T, dir string, head manifest.Head, plan manifest.Plan) {
	t.Helper()
	for i := range plan.Events {
		plan.Events[i].TimestampMs++
	}
	seg, err := manifest.EncodeSegment(plan.Log, plan.Events)
	fatal(t, err)
	group := manifest.Group(plan.Log, head, seg)
	fatal(t, os.WriteFile(filepath.Join(dir, plan.Log.Root, "events", seg.Name()), seg.Bytes, 0o600))
	f, err := os.OpenFile(filepath.Join(dir, plan.Log.Root, "manifest.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	fatal(t, err)
	_, err = f.Write(bytes.Clone(group[:len(group)-7]))
	fatal(t, err)
	fatal(t, f.Close())
	// A killed process leaves no note of a clean end.
	fatal(t, os.Truncate(filepath.Join(dir, plan.Log.Root, ".lock"), 0))
}
