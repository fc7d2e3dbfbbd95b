package suite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// allow is an argument unless of Trash.Discard that does not cancel it.
func allow() error { return nil }

// discard moves a session to the trash, with the number n in its record.
func discard(t testing.TB, s Store, r *SessionFixture, n int64) ports.TrashEntry {
	t.Helper()
	e, err := s.Discard(context.Background(), r.Session, atMs+n, control(t, n).Data, allow)
	must(t, err)
	return e
}

// checkTrash checks that the trash has the given sessions, in the order of their names.
func checkTrash(t testing.TB, s Store, want ...ports.TrashEntry) {
	t.Helper()
	got, err := s.TrashEntries(context.Background())
	must(t, err)
	if len(got) != len(want) {
		t.Errorf("the trash has %d sessions; want %d", len(got), len(want))
		return
	}
	for i, e := range got {
		if e.Name != want[i].Name || e.Root != want[i].Root || e.Session != want[i].Session || e.AtMs != want[i].AtMs ||
			e.Control.V == 0 || !e.Control.Data.Equal(want[i].Control.Data) {
			t.Errorf("entry %d of the trash is %+v; want %+v", i, e, want[i])
		}
	}
}

// at is a log of a session under another root.
func at(log manifest.Log, root string) manifest.Log {
	log.Root = root
	return log
}

// trash: a session in the trash is no session: it is not listed, and its logs read as unborn. All of it is in the trash:
// its logs are read there under other roots, and Restore brings back logs and control files. Its entry has the record
// that Discard was given. A name that is not in the trash, and a session that does not exist, are SESSION_NOT_FOUND. A
// session that exists is not replaced by one from the trash (VALIDATION_ERROR), unless it has no commit.
func trash(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r, other := context.Background(), open(0), NewSessionFixture(1), NewSessionFixture(2)
	checkTrash(t, s)
	heads := commit(t, s, r, 2)
	commit(t, s, other, 0)
	notes, err := Gate(s, Notes(SessionNotes(r.Session), 0, "one"))
	must(t, err)
	must(t, s.UpdateSessionControl(ctx, r.Session, ports.KeepFile,
		func(ports.Control) (ports.Control, error) { return control(t, 5), nil }))
	if _, err := s.Discard(ctx, NewSessionFixture(3).Session, atMs, control(t, 1).Data, allow); !fault.Is(err,
		fault.SessionNotFound) {
		t.Errorf("discarding an absent session: %v; want SESSION_NOT_FOUND", err)
	}
	e := discard(t, open(0), r, 1)
	if e.Session != r.Session || e.AtMs != atMs+1 || e.Name == "" || e.Root == "" {
		t.Errorf("Discard returned %+v", e)
	}
	checkTrash(t, open(0), e)
	if list, err := open(0).Sessions(ctx); err != nil || len(list) != 1 || list[0] != other.Session {
		t.Errorf("sessions after a deletion: %v, %v; want the other one", list, err)
	}
	if _, v := Read(t, open(0), r.Log, manifest.Head{}); !v.Unborn() {
		t.Errorf("the log of a deleted session is %+v; want unborn", v)
	}
	if _, v := Read(t, open(0), at(r.Log, e.Root), manifest.Head{}); v.Head != heads[2] || v.Health != manifest.Healthy {
		t.Errorf("its log in the trash is %+v; want head %+v", v, heads[2])
	}
	if _, v := Read(t, open(0), at(SessionNotes(r.Session), e.Root+"/notes"), manifest.Head{}); v.Head != notes {
		t.Errorf("its side log in the trash is %+v; want head %+v", v, notes)
	}
	if _, err := open(0).Discard(ctx, r.Session, atMs, control(t, 1).Data, allow); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("discarding a session twice: %v; want SESSION_NOT_FOUND", err)
	}
	if _, err := open(0).Restore(ctx, "no-such-name"); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("restoring what is not in the trash: %v; want SESSION_NOT_FOUND", err)
	}
	// A session that was locked and never committed to gives way.
	unlock, err := open(0).Lock(ctx, r.Log)
	must(t, err)
	must(t, unlock())
	if got, err := open(0).Restore(ctx, e.Name); err != nil || got != r.Session {
		t.Fatalf("Restore = %s, %v; want %s", got, err, r.Session)
	}
	checkTrash(t, open(0))
	if _, v := Read(t, open(0), r.Log, manifest.Head{}); v.Head != heads[2] || v.Health != manifest.Healthy {
		t.Errorf("the restored log is %+v; want head %+v", v, heads[2])
	}
	if _, v := Read(t, open(0), SessionNotes(r.Session), manifest.Head{}); v.Head != notes {
		t.Errorf("the restored side log is %+v; want head %+v", v, notes)
	}
	if c, err := open(0).SessionControl(ctx, r.Session, ports.KeepFile); err != nil || number(c) != 5 {
		t.Errorf("the restored control file is %+v, %v", c, err)
	}
	// The session continues; a second one of the same id cannot come from the trash.
	e = discard(t, open(0), r, 2)
	again := commit(t, open(0), NewSessionFixture(1), 0)
	if _, err := open(0).Restore(ctx, e.Name); !fault.Is(err, fault.ValidationError) {
		t.Errorf("restoring over a session: %v; want VALIDATION_ERROR", err)
	}
	checkTrash(t, open(0), e)
	if _, v := Read(t, open(0), r.Log, manifest.Head{}); v.Head != again[0] {
		t.Errorf("the session in the way is %+v; want head %+v", v, again[0])
	}
}

// trashInUse: Discard calls unless while no other handle can write to the session, and its error cancels. While another
// handle holds the lock of one of the session's logs, Discard is SESSION_LOCKED, and while one performs the session
// RUN_BUSY. Nothing has changed after an error.
func trashInUse(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 1)
	_, err := Gate(s, Notes(SessionNotes(r.Session), 0, "one"))
	must(t, err)
	refused := func(what string, want func(error) bool, unless func() error) {
		t.Helper()
		if _, err := open(0).Discard(ctx, r.Session, atMs, control(t, 1).Data, unless); err == nil || !want(err) {
			t.Errorf("%s: %v", what, err)
		}
		checkTrash(t, open(0))
		if _, v := Read(t, open(0), r.Log, manifest.Head{}); v.Head != heads[1] {
			t.Errorf("%s: the log is %+v; want head %+v", what, v, heads[1])
		}
	}
	locked := func(err error) bool { return fault.Is(err, fault.SessionLocked) }
	for _, log := range []manifest.Log{r.Log, SessionNotes(r.Session)} {
		unlock, err := open(0).Lock(ctx, log)
		must(t, err)
		refused("while a writer holds "+log.Root, locked, allow)
		must(t, unlock())
	}
	performer := hold(t, open(0), r.Session)
	refused("while a performer holds the session", func(err error) bool { return fault.Is(err, fault.RunBusy) }, allow)
	must(t, performer.Release())
	called, refusal := 0, errors.New("kept")
	refused("an error of unless", func(err error) bool { return errors.Is(err, refusal) }, func() error {
		called++
		if _, err := open(0).Lock(ctx, r.Log); !locked(err) {
			t.Errorf("locking a session while it is moved: %v; want SESSION_LOCKED", err)
		}
		return refusal
	})
	if called != 1 {
		t.Errorf("unless was called %d times", called)
	}
	if _, err := Gate(open(0), r.Advance(heads[1].Next)); err != nil {
		t.Errorf("the session does not continue: %v", err)
	}
}

// emptyTrash: Empty removes one session from the trash and no other, and cannot be undone. An absent name is no error.
func emptyTrash(t testing.TB, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	var entries []ports.TrashEntry
	for i := range 3 {
		r := NewSessionFixture(1)
		commit(t, s, r, i)
		entries = append(entries, discard(t, s, r, int64(i)))
	}
	for _, name := range []string{entries[1].Name, entries[1].Name, "no-such-name", ""} {
		if err := open(0).Empty(ctx, name); err != nil {
			t.Errorf("emptying %q: %v", name, err)
		}
		checkTrash(t, open(0), entries[0], entries[2])
	}
	log := at(NewSessionFixture(1).Log, entries[1].Root)
	if _, v := Read(t, open(0), log, manifest.Head{}); !v.Unborn() {
		t.Errorf("the log of a session that was removed is %+v", v)
	}
	if _, err := open(0).Restore(ctx, entries[1].Name); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("restoring a session that was removed: %v; want SESSION_NOT_FOUND", err)
	}
	for i, e := range []ports.TrashEntry{entries[0], entries[2]} {
		if _, v := Read(t, open(0), at(log, e.Root), manifest.Head{}); v.Head.Next != int64(3+6*i) {
			t.Errorf("another session in the trash is %+v", v)
		}
	}
}
