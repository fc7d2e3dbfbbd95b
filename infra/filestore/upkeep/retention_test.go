package upkeep_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func noCondition() error { return nil }

// storeWithSession returns a store with one session of two appends.
func storeWithSession(t *testing.T) (dir string, s *filestore.Store, fixture *suite.SessionFixture) {
	dir = filepath.Join(t.TempDir(), "store")
	s, fixture = storetest.OpenDir(t, dir, 0), suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	storetest.Fatal(t, err)
	_, err = suite.Gate(s, fixture.Advance(head.Next))
	storetest.Fatal(t, err)
	return dir, s, fixture
}

func TestDiscardAndRestoreMoveWholeSession(t *testing.T) {
	t.Parallel()
	dir, s, fixture := storeWithSession(t)
	ctx := context.Background()
	before, v, err := storetest.Read(s, fixture.Log)
	storetest.Fatal(t, err)
	data := canon.OfMembers(canon.Member{Name: "reason", Value: canon.OfString("r")})
	out, err := s.Discard(ctx, fixture.Session, 77, data, noCondition)
	if err != nil || out.Name != fixture.Session.String()+".77" {
		t.Fatal(out, err)
	}
	if all, err := s.Sessions(ctx); err != nil || len(all) != 0 {
		t.Errorf("sessions: %v, %v", all, err)
	}
	trash, err := s.TrashEntries(ctx)
	if err != nil || len(trash) != 1 || trash[0].AtMs != 77 || !trash[0].Control.Data.Equal(data) {
		t.Fatalf("%+v, %v", trash, err)
	}
	// The log in the trash is unchanged.
	inTrash := suite.NewSeen()
	tv, err := s.Read(ctx, ports.ReadRequest{Log: manifest.Log{Root: trash[0].Root, Owner: fixture.Log.Owner,
		Table: fixture.Log.Table}}, ports.Into(&inTrash, suite.NewSeen))
	if err != nil || tv.Head != v.Head || len(inTrash.Segments) != len(before.Segments) {
		t.Errorf("in the trash: %+v, %v", tv, err)
	}
	if _, err := s.Discard(ctx, fixture.Session, 78, data, noCondition); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("discarding an absent session: %v; want SESSION_NOT_FOUND", err)
	}
	// A directory without a commit, left by a lock, is replaced.
	unlock, err := s.Lock(ctx, fixture.Log)
	storetest.Fatal(t, err)
	storetest.Fatal(t, unlock())
	if got, err := s.Restore(ctx, out.Name); err != nil || got != fixture.Session {
		t.Fatal(got, err)
	}
	if _, now, err := storetest.Read(s, fixture.Log); err != nil || now.Head != v.Head {
		t.Errorf("restored: %+v, %v", now, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sessions", fixture.Session.String(), "trash.json")); !os.IsNotExist(err) {
		t.Errorf("trash.json was restored with the session: %v", err)
	}
	// Discarded and started again: the old session must not replace the new one.
	_, err = s.Discard(ctx, fixture.Session, 79, data, noCondition)
	storetest.Fatal(t, err)
	_, err = suite.Gate(s, suite.NewSessionFixture(1).Start())
	storetest.Fatal(t, err)
	if _, err := s.Restore(ctx, fixture.Session.String()+".79"); !fault.Is(err, fault.ValidationError) {
		t.Errorf("restoring over another session: %v; want VALIDATION_ERROR", err)
	}
	storetest.Fatal(t, s.Empty(ctx, fixture.Session.String()+".79"))
	storetest.Fatal(t, s.Empty(ctx, fixture.Session.String()+".79"))
	if trash, err := s.TrashEntries(ctx); err != nil || len(trash) != 0 {
		t.Errorf("%+v, %v", trash, err)
	}
	for _, name := range []string{"", "..", "../sessions", "x.1", fixture.Session.String(), fixture.Session.String() +
		".01"} {
		if _, err := s.Restore(ctx, name); !fault.Is(err, fault.SessionNotFound) {
			t.Errorf("restoring %q: %v", name, err)
		}
	}
}

func TestDiscardWaitsForHolders(t *testing.T) {
	t.Parallel()
	dir, s, fixture := storeWithSession(t)
	ctx, other := context.Background(), storetest.OpenDir(t, dir, 0)
	discard := func() error {
		_, err := s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), noCondition)
		return err
	}
	unlock, err := other.Lock(ctx, fixture.Log)
	storetest.Fatal(t, err)
	if err := discard(); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("with a writer: %v; want SESSION_LOCKED", err)
	}
	storetest.Fatal(t, unlock())
	held, err := lock.Files(osfs.NewDir(dir)).
		Acquire(ctx, "sessions/"+fixture.Session.String()+"/.performer.lock", lock.Exclusive, 0)
	storetest.Fatal(t, err)
	if err := discard(); !fault.Is(err, fault.RunBusy) {
		t.Errorf("with a performer: %v; want RUN_BUSY", err)
	}
	storetest.Fatal(t, held.Unlock())
	notes := suite.SessionNotes(fixture.Session)
	unlock, err = other.Lock(ctx, notes)
	storetest.Fatal(t, err)
	if err := discard(); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("with a locked side log: %v; want SESSION_LOCKED", err)
	}
	storetest.Fatal(t, unlock())
	rejected := errors.New("rejected")
	if _, err := s.Discard(ctx, fixture.Session, 5, canon.OfMembers(),
		func() error { return rejected }); !errors.Is(err,
		rejected) {
		t.Errorf("with a condition that fails: %v; want its error", err)
	}
	// Writers and cleanups are excluded while the condition runs.
	_, err = s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), func() error {
		if _, err := other.Lock(ctx, fixture.Log); !fault.Is(err, fault.SessionLocked) {
			t.Errorf("a writer during the condition: %v", err)
		}
		if err := other.Exclusive(ctx, func(ports.Sweeper) error { return nil }); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("a cleanup during the condition: %v", err)
		}
		return nil
	})
	storetest.Fatal(t, err)
}

// A writer that waits for the lock of a session that is discarded meanwhile fails, and writes
// nothing to the trash.
func TestWaitingWriterFindsDiscardedSessionAbsent(t *testing.T) {
	t.Parallel()
	dir, s, fixture := storeWithSession(t)
	ctx, waiting := context.Background(), storetest.OpenDir(t, dir, time.Minute)
	waited := make(chan error)
	_, err := s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), func() error {
		go func() {
			_, err := suite.Gate(waiting, fixture.Advance(6))
			waited <- err
		}()
		time.Sleep(50 * time.Millisecond)
		return nil
	})
	storetest.Fatal(t, err)
	if err := <-waited; err == nil {
		t.Error("the waiting append returned nil")
	}
	trash, err := s.TrashEntries(ctx)
	storetest.Fatal(t, err)
	inTrash := suite.NewSeen()
	v, err := s.Read(ctx, ports.ReadRequest{Log: manifest.Log{Root: trash[0].Root, Owner: fixture.Log.Owner,
		Table: fixture.Log.Table}}, ports.Into(&inTrash, suite.NewSeen))
	if err != nil || v.Health != manifest.Healthy || len(inTrash.Segments) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestSweeperRequiresExclusiveLock(t *testing.T) {
	t.Parallel()
	dir, s, fixture := storeWithSession(t)
	ctx, other := context.Background(), storetest.OpenDir(t, dir, 0)
	var kept ports.Sweeper
	storetest.Fatal(t, s.Exclusive(ctx, func(b ports.Sweeper) error {
		kept = b
		// Commits are excluded.
		if _, err := suite.Gate(other, suite.NewSessionFixture(2).Start()); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("a commit: %v", err)
		}
		if _, err := b.RemoveLeftover(ctx, "sessions"); err == nil {
			t.Error("a directory that is no leftover was removed")
		}
		if _, err := b.RemoveLeftover(ctx, "../.tmp-x"); err == nil {
			t.Error("a path outside the store was accepted")
		}
		if gone, err := b.RemoveUnborn(ctx, fixture.Session); gone || err != nil {
			t.Errorf("a session with events was removed as unborn: %v, %v", gone, err)
		}
		return nil
	}))
	ref := canon.Sum([]byte("x"))
	if err := kept.RemoveObject(ctx, manifest.Snapshot, ref); !fault.Is(err, fault.Internal) {
		t.Errorf("removing an object after the end: %v; want INTERNAL", err)
	}
	if _, err := kept.RemoveLeftover(ctx, ".tmp-x"); !fault.Is(err, fault.Internal) {
		t.Errorf("removing a leftover after the end: %v; want INTERNAL", err)
	}
	if _, err := kept.RemoveUnborn(ctx, id.NewSession(id.Seed{9})); !fault.Is(err, fault.Internal) {
		t.Errorf("removing a session after the end: %v; want INTERNAL", err)
	}
}

// A temporary file of a log whose lock is held stays: the writer may be about to rename it.
func TestLeftoverOfLockedLogIsKept(t *testing.T) {
	t.Parallel()
	dir, s, fixture := storeWithSession(t)
	ctx, other := context.Background(), storetest.OpenDir(t, dir, 0)
	name := fixture.Log.Root + "/.tmp-copy"
	storetest.Fatal(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("x"), 0o600))
	unlock, err := other.Lock(ctx, fixture.Log)
	storetest.Fatal(t, err)
	sweep := func() (gone bool) {
		storetest.Fatal(t, s.Exclusive(ctx, func(b ports.Sweeper) (err error) { gone, err = b.RemoveLeftover(ctx, name); return err }))
		return gone
	}
	if sweep() {
		t.Error("the leftover was removed while the log was locked")
	}
	storetest.Fatal(t, unlock())
	if !sweep() {
		t.Error("the leftover was not removed after the unlock")
	}
}

func TestLogRootsListsEveryLog(t *testing.T) {
	t.Parallel()
	_, s, fixture := storeWithSession(t)
	ctx := context.Background()
	_, err := suite.Gate(s, suite.NewSessionFixture(2).Start())
	storetest.Fatal(t, err)
	store, err := s.StoreID(ctx, ports.ReadOnly)
	storetest.Fatal(t, err)
	for _, log := range []manifest.Log{suite.SessionNotes(fixture.Session), suite.StoreNotes(store)} {
		_, err := suite.Gate(s, suite.Notes(log, 0, "one"))
		storetest.Fatal(t, err)
	}
	_, err = s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), noCondition)
	storetest.Fatal(t, err)
	roots, err := s.LogRoots(ctx)
	storetest.Fatal(t, err)
	own, side, trashed := 0, 0, 0
	for _, r := range roots {
		if r.Name == "" {
			own++
		} else {
			side++
		}
		if r.TrashName != "" {
			trashed++
		}
	}
	if own != 2 || side != 2 || trashed != 2 {
		t.Errorf("LogRoots = %+v; want 2 own logs, 2 others, 2 of them in the trash", roots)
	}
}
