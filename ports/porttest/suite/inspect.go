package suite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// trackedObjects collects objects from several goroutines.
type trackedObjects struct {
	mu  sync.Mutex
	all []manifest.ObjectKind
	ref []canon.Digest
}

func (o *trackedObjects) add(kind manifest.ObjectKind, ref canon.Digest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all, o.ref = append(o.all, kind), append(o.ref, ref)
}

func (o *trackedObjects) len() int { return len(o.all) }

func (o *trackedObjects) has(kind manifest.ObjectKind, ref canon.Digest) bool {
	at := slices.Index(o.ref, ref)
	return at >= 0 && o.all[at] == kind
}

// withoutChanges: while do runs, the log cannot be locked, and its session cannot be moved (SESSION_LOCKED); other calls
// of WithoutChanges run beside it, and other logs are not affected. While a writer holds the log, do is not called:
// SESSION_LOCKED. The error of do is returned.
func withoutChanges(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r, other := context.Background(), open(0), NewSessionFixture(1), NewSessionFixture(2)
	heads := commit(t, s, r, 0)
	commit(t, s, other, 0)
	calls, refusal := 0, errors.New("done")
	err := s.WithoutChanges(ctx, r.Log, func() error {
		calls++
		if _, err := open(0).Lock(ctx, r.Log); !fault.Is(err, fault.SessionLocked) {
			t.Errorf("locking a log that is examined: %v; want SESSION_LOCKED", err)
		}
		if _, err := open(0).Discard(ctx, r.Session, atMs, control(t, 1).Data, allow); err == nil {
			t.Error("a session was moved to the trash while its log is examined")
		}
		if _, err := Gate(open(0), other.Advance(3)); err != nil {
			t.Errorf("another log: %v", err)
		}
		if err := open(0).WithoutChanges(ctx, r.Log, func() error { calls++; return nil }); err != nil {
			t.Errorf("a second examination: %v", err)
		}
		return refusal
	})
	if !errors.Is(err, refusal) || calls != 2 {
		t.Errorf("an examination that fails returned %v after %d calls; want its error and 2", err, calls)
	}
	if _, err := Gate(open(0), r.Advance(heads[0].Next)); err != nil {
		t.Errorf("an append after the examination: %v", err)
	}
	unlock, err := open(0).Lock(ctx, r.Log)
	must(t, err)
	if err := open(0).WithoutChanges(ctx, r.Log, func() error {
		t.Error("a log is examined while a writer holds it")
		return nil
	}); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("examining a log that a writer holds: %v; want SESSION_LOCKED", err)
	}
	must(t, unlock())
}

// groups is a visitor of digests.
type groups struct {
	pins  []canon.Digest
	heads []manifest.Head
	fail  error
}

func (g *groups) Group(pins []canon.Digest, head manifest.Head) error {
	g.pins, g.heads = append(g.pins, pins...), append(g.heads, head)
	return g.fail
}

// readDigests reads a log by its digests.
func readDigests(s Store, log manifest.Log, fail error) (*groups, manifest.Verdict, error) {
	var g *groups
	v, err := s.Digests(context.Background(), log, func() ports.DigestVisitor { g = &groups{fail: fail}; return g })
	return g, v, err
}

// digests: Digests passes every group with the snapshots that it pins and the head after it, and has the verdict of Read,
// also about a damaged segment. The error of a visitor is returned. LogBytes is the length that the last head reaches, 0
// for an absent log. EachStored has every object of a kind once.
func digests(t testing.TB, b Bench) {
	ctx, r := context.Background(), NewSessionFixture(1)
	size := func(what string, want int64) {
		t.Helper()
		if got, err := b.Open(0).LogBytes(ctx, r.Log); err != nil || got != want {
			t.Errorf("%s has %d bytes, %v; want %d", what, got, err, want)
		}
	}
	size("an absent log", 0)
	heads := commit(t, b.Open(0), r, 2)
	size("the log", heads[2].Bytes)
	g, v, err := readDigests(b.Open(0), r.Log, nil)
	want := []canon.Digest{r.Snapshot(0).Ref(), r.Snapshot(1).Ref(), r.Snapshot(2).Ref()}
	if err != nil || v.Head != heads[2] || v.Health != manifest.Healthy || len(v.Findings) > 0 ||
		!slices.Equal(g.heads, heads) || !slices.Equal(g.pins, want) {
		t.Errorf("the digests of the log: %+v, %v, with %+v; want healthy at %+v", v, err, g, heads[2])
	}
	stop := errors.New("stop")
	if _, _, err := readDigests(b.Open(0), r.Log, stop); !errors.Is(err, stop) {
		t.Errorf("a visitor that fails: %v; want its error", err)
	}
	if _, v, err := readDigests(b.Open(0), NewSessionFixture(2).Log, nil); err != nil || !v.Unborn() {
		t.Errorf("the digests of an absent log: %+v, %v", v, err)
	}
	for kind, n := range map[manifest.ObjectKind]int{manifest.Snapshot: 3, manifest.Workflow: 1, manifest.Artifact: 0} {
		var refs []canon.Digest
		must(t, b.Open(0).EachStored(ctx, kind, func(ref canon.Digest) { refs = append(refs, ref) }))
		if len(refs) != n || kind == manifest.Snapshot && !slices.Contains(refs, r.Snapshot(1).Ref()) {
			t.Errorf("objects of kind %s: %v; want %d", kind, refs, n)
		}
	}
	needs(t, b.Damage != nil, "damage")
	b.Damage.Segment(r.Log, heads[0].Next)
	_, read := Read(t, b.Open(0), r.Log, manifest.Head{})
	if _, v, err := readDigests(b.Open(0), r.Log, nil); err != nil || v.Health != manifest.CorruptTail || v.Head != heads[0] ||
		read.Health != v.Health || read.Head != v.Head {
		t.Errorf("the digests of a damaged log: %+v, %v; Read says %+v", v, err, read)
	}
}

// unknownEntries: a log under a name that is no session id is no session, and is reported.
func unknownEntries(t testing.TB, b Bench) {
	s, ok := b.Open(0).(ports.UnknownEntries)
	needs(t, ok && b.Unknown != nil, "unknown entries")
	ctx, r := context.Background(), NewSessionFixture(1)
	commit(t, b.Open(0), r, 0)
	if names, err := s.UnknownEntries(ctx); err != nil || len(names) > 0 {
		t.Errorf("unknown entries of a sound store: %q, %v", names, err)
	}
	b.Unknown("other-program")
	if names, err := s.UnknownEntries(ctx); err != nil || !slices.Equal(names, []string{"other-program"}) {
		t.Errorf("unknown entries: %q, %v", names, err)
	}
	if list, err := b.Open(0).Sessions(ctx); err != nil || len(list) != 1 {
		t.Errorf("sessions: %v, %v; want one", list, err)
	}
}

// descriptors: what fails because the process can open no file is counted, so that it is not taken for damage.
func descriptors(t testing.TB, b Bench) {
	needs(t, b.Starve != nil, "shortage of descriptors")
	r := NewSessionFixture(1)
	commit(t, b.Open(0), r, 0)
	s := b.Open(0)
	counted, ok := s.(ports.Availability)
	if !ok {
		t.Fatal("the store does not count what it could not open")
	}
	before := counted.Failures()
	restore := b.Starve()
	defer restore()
	if _, err := s.Read(context.Background(), ports.ReadRequest{Log: r.Log}, ports.Skip); err == nil {
		t.Error("a log was read without a descriptor")
	}
	if counted.Failures() == before {
		t.Error("a log that could not be opened was not counted")
	}
}
