package filestore_test

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
	"github.com/waybill/waybill/ports/porttest/suite"
)

func unlessNever() error { return nil }

// shelf is a store with one session of two appends and a side log.
func shelf(t *testing.T) (dir string, s *filestore.Store, fixture *suite.SessionFixture) {
	dir = filepath.Join(t.TempDir(), "store")
	s, fixture = openDir(t, dir, 0), suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	fatal(t, err)
	_, err = suite.Gate(s, fixture.Advance(head.Next))
	fatal(t, err)
	return dir, s, fixture
}

func TestDiscardAndRestoreMoveAllOfASession(t *testing.T) {
	t.Parallel()
	dir, s, fixture := shelf(t)
	ctx := context.Background()
	before, v, err := read(s, fixture.Log)
	fatal(t, err)
	data := canon.OfMembers(canon.Member{Name: "reason", Value: canon.OfString("r")})
	out, err := s.Discard(ctx, fixture.Session, 77, data, unlessNever)
	if err != nil || out.Name != fixture.Session.String()+".77" {
		t.Fatal(out, err)
	}
	if all, err := s.Sessions(ctx); err != nil || len(all) != 0 {
		t.Errorf("sessions: %v, %v", all, err)
	}
	trash, err := s.Trashed(ctx)
	if err != nil || len(trash) != 1 || trash[0].AtMs != 77 || !trash[0].Control.Data.Equal(data) {
		t.Fatalf("%+v, %v", trash, err)
	}
	// It reads there as it did before.
	there := &suite.Seen{}
	tv, err := s.Read(ctx, ports.Reading{Log: manifest.Log{Root: trash[0].Root, Owner: fixture.Log.Owner,
		Table: fixture.Log.Table}}, there)
	if err != nil || tv.Head != v.Head || len(there.Segments) != len(before.Segments) {
		t.Errorf("in the trash: %+v, %v", tv, err)
	}
	if _, err := s.Discard(ctx, fixture.Session, 78, data, unlessNever); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("deleting what is not there: %v", err)
	}
	// A folder that a waiting writer left in its place makes way.
	unlock, err := s.Lock(ctx, fixture.Log)
	fatal(t, err)
	fatal(t, unlock())
	if got, err := s.Restore(ctx, out.Name); err != nil || got != fixture.Session {
		t.Fatal(got, err)
	}
	if _, now, err := read(s, fixture.Log); err != nil || now.Head != v.Head {
		t.Errorf("restored: %+v, %v", now, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sessions", fixture.Session.String(), "trash.json")); !os.IsNotExist(err) {
		t.Errorf("the trash's own file came along: %v", err)
	}
	// Deleted and begun anew: the old one cannot come back over the new one.
	_, err = s.Discard(ctx, fixture.Session, 79, data, unlessNever)
	fatal(t, err)
	_, err = suite.Gate(s, suite.NewSessionFixture(1).Start())
	fatal(t, err)
	if _, err := s.Restore(ctx, fixture.Session.String()+".79"); !fault.Is(err, fault.ValidationError) {
		t.Errorf("over another session: %v", err)
	}
	fatal(t, s.Empty(ctx, fixture.Session.String()+".79"))
	fatal(t, s.Empty(ctx, fixture.Session.String()+".79"))
	if trash, err := s.Trashed(ctx); err != nil || len(trash) != 0 {
		t.Errorf("%+v, %v", trash, err)
	}
	for _, name := range []string{"", "..", "../sessions", "x.1", fixture.Session.String(), fixture.Session.String() +
		".01"} {
		if _, err := s.Restore(ctx, name); !fault.Is(err, fault.SessionNotFound) {
			t.Errorf("restoring %q: %v", name, err)
		}
	}
}

func TestWhoIsAtWorkIsNotCutOff(t *testing.T) {
	t.Parallel()
	dir, s, fixture := shelf(t)
	ctx, other := context.Background(), openDir(t, dir, 0)
	discard := func() error {
		_, err := s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), unlessNever)
		return err
	}
	unlock, err := other.Lock(ctx, fixture.Log)
	fatal(t, err)
	if err := discard(); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("with a writer: %v", err)
	}
	fatal(t, unlock())
	held, err := lock.Files(osfs.NewDir(dir)).
		Acquire(ctx, "sessions/"+fixture.Session.String()+"/.performer.lock", lock.Exclusive, 0)
	fatal(t, err)
	if err := discard(); !fault.Is(err, fault.RunBusy) {
		t.Errorf("with a performer: %v", err)
	}
	fatal(t, held.Unlock())
	notes := suite.SessionNotes(fixture.Session)
	unlock, err = other.Lock(ctx, notes)
	fatal(t, err)
	if err := discard(); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("with somebody who writes to a side log: %v", err)
	}
	fatal(t, unlock())
	kept := errors.New("kept")
	if _, err := s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), func() error { return kept }); !errors.Is(err,
		kept) {
		t.Errorf("unless: %v", err)
	}
	// Nobody else comes near while it is decided.
	_, err = s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), func() error {
		if _, err := other.Lock(ctx, fixture.Log); !fault.Is(err, fault.SessionLocked) {
			t.Errorf("a writer comes in: %v", err)
		}
		if err := other.Alone(ctx, func(ports.Broom) error { return nil }); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("a cleanup comes in: %v", err)
		}
		return nil
	})
	fatal(t, err)
}

// A writer who waits for a session that is deleted meanwhile finds nothing there, and
// writes nothing into the trash.
func TestAWriterWhoWaitedFindsTheSessionGone(t *testing.T) {
	t.Parallel()
	dir, s, fixture := shelf(t)
	ctx, patient := context.Background(), openDir(t, dir, time.Minute)
	waited := make(chan error)
	_, err := s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), func() error {
		go func() {
			_, err := suite.Gate(patient, fixture.Advance(6))
			waited <- err
		}()
		time.Sleep(50 * time.Millisecond)
		return nil
	})
	fatal(t, err)
	if err := <-waited; err == nil {
		t.Error("it was told that it is recorded")
	}
	trash, err := s.Trashed(ctx)
	fatal(t, err)
	there := &suite.Seen{}
	v, err := s.Read(ctx, ports.Reading{Log: manifest.Log{Root: trash[0].Root, Owner: fixture.Log.Owner,
		Table: fixture.Log.Table}}, there)
	if err != nil || v.Health != manifest.Healthy || len(there.Segments) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestTheBroomNeedsItsLock(t *testing.T) {
	t.Parallel()
	dir, s, fixture := shelf(t)
	ctx, other := context.Background(), openDir(t, dir, 0)
	var kept ports.Broom
	fatal(t, s.Alone(ctx, func(b ports.Broom) error {
		kept = b
		// A commit waits, however far it got.
		if _, err := suite.Gate(other, suite.NewSessionFixture(2).Start()); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("a commit: %v", err)
		}
		if _, err := b.Leftover("sessions"); err == nil {
			t.Error("it removes what is no leftover")
		}
		if _, err := b.Leftover("../.tmp-x"); err == nil {
			t.Error("it leaves the store")
		}
		if gone, err := b.Unborn(fixture.Session); gone || err != nil {
			t.Errorf("a session with events is unborn: %v, %v", gone, err)
		}
		return nil
	}))
	ref := canon.Sum([]byte("x"))
	if err := kept.Object(manifest.Snapshot, ref); !fault.Is(err, fault.Internal) {
		t.Errorf("an object: %v", err)
	}
	if _, err := kept.Leftover(".tmp-x"); !fault.Is(err, fault.Internal) {
		t.Errorf("a leftover: %v", err)
	}
	if _, err := kept.Unborn(id.NewSession(id.Seed{9})); !fault.Is(err, fault.Internal) {
		t.Errorf("a session: %v", err)
	}
}

// What a writer may be about to move into place stays: a copy of a manifest is made
// under the log's own lock.
func TestALeftoverBesideAWriterStays(t *testing.T) {
	t.Parallel()
	dir, s, fixture := shelf(t)
	ctx, other := context.Background(), openDir(t, dir, 0)
	name := fixture.Log.Root + "/.tmp-copy"
	fatal(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("x"), 0o600))
	unlock, err := other.Lock(ctx, fixture.Log)
	fatal(t, err)
	sweep := func() (gone bool) {
		fatal(t, s.Alone(ctx, func(b ports.Broom) (err error) { gone, err = b.Leftover(name); return err }))
		return gone
	}
	if sweep() {
		t.Error("it was taken from under a writer")
	}
	fatal(t, unlock())
	if !sweep() {
		t.Error("it stays for ever")
	}
}

func TestLogRootsNamesEveryLog(t *testing.T) {
	t.Parallel()
	_, s, fixture := shelf(t)
	ctx := context.Background()
	_, err := suite.Gate(s, suite.NewSessionFixture(2).Start())
	fatal(t, err)
	store, err := s.StoreID(ctx, ports.ReadOnly)
	fatal(t, err)
	for _, log := range []manifest.Log{suite.SessionNotes(fixture.Session), suite.StoreNotes(store)} {
		_, err := suite.Gate(s, suite.Notes(log, 0, "one"))
		fatal(t, err)
	}
	_, err = s.Discard(ctx, fixture.Session, 5, canon.OfMembers(), unlessNever)
	fatal(t, err)
	roots, err := s.LogRoots(ctx)
	fatal(t, err)
	own, sides, trashed := 0, 0, 0
	for _, r := range roots {
		if r.Name == "" {
			own++
		} else {
			sides++
		}
		if r.Trash != "" {
			trashed++
		}
	}
	if own != 2 || sides != 2 || trashed != 2 {
		t.Errorf("%+v", roots)
	}
}
