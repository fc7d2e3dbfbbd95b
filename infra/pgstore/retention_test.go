package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/fixture"
)

// TestLostSweeper: a cleanup whose connection is lost removes nothing, and says so.
func TestLostSweeper(t *testing.T) {
	open := newStores(t)
	s, other, r := open(0), open(0), fixture.NewSessionFixture(1)
	ctx, p := t.Context(), r.Start()
	_, err := gate(s, p)
	must(t, err)
	remove := func(w ports.Sweeper) error { return w.RemoveObject(ctx, p.Objects[0].Kind, p.Objects[0].Ref()) }
	err = s.Exclusive(ctx, func(w ports.Sweeper) error {
		must(t, remove(w))
		must(t, w.(*sweeper).flush(ctx))
		kill(t, other, processOf(t, w.(*sweeper).kept))
		return nil
	})
	if err == nil {
		t.Error("a cleanup without its lock succeeded")
	}
	if _, err := other.Object(ctx, p.Objects[0].Kind, p.Objects[0].Ref()); err != nil {
		t.Errorf("an object is gone: %v", err)
	}
	// Many at once: what is pending is sent at the end.
	must(t, s.Exclusive(ctx, remove))
	if _, err := other.Object(ctx, p.Objects[0].Kind, p.Objects[0].Ref()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("an object that was removed: %v", err)
	}
}

// untilWaiting returns when a transaction waits for the use-lock of a store.
func untilWaiting(t testing.TB, s *Store) {
	t.Helper()
	for count(t, s, "select count(*) from pg_locks where locktype = 'advisory' and not granted and ((classid::bigint << 32) | objid::bigint) = $1",
		db.LockName(db.UseLock)) == 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestCleanupThatWaits: a cleanup that waits for an import lets commits pass.
func TestCleanupThatWaits(t *testing.T) {
	t.Parallel()
	open := newStores(t)
	r := fixture.NewSessionFixture(1)
	head, err := gate(open(0), r.Start())
	must(t, err)
	a, err := open(0).BeginImport(t.Context(), fixture.NewSessionFixture(2).Session)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- open(time.Hour).Exclusive(ctx, func(ports.Sweeper) error { return nil }) }()
	s := open(0)
	untilWaiting(t, s)
	head, err = gate(open(30*time.Second), r.Advance(head.Next))
	if err != nil {
		t.Errorf("a commit beside a cleanup that waits: %v", err)
	}
	must(t, a.End())
	if err := <-ended; err != nil {
		t.Errorf("the cleanup: %v", err)
	}
	cancel()
}

// TestDiscardAndSideLogs: the lock of a side log without a commit keeps its session from the trash, and while a session is moved
// there no side log of it can be locked.
func TestDiscardAndSideLogs(t *testing.T) {
	open := newStores(t)
	s, r := open(0), fixture.NewSessionFixture(1)
	ctx, notes := t.Context(), fixture.SessionNotes(r.Session)
	_, err := gate(s, r.Start())
	must(t, err)
	unlock, err := open(0).Lock(ctx, notes)
	must(t, err)
	discard := func(unless func() error) error {
		_, err := open(0).Discard(ctx, r.Session, 1, canon.OfMembers(), unless)
		return err
	}
	allow := func() error { return nil }
	if err := discard(allow); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("while a side log is locked: %v; want SESSION_LOCKED", err)
	} else if f := fault.Of(err); f.Details["holder"] == nil {
		t.Errorf("while a side log is locked: %v has no holder", f.Details)
	}
	must(t, unlock())
	must(t, discard(func() error {
		if _, err := s.Lock(ctx, notes); !fault.Is(err, fault.SessionLocked) {
			t.Errorf("a side log of a session that is moved: %v; want SESSION_LOCKED", err)
		}
		return nil
	}))
}

// TestTrashDropsWhatIsDerived: a session in the trash has no cached head and no brief, and one that is restored is read again.
func TestTrashDropsWhatIsDerived(t *testing.T) {
	s, r := newStores(t)(0), fixture.NewSessionFixture(1)
	ctx, p := t.Context(), r.Start()
	p.Brief = &manifest.Brief{Runs: []manifest.BriefRun{{ID: r.RunID}}}
	_, err := gate(s, p)
	must(t, err)
	must(t, s.StoreHead(ctx, r.Log, 1, []byte("cached")))
	derived := func() int64 {
		return count(t, s, "select (select count(*) from @.heads) + (select count(*) from @.briefs) + (select count(*) from @.brief_runs)")
	}
	if n := derived(); n != 3 {
		t.Fatalf("%d rows are derived; want 3", n)
	}
	e, err := s.Discard(ctx, r.Session, 1, canon.OfMembers(), func() error { return nil })
	must(t, err)
	if n := derived(); n != 0 {
		t.Errorf("%d derived rows are left", n)
	}
	_, err = s.Restore(ctx, e.Name)
	must(t, err)
	all, err := s.Briefs(ctx, ports.BriefQuery{})
	if err != nil || len(all) != 1 || !all[0].Changed {
		t.Errorf("the restored session is listed as %+v, %v", all, err)
	}
	if n := count(t, s, "select count(*) from @.controls"); n != 0 {
		t.Errorf("%d control files are left", n)
	}
}

// TestSurveyHasPlaces: the places are those of a store in files.
func TestSurveyHasPlaces(t *testing.T) {
	s, r := newStores(t)(0), fixture.NewSessionFixture(1)
	ctx := t.Context()
	_, err := gate(s, r.Start())
	must(t, err)
	marked := func(ports.Control) (ports.Control, error) { return mark(), nil }
	must(t, s.UpdateSessionControl(ctx, r.Session, ports.KeepFile, marked))
	must(t, s.UpdateControl(ctx, ports.ControlFile{Name: "some.json", Kind: "some"}, marked))
	must(t, s.db.Run(ctx, db.Query("insert into @.quarantine values ('a', 'x')")))
	u, err := s.Survey(ctx)
	must(t, err)
	got := map[string]int64{}
	for _, p := range u.Places {
		got[p.Place] = p.Count
		if p.Bytes == 0 {
			t.Errorf("%s has no bytes", p.Place)
		}
	}
	snapshots := manifest.ObjectDir(manifest.Snapshot)
	for place, n := range map[string]int64{".": 1, r.Log.Root: 2, r.Log.Root + "/events": 1, "quarantine": 1, snapshots: 1} {
		if got[place] != n {
			t.Errorf("%s has %d; want %d: %v", place, got[place], n, got)
		}
	}
	other := 0
	must(t, s.ReadOtherContent(ctx, func(b []byte) { other += len(b) }))
	if other != 1 {
		t.Errorf("the quarantine has %d bytes; want 1", other)
	}
}

// TestDiscardBesideImport: a session is moved to the trash while an import of it waits for its log: neither waits for the other until
// one gives up.
func TestDiscardBesideImport(t *testing.T) {
	t.Parallel()
	open := newStores(t)
	tr := fixture.NewImportFixture(t, 1, 1)
	ctx, s := t.Context(), open(0)
	_, err := tr.Import(s, mark())
	must(t, err)
	a, err := open(3*time.Second).BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, tr.PassTo(ctx, a, mark()))
	mover, ended := open(time.Hour), make(chan error, 1)
	go func() {
		_, err := mover.Discard(ctx, tr.Session, 1, canon.OfMembers(), func() error { return nil })
		ended <- err
	}()
	untilWaiting(t, s)
	if placed, err := a.Commit(ctx); placed || err != nil {
		t.Errorf("the import: %v, %v; want it not placed", placed, err)
	}
	must(t, a.End())
	if err := <-ended; err != nil {
		t.Errorf("the move: %v", err)
	}
}
