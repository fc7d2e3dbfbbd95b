package suite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// logRoots: LogRoots has every log with a commit once: those of sessions and of sessions in the trash, their side logs,
// and those of the store. A log is read at its root.
func logRoots(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r, gone := context.Background(), open(0), NewSessionFixture(1), NewSessionFixture(2)
	if roots, err := s.LogRoots(ctx); err != nil || len(roots) != 0 {
		t.Errorf("logs of an absent store: %v, %v", roots, err)
	}
	commit(t, s, r, 0)
	commit(t, s, gone, 0)
	storeID, err := s.StoreID(ctx, ports.ReadOnly)
	must(t, err)
	for _, log := range []manifest.Log{SessionNotes(r.Session), SessionNotes(gone.Session), StoreNotes(storeID)} {
		_, err := Gate(s, Notes(log, 0, "one"))
		must(t, err)
	}
	e := discard(t, s, gone, 1)
	want := map[string]ports.LogRoot{}
	for _, w := range []ports.LogRoot{
		{Root: r.Log.Root, Owner: r.Session.String(), Session: r.Session},
		{Root: r.Log.Root + "/notes", Owner: r.Session.String(), Session: r.Session, Name: "notes"},
		{Root: e.Root, Owner: gone.Session.String(), Session: gone.Session, TrashName: e.Name},
		{Root: e.Root + "/notes", Owner: gone.Session.String(), Session: gone.Session, TrashName: e.Name, Name: "notes"},
		{Root: "notes", Owner: storeID.String(), Name: "notes"},
	} {
		want[w.Root] = w
	}
	roots, err := open(0).LogRoots(ctx)
	must(t, err)
	for _, got := range roots {
		if want[got.Root] != got {
			t.Errorf("a log is listed as %+v; want %+v", got, want[got.Root])
		}
		delete(want, got.Root)
		log := manifest.Log{Root: got.Root, Owner: got.Owner, Table: r.Log.Table}
		if got.Name != "" {
			log.Table = SessionNotes(got.Session).Table
			if got.Session != r.Session && got.TrashName == "" {
				log.Table = StoreNotes(storeID).Table
			}
		}
		if _, v := Read(t, open(0), log, manifest.Head{}); v.Unborn() || v.Health != manifest.Healthy {
			t.Errorf("the log at %s is %+v", got.Root, v)
		}
	}
	for root := range want {
		t.Errorf("the log at %s is not listed", root)
	}
}

// sizes: EachSize has every object of a kind once, with its size, and Survey has every log and every object below some
// place: at or below the root of a log at least the bytes of its manifest and segments. What has no manifest counts
// nowhere else: what is removed is in no place. A sound store has no leftovers and nothing unread.
func sizes(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	if u, err := s.Survey(ctx); err != nil || total(u, "") != 0 || len(u.Leftovers) > 0 {
		t.Errorf("the survey of an absent store is %+v, %v", u, err)
	}
	p := r.Start()
	p.Objects = append(p.Objects, manifest.Object{Kind: manifest.Artifact, Bytes: []byte("an artifact")},
		manifest.Object{Kind: manifest.Artifact, Bytes: nil})
	head, err := Gate(s, p)
	must(t, err)
	next := r.Advance(head.Next)
	head, err = Gate(s, next)
	must(t, err)
	objects, stored := append(p.Objects, next.Objects...), int64(0)
	for _, kind := range manifest.ObjectKinds() {
		want := map[canon.Digest]int64{}
		for _, o := range objects {
			if o.Kind == kind {
				want[o.Ref()] = int64(len(o.Bytes))
				stored += int64(len(o.Bytes))
			}
		}
		must(t, open(0).EachSize(ctx, kind, func(o ports.SizedObject) {
			if size, ok := want[o.Ref]; !ok || size != o.Bytes || o.Erased {
				t.Errorf("%s %s is listed with %+v; want %d bytes, once", kind, o.Ref, o, size)
			}
			delete(want, o.Ref)
		}))
		if len(want) > 0 {
			t.Errorf("objects of kind %s are not listed: %v", kind, want)
		}
	}
	segments := int64(0)
	seen, _ := Read(t, s, r.Log, manifest.Head{})
	for _, seg := range seen.Segments {
		segments += int64(len(seg.Bytes))
	}
	u, err := open(0).Survey(ctx)
	must(t, err)
	if got := total(u, r.Log.Root); got < head.Bytes+segments || len(u.Leftovers) > 0 {
		t.Errorf("the session has %d bytes, and %d leftovers; want at least %d and none", got, len(u.Leftovers),
			head.Bytes+segments)
	}
	if got := total(u, ""); got < head.Bytes+segments+stored {
		t.Errorf("the store has %d bytes; want at least %d", got, head.Bytes+segments+stored)
	}
	if all, err := open(0).UnreadEntries(ctx); err != nil || len(all) > 0 {
		t.Errorf("unread entries of a sound store: %v, %v", all, err)
	}
	must(t, open(0).Empty(ctx, discard(t, s, r, 1).Name))
	if u, err := open(0).Survey(ctx); err != nil || total(u, r.Log.Root) != 0 {
		t.Errorf("after its removal the session has %d bytes, %v", total(u, r.Log.Root), err)
	}
}

// total returns the bytes of a survey at and below a place, "" for all.
func total(u ports.Survey, place string) (bytes int64) {
	for _, p := range u.Places {
		if place == "" || p.Place == place || strings.HasPrefix(p.Place, place+"/") {
			bytes += p.Bytes
		}
	}
	return bytes
}

// erase: Erase removes the bytes of an artifact and leaves a tombstone with what data returns for their number: reading
// is ARTIFACT_ERASED from then on, and an installed artifact of the same bytes is erased with it. A second call changes
// nothing. A digest that was never stored is ARTIFACT_NOT_FOUND. A tombstone that came with a bundle, which has the
// member imported, gives way to bytes that are stored here, until they are erased here.
func erase(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	p := r.Start()
	artifact := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("bytes to erase")}
	kept := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("other bytes")}
	p.Objects = append(p.Objects, artifact, kept, manifest.Object{Kind: manifest.Installed, Bytes: artifact.Bytes})
	_, err := Gate(s, p)
	must(t, err)
	record := func(n int64) func(int64) canon.Value {
		return func(bytes int64) canon.Value { return control(t, n*1000+bytes).Data }
	}
	if _, err := s.Erase(ctx, canon.Sum([]byte("absent")), record(1)); !fault.Is(err, fault.ArtifactNotFound) {
		t.Errorf("erasing what was never stored: %v; want ARTIFACT_NOT_FOUND", err)
	}
	size := int64(len(artifact.Bytes))
	for n := range int64(2) {
		got, err := open(0).Erase(ctx, artifact.Ref(), record(n+1))
		want := size * (1 - n)
		if err != nil || got.Bytes != want || got.Already != (n == 1) || numberOf(got.Data) != 1000+size {
			t.Errorf("erasing, call %d: %+v, %v; want %d bytes and the record of the first call", n, got, err, want)
		}
		for _, kind := range []manifest.ObjectKind{manifest.Artifact, manifest.Installed} {
			if _, err := open(0).Object(ctx, kind, artifact.Ref()); !fault.Is(err, fault.ArtifactErased) {
				t.Errorf("reading the %s after it was erased: %v; want ARTIFACT_ERASED", kind, err)
			}
			if _, _, err := readStream(open(0), kind, artifact.Ref()); !fault.Is(err, fault.ArtifactErased) {
				t.Errorf("a stream of the %s after it was erased: %v; want ARTIFACT_ERASED", kind, err)
			}
		}
		if data, ok, err := open(0).Tombstone(ctx, artifact.Ref()); err != nil || !ok || numberOf(data) != 1000+size {
			t.Errorf("the tombstone is %v, %v, %v", data, ok, err)
		}
	}
	if _, ok, err := open(0).Tombstone(ctx, kept.Ref()); ok || err != nil {
		t.Errorf("an artifact that was not erased has a tombstone: %v, %v", ok, err)
	}
	if _, err := open(0).Object(ctx, kept.Kind, kept.Ref()); err != nil {
		t.Errorf("another artifact: %v", err)
	}
	must(t, open(0).EachSize(ctx, manifest.Artifact, func(o ports.SizedObject) {
		if o.Ref == artifact.Ref() {
			t.Errorf("what was erased is listed with %+v", o)
		}
	}))
	importedTombstone(t, open, record)
}

// importedTombstone: see erase.
func importedTombstone(t testing.TB, open func(time.Duration) Store, record func(int64) func(int64) canon.Value) {
	ctx, tr, r := context.Background(), NewImportFixture(t, 2, 0), NewSessionFixture(3)
	o := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("erased elsewhere")}
	a, err := open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, a.Tombstone(ctx, o.Ref(), control(t, 7).Data.With("imported", canon.OfBool(true))))
	must(t, tr.PassTo(ctx, a, control(t, 1)))
	_, err = a.Commit(ctx)
	must(t, errors.Join(err, a.End()))
	if _, err := open(0).Object(ctx, o.Kind, o.Ref()); !fault.Is(err, fault.ArtifactErased) {
		t.Errorf("reading what was erased elsewhere: %v; want ARTIFACT_ERASED", err)
	}
	p := r.Start()
	p.Objects = append(p.Objects, o)
	_, err = Gate(open(0), p)
	must(t, err)
	if _, err := open(0).Object(ctx, o.Kind, o.Ref()); err != nil {
		t.Errorf("reading bytes that were stored here after they were erased elsewhere: %v", err)
	}
	got, err := open(0).Erase(ctx, o.Ref(), record(9))
	if err != nil || got.Already || got.Bytes != int64(len(o.Bytes)) || numberOf(got.Data) != 9000+int64(len(o.Bytes)) {
		t.Errorf("erasing them here: %+v, %v", got, err)
	}
	if _, err := open(0).Object(ctx, o.Kind, o.Ref()); !fault.Is(err, fault.ArtifactErased) {
		t.Errorf("reading them after that: %v; want ARTIFACT_ERASED", err)
	}
}

// numberOf returns the number in the data of a control file.
func numberOf(data canon.Value) int64 { return number(ports.Control{V: 1, Data: data}) }

// exclusive: while do runs, a commit, an import and a change of a session's control file are STORE_LOCKED, and reading
// continues. While an import is under way, do is not called: STORE_LOCKED. The error of do is returned. A sweeper that is
// kept removes nothing: INTERNAL.
func exclusive(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 0)
	var kept ports.Sweeper
	refusal := errors.New("done")
	if err := s.Exclusive(ctx, func(w ports.Sweeper) error {
		kept = w
		if _, err := Gate(open(0), r.Advance(heads[0].Next)); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("an append during a cleanup: %v; want STORE_LOCKED", err)
		}
		if a, err := open(0).BeginImport(ctx, NewSessionFixture(2).Session); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("an import during a cleanup: %v; want STORE_LOCKED", err)
			if err == nil {
				_ = a.End()
			}
		}
		if err := open(0).UpdateSessionControl(ctx, r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) {
			return control(t, 1), nil
		}); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("a change of a control file during a cleanup: %v; want STORE_LOCKED", err)
		}
		if err := open(0).Exclusive(ctx, func(ports.Sweeper) error { return nil }); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("a second cleanup: %v; want STORE_LOCKED", err)
		}
		if _, v := Read(t, open(0), r.Log, manifest.Head{}); v.Head != heads[0] {
			t.Errorf("the log is %+v during a cleanup", v)
		}
		return refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("a cleanup that fails returned %v; want its error", err)
	}
	if kept == nil {
		t.Fatal("the cleanup did not run")
	}
	snapshot := NewSessionFixture(1).Start().Objects[0]
	_, unborn := kept.RemoveUnborn(ctx, NewSessionFixture(3).Session)
	_, log := kept.RemoveLog(ctx, StoreNotes(storeOf(t, s)), manifest.Head{})
	_, leftover := kept.RemoveLeftover(ctx, "none")
	for what, err := range map[string]error{"RemoveObject": kept.RemoveObject(ctx, snapshot.Kind, snapshot.Ref()),
		"RemoveUnborn": unborn, "RemoveLog": log, "RemoveLeftover": leftover} {
		if !fault.Is(err, fault.Internal) {
			t.Errorf("%s after the cleanup: %v; want INTERNAL", what, err)
		}
	}
	if _, err := open(0).Object(ctx, snapshot.Kind, snapshot.Ref()); err != nil {
		t.Errorf("an object that no cleanup removed: %v", err)
	}
	if _, err := Gate(open(0), NewSessionFixture(1).Advance(heads[0].Next)); err != nil {
		t.Errorf("an append after a cleanup: %v", err)
	}
	a, err := open(0).BeginImport(ctx, NewSessionFixture(2).Session)
	must(t, err)
	if err := open(0).Exclusive(ctx, func(ports.Sweeper) error {
		t.Error("a cleanup runs beside an import")
		return nil
	}); !fault.Is(err, fault.StoreLocked) {
		t.Errorf("a cleanup during an import: %v; want STORE_LOCKED", err)
	}
	must(t, a.End())
	must(t, open(0).Exclusive(ctx, func(ports.Sweeper) error { return nil }))
}

// storeOf returns the id of a store.
func storeOf(t testing.TB, s Store) (store id.Store) {
	t.Helper()
	store, err := s.StoreID(context.Background(), ports.ReadOnly)
	must(t, err)
	return store
}

// sweep runs one removal, and returns its results.
func sweep(t testing.TB, s Store, remove func(ports.Sweeper) (bool, error)) (gone bool, err error) {
	t.Helper()
	must(t, s.Exclusive(context.Background(), func(w ports.Sweeper) error {
		gone, err = remove(w)
		return nil
	}))
	return gone, err
}

// sweeps: RemoveObject removes one object, and an absent one is no error. RemoveUnborn removes a session without commits
// unless a writer holds it, and no other.
func sweeps(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	commit(t, s, r, 0)
	objects := NewSessionFixture(1).Start().Objects
	for range 2 {
		if _, err := sweep(t, open(0), func(w ports.Sweeper) (bool, error) {
			return true, w.RemoveObject(ctx, objects[0].Kind, objects[0].Ref())
		}); err != nil {
			t.Errorf("removing an object: %v", err)
		}
	}
	if _, err := open(0).Object(ctx, objects[0].Kind, objects[0].Ref()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("an object that was removed: %v; want STORE_CORRUPT", err)
	}
	if _, err := open(0).Object(ctx, objects[1].Kind, objects[1].Ref()); err != nil {
		t.Errorf("another object: %v", err)
	}
	empty := NewSessionFixture(2)
	unborn := func(what string, f *SessionFixture, want bool) {
		t.Helper()
		gone, err := sweep(t, open(0), func(w ports.Sweeper) (bool, error) { return w.RemoveUnborn(ctx, f.Session) })
		if err != nil || gone != want {
			t.Errorf("removing %s: %v, %v; want %v", what, gone, err, want)
		}
	}
	unlock, err := s.Lock(ctx, empty.Log)
	must(t, err)
	unborn("a session that a writer holds", empty, false)
	must(t, unlock())
	unborn("a session without commits", empty, true)
	unborn("a session with commits", r, false)
	if list, err := open(0).Sessions(ctx); err != nil || len(list) != 1 || list[0] != r.Session {
		t.Errorf("sessions after the removal: %v, %v; want the one with a commit", list, err)
	}
}

// removeLogs: RemoveLog removes a side log of the store at the given head, and no other: not at another head, not while
// a writer holds it, and no log of a session (INTERNAL). What is removed reads as empty, and begins again.
func removeLogs(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	own := commit(t, s, r, 0)
	log := StoreNotes(storeOf(t, s))
	first, err := Gate(s, Notes(log, 0, "one"))
	must(t, err)
	last, err := Gate(s, Notes(log, first.Next, "two"))
	must(t, err)
	remove := func(what string, l manifest.Log, head manifest.Head, want bool) {
		t.Helper()
		gone, err := sweep(t, open(0), func(w ports.Sweeper) (bool, error) { return w.RemoveLog(ctx, l, head) })
		if err != nil || gone != want {
			t.Errorf("removing %s: %v, %v; want %v", what, gone, err, want)
		}
	}
	remove("a log at an earlier head", log, first, false)
	unlock, err := s.Lock(ctx, log)
	must(t, err)
	remove("a log that a writer holds", log, last, false)
	must(t, unlock())
	if _, v := Read(t, open(0), log, manifest.Head{}); v.Head != last {
		t.Errorf("a log that was not removed is %+v", v)
	}
	if _, err := sweep(t, open(0), func(w ports.Sweeper) (bool, error) { return w.RemoveLog(ctx, r.Log, own[0]) }); !fault.Is(err,
		fault.Internal) {
		t.Errorf("removing a session's log: %v; want INTERNAL", err)
	}
	remove("a log at its head", log, last, true)
	remove("an absent log", log, last, true)
	if _, v := Read(t, open(0), log, manifest.Head{}); !v.Unborn() {
		t.Errorf("a log that was removed is %+v", v)
	}
	if _, err := Gate(open(0), Notes(log, 0, "again")); err != nil {
		t.Errorf("a log that was removed does not begin again: %v", err)
	}
	if _, v := Read(t, open(0), r.Log, manifest.Head{}); v.Head != own[0] {
		t.Errorf("the session's log is %+v", v)
	}
}

// leftovers: Survey lists what an operation left that did not end, apart from the places, and RemoveLeftover removes it
// and nothing else: what is at any other place is INTERNAL.
func leftovers(t testing.TB, b Bench) {
	ctx, s, r := context.Background(), b.Open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 0)
	for _, place := range []string{r.Log.Root, "sessions", ".", "", "../other"} {
		if gone, err := sweep(t, b.Open(0), func(w ports.Sweeper) (bool, error) { return w.RemoveLeftover(ctx, place) }); gone ||
			!fault.Is(err, fault.Internal) {
			t.Errorf("removing %q as a leftover: %v, %v; want INTERNAL", place, gone, err)
		}
	}
	if _, v := Read(t, b.Open(0), r.Log, manifest.Head{}); v.Head != heads[0] {
		t.Errorf("the log is %+v", v)
	}
	needs(t, b.Leftover != nil, "leftovers")
	before, err := b.Open(0).Survey(ctx)
	must(t, err)
	place := b.Leftover()
	u, err := b.Open(0).Survey(ctx)
	if err != nil || len(u.Leftovers) != 1 || u.Leftovers[0].Place != place || total(u, "") != total(before, "") {
		t.Fatalf("the survey has %+v, %v; want %s", u.Leftovers, err, place)
	}
	if gone, err := sweep(t, b.Open(0), func(w ports.Sweeper) (bool, error) { return w.RemoveLeftover(ctx, place) }); err != nil ||
		!gone {
		t.Errorf("removing a leftover: %v, %v", gone, err)
	}
	if u, err := b.Open(0).Survey(ctx); err != nil || len(u.Leftovers) > 0 {
		t.Errorf("after its removal the survey has %+v, %v", u.Leftovers, err)
	}
}

// unread: UnreadEntries lists what readers cannot follow, with its place and what to do.
func unread(t testing.TB, b Bench) {
	needs(t, b.Unread != nil, "unread entries")
	commit(t, b.Open(0), NewSessionFixture(1), 0)
	place := b.Unread()
	all, err := b.Open(0).UnreadEntries(context.Background())
	if err != nil || len(all) != 1 || all[0].Place != place || all[0].Message == "" {
		t.Errorf("unread entries: %+v, %v; want %s", all, err, place)
	}
}
