package suite

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// objects: the objects of a plan are found by kind and digest, with their exact bytes, by every
// handle. A plan may contain an object twice, or one that another session committed already. An
// absent object, and an object of another kind, are STORE_CORRUPT: a log refers to what is asked
// for.
func objects(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	p := r.Start()
	// Artifacts are arbitrary bytes, with NUL and without a final newline.
	artifact := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("any bytes\x00at all\n")}
	p.Objects = append(p.Objects, artifact, artifact)
	_, err := Gate(s, p)
	must(t, err)
	for _, o := range p.Objects {
		got, err := open(0).Object(ctx, o.Kind, o.Ref())
		if err != nil || !bytes.Equal(got, o.Bytes) {
			t.Errorf("%s %s is %q, %v; want the committed bytes", o.Kind, o.Ref(), got, err)
		}
	}
	// Kinds are separate: a digest is found under the kind that it was committed with only.
	if _, err := s.Object(ctx, manifest.Snapshot, artifact.Ref()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("an artifact read as a snapshot: %v; want STORE_CORRUPT", err)
	}
	if _, err := s.Object(ctx, manifest.Artifact, canon.Sum([]byte("absent"))); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("an absent object: %v; want STORE_CORRUPT", err)
	}
	// Another session commits the same object.
	q := NewSessionFixture(2).Start()
	q.Objects = append(q.Objects, artifact)
	_, err = Gate(s, q)
	must(t, err)
	// A rejected plan commits no events; its objects may be in the store nevertheless.
	big := NewSessionFixture(3).Start()
	big.Objects = append(big.Objects, manifest.Object{Kind: manifest.Artifact, Bytes: []byte("x")})
	big.Events = big.Events[1:]
	if _, err := Gate(s, big); err == nil {
		t.Error("a plan that starts at event 1 was committed to an empty log")
	}
}

// sessions: Sessions lists every session with a commit exactly once, sorted by id. A session that
// was locked and never committed to may be listed, but its log reads as unborn.
func sessions(t testing.TB, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	var want []string
	for i := range 5 {
		r := NewSessionFixture(i)
		commit(t, s, r, 0)
		want = append(want, r.Session.String())
	}
	// The order is that of the ids as text, not that of the commits.
	slices.Sort(want)
	var got []string
	list, err := open(0).Sessions(ctx)
	must(t, err)
	for _, sess := range list {
		got = append(got, sess.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("Sessions = %v; want %v", got, want)
	}
	// A session that was locked and never committed to is unborn.
	unlock, err := s.Lock(ctx, NewSessionFixture(9).Log)
	must(t, err)
	must(t, unlock())
	if _, v := Read(t, s, NewSessionFixture(9).Log, manifest.Head{}); !v.Unborn() {
		t.Errorf("a session without a commit is %+v; want unborn", v)
	}
}

// sideLogs: a side log of a session and a log of the store follow the same contract as the
// session's own log: appends with pinned objects, reading, confirming, one writer at a time
// (STORE_LOCKED for a log of the store). Each log has a lock of its own, and writing to it does not
// change the session's log or the list of sessions (docs/design.md#side-logs).
func sideLogs(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 1)
	storeID, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	for _, log := range []manifest.Log{SessionNotes(r.Session), StoreNotes(storeID)} {
		// The session's lock does not block its side log.
		unlock, err := open(0).Lock(ctx, r.Log)
		must(t, err)
		first, err := Gate(s, Notes(log, 0, "one", "two"))
		must(t, err)
		must(t, unlock())
		// A side log can pin an object of the plan that commits its event.
		pinning := Notes(log, first.Next, "three")
		snapshot := r.Snapshot(77)
		note := pinning.Events[0].Data.(Note)
		note.PinRef = snapshot.Ref()
		pinning.Events[0].Data, pinning.Objects = note, []manifest.Object{snapshot}
		last, err := Gate(s, pinning)
		must(t, err)
		seen, v := Read(t, open(0), log, manifest.Head{})
		if v.Head != last || v.Health != manifest.Healthy || len(seen.Segments) != 2 || last.NextRecord != 3 {
			t.Errorf("%s is %+v; want two healthy segments and three records", log.Root, v)
		}
		must(t, s.Confirm(ctx, log, last))
	}
	// The code differs from that of a session's log: the caller names the store, not a session.
	unlock, err := s.Lock(ctx, StoreNotes(storeID))
	must(t, err)
	if _, err := open(0).Lock(ctx, StoreNotes(storeID)); !fault.Is(err, fault.StoreLocked) {
		t.Errorf("locking a log of the store that is locked: %v; want STORE_LOCKED", err)
	}
	must(t, unlock())
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[1] || len(v.Findings) > 0 {
		t.Errorf("writing to side logs changed the session's log: %+v", v)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 1 || list[0] != r.Session {
		t.Errorf("Sessions = %v, %v; want the one session", list, err)
	}
}

// identity: the store's id and its keys are created once, with ports.MayCreate. Every other handle
// gets the same ones, with and without ports.MayCreate; the first keyring has no previous key.
func identity(t testing.TB, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	first, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	if first == (id.Store{}) {
		t.Fatal("the new store has no id")
	}
	keys, err := s.Keys(ctx, ports.MayCreate)
	must(t, err)
	// MayCreate must not create a second id or keyring.
	for _, create := range []ports.Create{ports.MayCreate, ports.ReadOnly} {
		other := open(0)
		if again, err := other.StoreID(ctx, create); err != nil || again != first {
			t.Errorf("StoreID(%v) = %q, %v; want %q", create, again, err, first)
		}
		if again, err := other.Keys(ctx, create); err != nil || again.Current != keys.Current || again.Previous != nil {
			t.Errorf("Keys(%v) of another handle differ: %v", create, err)
		}
	}
}
