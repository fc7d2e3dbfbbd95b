package suite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Traveller is a session as another store held it.
type Traveller struct {
	*Story
	Segments []manifest.Segment // with their groups
	Notes    []manifest.Segment // of its side log
	Heads    []manifest.Head    // behind Segments
	Objects  []manifest.Object
}

// NewTraveller is the n-th story with so many advances, and a side log.
func NewTraveller(t testing.TB, n, advances int) *Traveller {
	t.Helper()
	tr := &Traveller{Story: NewStory(n)}
	var head manifest.Head
	for i := range advances + 1 {
		p := tr.Start
		if i > 0 {
			p = func() manifest.Plan { return tr.Advance(head.Next) }
		}
		plan := p()
		var seg manifest.Segment
		seg, head = attest(t, plan, head)
		tr.Segments, tr.Heads, tr.Objects = append(tr.Segments, seg), append(tr.Heads, head),
			append(tr.Objects, plan.Objects...)
	}
	tr.Objects = append(tr.Objects, manifest.Object{Kind: manifest.Artifact, Bytes: []byte("an artifact")})
	head = manifest.Head{}
	for _, text := range []string{"one", "two"} {
		var seg manifest.Segment
		seg, head = attest(t, Notes(SessionNotes(tr.Session), head.Next, text), head)
		tr.Notes = append(tr.Notes, seg)
	}
	return tr
}

func attest(t testing.TB, p manifest.Plan, at manifest.Head) (manifest.Segment, manifest.Head) {
	t.Helper()
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	must(t, err)
	seg.Group = manifest.Group(p.Log, at, seg)
	return seg, at.After(seg.Group, seg)
}

// Head is the end of the session's own log.
func (tr *Traveller) Head() manifest.Head { return tr.Heads[len(tr.Heads)-1] }

// HandOver passes everything to the arrival, side log and control file among it.
func (tr *Traveller) HandOver(ctx context.Context, a ports.Arrival, c ports.Control) error {
	for i, seg := range tr.Segments {
		if err := a.Segment(ctx, "", seg); err != nil {
			return err
		}
		if i < len(tr.Notes) {
			if err := a.Segment(ctx, "notes", tr.Notes[i]); err != nil {
				return err
			}
		}
	}
	for _, o := range tr.Objects {
		if err := a.Object(ctx, o.Kind, o.Ref(), bytes.NewReader(o.Bytes)); err != nil {
			return err
		}
	}
	return a.Control(ctx, ports.ImportedFile, c)
}

// Arrive is a whole arrival.
func (tr *Traveller) Arrive(s ports.Arrivals, c ports.Control) (placed bool, err error) {
	ctx := context.Background()
	a, err := s.Arrive(ctx, tr.Session)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.End()) }()
	if err := tr.HandOver(ctx, a, c); err != nil {
		return false, err
	}
	return a.Commit(ctx)
}

// here checks that the session exists completely, and that its run continues.
func (tr *Traveller) here(t *testing.T, open func(time.Duration) Store) {
	t.Helper()
	ctx, s := context.Background(), open(0)
	seen, v := Read(t, s, tr.Log, manifest.Head{})
	if v.Head != tr.Head() || v.Health != manifest.Healthy || len(v.Findings) > 0 ||
		len(seen.Segments) != len(tr.Segments) {
		t.Fatalf("it arrived as %+v; want %+v", v, tr.Head())
	}
	notes, v := Read(t, s, SessionNotes(tr.Session), manifest.Head{})
	if v.Health != manifest.Healthy || len(v.Findings) > 0 || len(notes.Segments) != len(tr.Notes) {
		t.Errorf("its side log arrived as %+v", v)
	}
	for _, o := range tr.Objects {
		if got, err := s.Object(ctx, o.Kind, o.Ref()); err != nil || !bytes.Equal(got, o.Bytes) {
			t.Errorf("%s %s: %q, %v", o.Kind, o.Ref(), got, err)
		}
	}
	must(t, s.Confirm(ctx, tr.Log, tr.Head()))
	if list, err := s.Sessions(ctx); err != nil || !slices.Contains(list, tr.Session) {
		t.Errorf("Sessions = %v, %v", list, err)
	}
}

func arrives(t *testing.T, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewTraveller(t, 1, 3)
	a, err := open(0).Arrive(ctx, tr.Session)
	must(t, err)
	must(t, tr.HandOver(ctx, a, control(t, 7)))
	if list, err := open(0).Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("before it is committed: %v, %v", list, err)
	}
	if _, v := Read(t, open(0), tr.Log, manifest.Head{}); !v.Unborn() {
		t.Errorf("before it is committed: %+v", v)
	}
	if placed, err := a.Commit(ctx); err != nil || !placed {
		t.Fatalf("Commit = %v, %v", placed, err)
	}
	tr.here(t, open)
	must(t, a.End())
	must(t, a.End())
	tr.here(t, open)
	if c, err := open(0).SessionControl(ctx, tr.Session, ports.ImportedFile); err != nil || number(c) != 7 {
		t.Errorf("its control file: %+v, %v", c, err)
	}
	if _, err := Gate(open(0), tr.Advance(tr.Head().Next)); err != nil {
		t.Errorf("going on: %v", err)
	}
	if _, err := Gate(open(0), Notes(SessionNotes(tr.Session), 2, "three")); err != nil {
		t.Errorf("going on in the side log: %v", err)
	}
	if err := a.Segment(ctx, "", tr.Segments[0]); err == nil {
		t.Error("an arrival that has ended took a segment")
	}
}

func arrivesNot(t *testing.T, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewTraveller(t, 1, 1)
	a, err := open(0).Arrive(ctx, tr.Session)
	must(t, err)
	must(t, tr.HandOver(ctx, a, control(t, 1)))
	must(t, a.End())
	if _, err := a.Commit(ctx); err == nil {
		t.Error("committed behind its end")
	}
	cancelled, cancel := context.WithCancel(ctx)
	a, err = open(0).Arrive(ctx, tr.Session)
	must(t, err)
	must(t, tr.HandOver(ctx, a, control(t, 1)))
	cancel()
	if placed, err := a.Commit(cancelled); err == nil || placed {
		t.Errorf("a call that was ended: %v, %v", placed, err)
	}
	if placed, err := a.Commit(ctx); err == nil || placed {
		t.Errorf("after an error: %v, %v", placed, err)
	}
	must(t, a.End())
	a, err = open(0).Arrive(ctx, tr.Session)
	must(t, err)
	if placed, err := a.Commit(ctx); !fault.Is(err, fault.Internal) || placed {
		t.Errorf("without events: %v, %v", placed, err)
	}
	must(t, a.End())
	if list, err := open(0).Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v, %v; want none", list, err)
	}
}

func arrivesWrong(t *testing.T, open func(time.Duration) Store) {
	ctx, s, tr := context.Background(), open(0), NewTraveller(t, 1, 1)
	ref := canon.Sum([]byte("right"))
	torn := errors.New("the bundle is torn")
	for name, tt := range map[string]struct {
		call func(ports.Arrival) error
		want fault.Code
	}{
		"other bytes": {func(a ports.Arrival) error {
			return a.Object(ctx, manifest.Artifact, ref, bytes.NewReader([]byte("wrong")))
		}, fault.StoreCorrupt},
		"too many bytes": {func(a ports.Arrival) error {
			return a.Object(ctx, manifest.Snapshot, ref, io.LimitReader(zeros{}, limits.SnapshotBytesMax+1))
		}, fault.StoreLimit},
		"bytes without end": {func(a ports.Arrival) error { return a.Object(ctx, manifest.Artifact, ref, zeros{}) },
			fault.StoreLimit},
		"a torn source": {func(a ports.Arrival) error {
			return a.Object(ctx, manifest.Artifact, ref,
				iotest.ErrReader(torn))
		}, ""},
		"a way out": {func(a ports.Arrival) error { return a.Segment(ctx, "../other", tr.Segments[0]) },
			fault.Internal},
		"a name of ours": {func(a ports.Arrival) error { return a.Segment(ctx, "events", tr.Segments[0]) },
			fault.Internal},
		"no group": {func(a ports.Arrival) error {
			return a.Segment(ctx, "",
				manifest.Segment{First: 0, Last: 0})
		}, fault.Internal},
		"a segment twice": {func(a ports.Arrival) error { return a.Segment(ctx, "", tr.Segments[0]) },
			fault.Internal},
		"any control file": {func(a ports.Arrival) error {
			return a.Control(ctx, ports.ControlFile{Name: "manifest.jsonl"}, ports.Control{})
		}, fault.Internal},
	} {
		a, err := s.Arrive(ctx, tr.Session)
		must(t, err)
		must(t, tr.HandOver(ctx, a, control(t, 1)))
		err = tt.call(a)
		if err == nil || tt.want != "" && !fault.Is(err, tt.want) || tt.want == "" && err != torn {
			t.Errorf("%s: %v; want %s", name, err, tt.want)
		}
		if placed, again := a.Commit(ctx); placed || again == nil {
			t.Errorf("%s: committed all the same", name)
		}
		must(t, a.End())
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v, %v; want none", list, err)
	}
	buried(t, open, tr)
}

// buried: a tombstone wins over bytes that arrive later, and existing bytes over a tombstone that
// arrives.
func buried(t *testing.T, open func(time.Duration) Store, tr *Traveller) {
	ctx := context.Background()
	artifact := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("an artifact that was erased")}
	other := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("another artifact")}
	a, err := open(0).Arrive(ctx, tr.Session)
	must(t, err)
	for n := range int64(2) { // the second changes nothing
		must(t, a.Tombstone(ctx, artifact.Ref(), control(t, 5+n).Data))
	}
	must(t, a.Object(ctx, other.Kind, other.Ref(), bytes.NewReader(other.Bytes)))
	must(t, a.Segment(ctx, "", tr.Segments[0]))
	placed, err := a.Commit(ctx)
	must(t, errors.Join(err, a.End()))
	again := NewTraveller(t, 2, 0)
	a, err = open(0).Arrive(ctx, again.Session)
	must(t, err)
	must(t, again.HandOver(ctx, a, control(t, 1)))
	must(t, a.Object(ctx, artifact.Kind, artifact.Ref(), bytes.NewReader(artifact.Bytes)))
	must(t, a.Tombstone(ctx, other.Ref(), control(t, 5).Data))
	placedAgain, err := a.Commit(ctx)
	must(t, errors.Join(err, a.End()))
	data, ok, err := open(0).Tombstone(ctx, artifact.Ref())
	if !placed || !placedAgain || err != nil || !ok || number(ports.Control{V: 1, Data: data}) != 5 {
		t.Errorf("the tombstone: %v, %v, %v, %v", placed, placedAgain, ok, err)
	}
	if _, err := open(0).Object(ctx, artifact.Kind, artifact.Ref()); !fault.Is(err, fault.ArtifactErased) {
		t.Errorf("bytes that were erased: %v; want ARTIFACT_ERASED", err)
	}
	if got, err := open(0).Object(ctx, other.Kind, other.Ref()); err != nil || !bytes.Equal(got, other.Bytes) {
		t.Errorf("bytes that are there: %q, %v", got, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func arrivesOnce(t *testing.T, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewTraveller(t, 1, 2)
	// An unborn session is replaced; one that another process is about to begin is not.
	unlock, err := open(0).Lock(ctx, tr.Log)
	must(t, err)
	if placed, err := tr.Arrive(open(0), control(t, 1)); !fault.Is(err, fault.SessionLocked) || placed {
		t.Errorf("while it is begun: %v, %v; want SESSION_LOCKED", placed, err)
	}
	must(t, unlock())
	const many = 4
	placed := make([]bool, many)
	var all sync.WaitGroup
	for i := range many {
		s := open(time.Minute)
		all.Go(func() {
			var err error
			if placed[i], err = tr.Arrive(s, control(t, int64(i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	winner := slices.Index(placed, true)
	if winner < 0 || slices.Contains(placed[winner+1:], true) {
		t.Fatalf("placed %v; want one", placed)
	}
	tr.here(t, open)
	if c, err := open(0).SessionControl(ctx, tr.Session, ports.ImportedFile); err != nil || number(c) != int64(winner) {
		t.Errorf("%d was placed, and %d is there: %v", winner, number(c), err)
	}
	// A session that was begun here is not overwritten by one that arrives.
	own, other := NewTraveller(t, 2, 0), NewTraveller(t, 2, 3)
	heads := commit(t, open(0), own.Story, 1)
	if placed, err := other.Arrive(open(0), control(t, 1)); placed || err != nil {
		t.Errorf("over a session that is there: %v, %v", placed, err)
	}
	if _, v := Read(t, open(0), own.Log, manifest.Head{}); v.Head != heads[1] {
		t.Errorf("it is %+v now; want %+v", v.Head, heads[1])
	}
	if c, err := open(0).SessionControl(ctx, own.Session, ports.ImportedFile); err != nil || c.V != 0 {
		t.Errorf("what did not arrive left %+v, %v", c, err)
	}
}
