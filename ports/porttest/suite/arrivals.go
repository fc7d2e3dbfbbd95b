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

// checkImported checks that the session can be read completely by another handle: both logs are
// healthy and without findings, every object has its bytes, the head is confirmed, and the session
// is listed.
func checkImported(t testing.TB, tr *ImportFixture, open func(time.Duration) Store) {
	t.Helper()
	ctx, s := context.Background(), open(0)
	seen, v := Read(t, s, tr.Log, manifest.Head{})
	if v.Head != tr.Head() || v.Health != manifest.Healthy || len(v.Findings) > 0 ||
		len(seen.Segments) != len(tr.Segments) {
		t.Fatalf("the imported log is %+v; want head %+v", v, tr.Head())
	}
	notes, v := Read(t, s, SessionNotes(tr.Session), manifest.Head{})
	if v.Health != manifest.Healthy || len(v.Findings) > 0 || len(notes.Segments) != len(tr.Notes) {
		t.Errorf("the imported side log is %+v; want it healthy", v)
	}
	for _, o := range tr.Objects {
		if got, err := s.Object(ctx, o.Kind, o.Ref()); err != nil || !bytes.Equal(got, o.Bytes) {
			t.Errorf("the imported %s %s is %q, %v", o.Kind, o.Ref(), got, err)
		}
	}
	must(t, s.Confirm(ctx, tr.Log, tr.Head()))
	if list, err := s.Sessions(ctx); err != nil || !slices.Contains(list, tr.Session) {
		t.Errorf("Sessions = %v, %v; want the imported session in it", list, err)
	}
}

// importSession: an import is invisible before Commit and complete after it: logs, side logs,
// objects and control file. End changes nothing then, and may be called twice. The session's logs
// can be continued. A call after the end is an error.
func importSession(t testing.TB, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewImportFixture(t, 1, 3)
	a, err := open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, tr.PassTo(ctx, a, control(t, 7)))
	// Everything is passed, nothing is committed: no reader may see a part of the session.
	if list, err := open(0).Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("sessions before the commit: %v, %v; want none", list, err)
	}
	if _, v := Read(t, open(0), tr.Log, manifest.Head{}); !v.Unborn() {
		t.Errorf("the log before the commit: %+v; want unborn", v)
	}
	if placed, err := a.Commit(ctx); err != nil || !placed {
		t.Fatalf("Commit = %v, %v", placed, err)
	}
	checkImported(t, tr, open)
	// Neither the first nor the second End changes what was committed.
	must(t, a.End())
	must(t, a.End())
	checkImported(t, tr, open)
	if c, err := open(0).SessionControl(ctx, tr.Session, ports.ImportedFile); err != nil || number(c) != 7 {
		t.Errorf("the imported control file is %+v, %v", c, err)
	}
	if _, err := Gate(open(0), tr.Advance(tr.Head().Next)); err != nil {
		t.Errorf("continuing the session: %v", err)
	}
	if _, err := Gate(open(0), Notes(SessionNotes(tr.Session), 2, "three")); err != nil {
		t.Errorf("continuing the side log: %v", err)
	}
	if err := a.Segment(ctx, "", tr.Segments[0]); err == nil {
		t.Error("an import that has ended accepted a segment")
	}
}

// abandonedImport: an import leaves no session when it ends without a commit, when its context
// ends, and when it has no events (INTERNAL). After an error, every further call returns an error.
func abandonedImport(t testing.TB, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewImportFixture(t, 1, 1)
	a, err := open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, tr.PassTo(ctx, a, control(t, 1)))
	// Ended before the commit: the import is discarded.
	must(t, a.End())
	if _, err := a.Commit(ctx); err == nil {
		t.Error("an import was committed after its end")
	}
	// Canceled before the commit: the error is final, also for a call with a valid context.
	cancelled, cancel := context.WithCancel(ctx)
	a, err = open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, tr.PassTo(ctx, a, control(t, 1)))
	cancel()
	if placed, err := a.Commit(cancelled); err == nil || placed {
		t.Errorf("a commit with a canceled context: %v, %v; want an error", placed, err)
	}
	if placed, err := a.Commit(ctx); err == nil || placed {
		t.Errorf("a commit after an error: %v, %v; want an error", placed, err)
	}
	must(t, a.End())
	// An import of nothing would create a session that no reader accepts.
	a, err = open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	if placed, err := a.Commit(ctx); !fault.Is(err, fault.Internal) || placed {
		t.Errorf("a commit without events: %v, %v; want INTERNAL", placed, err)
	}
	must(t, a.End())
	if list, err := open(0).Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v, %v; want none", list, err)
	}
}

// invalidImport: an import rejects what does not match its name, and cannot be committed
// afterwards.
//   - Bytes without the digest of the object are STORE_CORRUPT.
//   - Objects over the limit of their kind are STORE_LIMIT; the store does not read them to their
//     end.
//   - An error of the source is returned as it is.
//   - Side log names that leave the session's directory or that the format uses, segments without
//     a group or imported twice, and unknown control files are INTERNAL: a bug of the caller.
func invalidImport(t testing.TB, open func(time.Duration) Store) {
	ctx, s, tr := context.Background(), open(0), NewImportFixture(t, 1, 1)
	// The digest of bytes that no case passes.
	ref := canon.Sum([]byte("right"))
	readError := errors.New("the source cannot be read")
	for name, tt := range map[string]struct {
		call func(ports.SessionImport) error
		want fault.Code
	}{
		"other bytes": {func(a ports.SessionImport) error {
			return a.Object(ctx, manifest.Artifact, ref, bytes.NewReader([]byte("wrong")))
		}, fault.StoreCorrupt},
		"too many bytes": {func(a ports.SessionImport) error {
			return a.Object(ctx, manifest.Snapshot, ref, io.LimitReader(zeros{}, limits.SnapshotBytesMax+1))
		}, fault.StoreLimit},
		"endless bytes": {func(a ports.SessionImport) error { return a.Object(ctx, manifest.Artifact, ref, zeros{}) },
			fault.StoreLimit},
		"a source that fails": {func(a ports.SessionImport) error {
			return a.Object(ctx, manifest.Artifact, ref,
				iotest.ErrReader(readError))
		}, ""},
		"a side log outside the session": {func(a ports.SessionImport) error {
			return a.Segment(ctx, "../other",
				tr.Segments[0])
		},
			fault.Internal},
		"a reserved side log name": {func(a ports.SessionImport) error {
			return a.Segment(ctx, "events",
				tr.Segments[0])
		},
			fault.Internal},
		"a segment without a group": {func(a ports.SessionImport) error {
			return a.Segment(ctx, "",
				manifest.Segment{First: 0, Last: 0})
		}, fault.Internal},
		"a segment twice": {func(a ports.SessionImport) error { return a.Segment(ctx, "", tr.Segments[0]) },
			fault.Internal},
		"an unknown control file": {func(a ports.SessionImport) error {
			return a.Control(ctx, ports.ControlFile{Name: "manifest.jsonl"}, ports.Control{})
		}, fault.Internal},
	} {
		// The import is complete and valid before the call, so only the call can make it fail.
		a, err := s.BeginImport(ctx, tr.Session)
		must(t, err)
		must(t, tr.PassTo(ctx, a, control(t, 1)))
		err = tt.call(a)
		if err == nil || tt.want != "" && !fault.Is(err, tt.want) || tt.want == "" && err != readError {
			t.Errorf("%s: %v; want %s", name, err, tt.want)
		}
		if placed, again := a.Commit(ctx); placed || again == nil {
			t.Errorf("%s: the import was committed nevertheless", name)
		}
		must(t, a.End())
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v, %v; want none", list, err)
	}
}

// importTombstones: an artifact with a tombstone stays erased when its bytes are imported later
// (ARTIFACT_ERASED), and bytes that the store holds stay when a tombstone for them is imported. The
// first tombstone of an artifact stays as it is.
func importTombstones(t testing.TB, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewImportFixture(t, 1, 1)
	artifact := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("an artifact that was erased")}
	other := manifest.Object{Kind: manifest.Artifact, Bytes: []byte("another artifact")}
	a, err := open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	for n := range int64(2) { // the second one has no effect
		must(t, a.Tombstone(ctx, artifact.Ref(), control(t, 5+n).Data))
	}
	must(t, a.Object(ctx, other.Kind, other.Ref(), bytes.NewReader(other.Bytes)))
	must(t, a.Segment(ctx, "", tr.Segments[0]))
	placed, err := a.Commit(ctx)
	must(t, errors.Join(err, a.End()))
	// A second session brings the bytes of the erased artifact, and a tombstone of the other one.
	again := NewImportFixture(t, 2, 0)
	a, err = open(0).BeginImport(ctx, again.Session)
	must(t, err)
	must(t, again.PassTo(ctx, a, control(t, 1)))
	must(t, a.Object(ctx, artifact.Kind, artifact.Ref(), bytes.NewReader(artifact.Bytes)))
	must(t, a.Tombstone(ctx, other.Ref(), control(t, 5).Data))
	placedAgain, err := a.Commit(ctx)
	must(t, errors.Join(err, a.End()))
	// 5 is the number in the first tombstone; a second one with 6 must not replace it.
	data, ok, err := open(0).Tombstone(ctx, artifact.Ref())
	if !placed || !placedAgain || err != nil || !ok || number(ports.Control{V: 1, Data: data}) != 5 {
		t.Errorf("placed %v and %v; the tombstone exists: %v, %v; want it with the first data", placed, placedAgain, ok,
			err)
	}
	if _, err := open(0).Object(ctx, artifact.Kind, artifact.Ref()); !fault.Is(err, fault.ArtifactErased) {
		t.Errorf("reading an erased artifact: %v; want ARTIFACT_ERASED", err)
	}
	if got, err := open(0).Object(ctx, other.Kind, other.Ref()); err != nil || !bytes.Equal(got, other.Bytes) {
		t.Errorf("an artifact with a later tombstone is %q, %v; want its bytes", got, err)
	}
}

// zeros is a reader of zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// concurrentImports: Commit places a session that does not exist yet, or that has no commit.
//   - While another handle holds the lock of such a session, Commit is SESSION_LOCKED.
//   - Of several imports of one session at the same time exactly one is placed, with its control
//     file; the others return false and no error.
//   - A session that exists stays as it is, log and control files.
func concurrentImports(t testing.TB, open func(time.Duration) Store) {
	ctx, tr := context.Background(), NewImportFixture(t, 1, 2)
	// The lock makes the session exist without a commit; its holder may be about to commit.
	unlock, err := open(0).Lock(ctx, tr.Log)
	must(t, err)
	if placed, err := tr.Import(open(0), control(t, 1)); !fault.Is(err, fault.SessionLocked) || placed {
		t.Errorf("importing a locked session: %v, %v; want SESSION_LOCKED", placed, err)
	}
	must(t, unlock())
	// The handles wait for each other, so that all of them finish; each has a control file of its
	// own.
	const many = 4
	placed := make([]bool, many)
	var all sync.WaitGroup
	for i := range many {
		s := open(time.Minute)
		all.Go(func() {
			var err error
			if placed[i], err = tr.Import(s, control(t, int64(i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// All parts of the session must be those of one import.
	winner := slices.Index(placed, true)
	if winner < 0 || slices.Contains(placed[winner+1:], true) {
		t.Fatalf("placed %v; want exactly one", placed)
	}
	checkImported(t, tr, open)
	if c, err := open(0).SessionControl(ctx, tr.Session, ports.ImportedFile); err != nil || number(c) != int64(winner) {
		t.Errorf("import %d was placed, and the control file of %d is stored: %v", winner, number(c), err)
	}
	// An import does not overwrite a session with commits.
	own, other := NewImportFixture(t, 2, 0), NewImportFixture(t, 2, 3)
	heads := commit(t, open(0), own.SessionFixture, 1)
	if placed, err := other.Import(open(0), control(t, 1)); placed || err != nil {
		t.Errorf("importing an existing session: %v, %v; want false", placed, err)
	}
	if _, v := Read(t, open(0), own.Log, manifest.Head{}); v.Head != heads[1] {
		t.Errorf("the existing session is now at %+v; want %+v", v.Head, heads[1])
	}
	if c, err := open(0).SessionControl(ctx, own.Session, ports.ImportedFile); err != nil || c.V != 0 {
		t.Errorf("an import that was not placed left the control file %+v, %v", c, err)
	}
}
