package suite

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// readStream reads an object as a stream; the error is that of opening, of reading or of closing.
func readStream(s ports.ObjectStreams, kind manifest.ObjectKind, ref canon.Digest) (b []byte, size int64, err error) {
	r, size, err := s.ObjectStream(context.Background(), kind, ref)
	if err != nil {
		return nil, 0, err
	}
	b, err = io.ReadAll(r)
	if closed := r.Close(); err == nil {
		err = closed
	}
	return b, size, err
}

// objectStreams: a stream has the bytes of Object and their number. An absent object is STORE_CORRUPT as for Object. Of
// an object whose bytes are damaged, opening or the last reading is STORE_CORRUPT, and Object too, without the detail
// "missing": the digest is computed at every reading.
func objectStreams(t testing.TB, b Bench) {
	ctx, r := context.Background(), NewSessionFixture(1)
	p := r.Start()
	large := manifest.Object{Kind: manifest.Artifact, Bytes: bytes.Repeat([]byte("large"), 50_000)}
	p.Objects = append(p.Objects, large)
	_, err := Gate(b.Open(0), p)
	must(t, err)
	for _, o := range p.Objects {
		got, size, err := readStream(b.Open(0), o.Kind, o.Ref())
		if err != nil || !bytes.Equal(got, o.Bytes) || size != int64(len(o.Bytes)) {
			t.Errorf("the stream of %s %s has %d bytes of %d, and says %d: %v", o.Kind, o.Ref(), len(got), len(o.Bytes), size, err)
		}
	}
	if _, _, err := readStream(b.Open(0), manifest.Artifact, canon.Sum([]byte("absent"))); !fault.Is(err, fault.StoreCorrupt) ||
		fault.Of(err).Details["missing"] != true {
		t.Errorf("a stream of an absent object: %v; want STORE_CORRUPT, missing", err)
	}
	needs(t, b.Damage != nil, "damage")
	b.Damage.Object(large.Kind, large.Ref())
	if _, _, err := readStream(b.Open(0), large.Kind, large.Ref()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("a stream of a damaged object: %v; want STORE_CORRUPT", err)
	}
	if _, err := b.Open(0).Object(ctx, large.Kind, large.Ref()); !fault.Is(err, fault.StoreCorrupt) ||
		fault.Of(err).Details["missing"] != nil {
		t.Errorf("a damaged object: %v; want STORE_CORRUPT, and not missing", err)
	}
}

// listedSideLogs: SideLogs has the names of the side logs of a session, and of the store, in order. The session's own
// log is not one, and a log that was locked and never written to need not be. An absent owner has none.
func listedSideLogs(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	want := func(what, owner string, names ...string) {
		t.Helper()
		if got, err := open(0).SideLogs(ctx, owner); err != nil || !slices.Equal(got, names) {
			t.Errorf("side logs of %s: %q, %v; want %q", what, got, err, names)
		}
	}
	want("an absent session", r.Session.String())
	commit(t, s, r, 1)
	storeID, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	want("a session without any", r.Session.String())
	want("a store without any", storeID.String())
	_, err = Gate(s, Notes(SessionNotes(r.Session), 0, "one"))
	must(t, err)
	want("the session", r.Session.String(), "notes")
	want("another session", NewSessionFixture(2).Session.String())
	want("the store, of which a session has one", storeID.String())
	_, err = Gate(s, Notes(StoreNotes(storeID), 0, "one"))
	must(t, err)
	want("the store", storeID.String(), "notes")
}

// tenant: every handle gets the same name, which is not empty, before and after the store exists.
func tenant(t testing.TB, open func(time.Duration) Store) {
	ctx := context.Background()
	first, err := open(0).Tenant(ctx)
	if err != nil || first == "" {
		t.Errorf("the tenant of an absent store is %q, %v", first, err)
	}
	_, err = open(0).StoreID(ctx, ports.MayCreate)
	must(t, err)
	if again, err := open(0).Tenant(ctx); err != nil || again != first {
		t.Errorf("the tenant is %q, %v; it was %q before the store existed", again, err, first)
	}
}
