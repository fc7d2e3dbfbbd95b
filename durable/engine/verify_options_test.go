package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// A head that was kept elsewhere is compared: same, continued since, other.
func TestVerifyAgainstAKeptHead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	ref := a.Session.SessionID.String()
	head := func() canon.Digest {
		v, err := w.process().VerifySession(context.Background(), ref)
		if err != nil || !v.OK || v.Sessions[0].Since != "" {
			t.Fatalf("%+v, %v", v, err)
		}
		return v.Sessions[0].Head.Digest
	}
	kept := head()
	w.must(w.must(a, note("one")), note("two"))
	for _, digests := range []bool{false, true} {
		for expected, want := range map[canon.Digest]verify.HeadRelation{kept: verify.HeadAhead,
			head(): verify.HeadSame, canon.Sum(nil): verify.HeadOther} {
			g := w.process()
			v, err := g.VerifySessionWith(context.Background(), ref,
				verify.VerifyOptions{ExpectHead: expected, Digests: digests})
			if err != nil || !v.OK || v.Sessions[0].Since != want {
				t.Errorf("digests %v: %+v, %v, want %s", digests, v, err, want)
			}
		}
	}
}

// sideLog writes a side log of a session by hand, in two groups.
func (w *fixture) sideLog(s id.Session, name string) manifest.Log {
	w.Helper()
	log, head := manifest.SessionSide(s, event.Opaque(name, "sessionId")), manifest.Head{}
	dir := filepath.Join(w.dir, filepath.FromSlash(log.Root))
	if err := os.MkdirAll(filepath.Join(dir, "events"), 0o700); err != nil {
		w.Fatal(err)
	}
	var control []byte
	for i := range int64(2) {
		line := []byte(`{"data":{},"eventIndex":` + string('0'+byte(i)) + `,"kind":"noted","sessionId":"` + s.String() +
			"\"}\n")
		seg, err := manifest.DecodeSegment(log, i, i, line)
		if err == nil {
			group := manifest.Group(log, head, seg)
			head, control = head.After(group, seg), append(control, group...)
			err = os.WriteFile(filepath.Join(dir, "events", seg.Name()), line, 0o600)
		}
		if err != nil {
			w.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.jsonl"), control, 0o600); err != nil {
		w.Fatal(err)
	}
	return log
}

// Side logs of any name are verified; damage in one is an error, and the health of the session is
// that of its own log (docs/design.md#side-logs).
func TestVerifyOfSideLogs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	log := w.sideLog(a.Session.SessionID, "letters")
	verify := func() verify.Verification {
		t.Helper()
		g := w.process()
		v, err := g.VerifySession(context.Background(), a.Session.SessionID.String())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := verify(); !v.OK || len(v.Sessions[0].Findings) > 0 {
		t.Fatalf("%+v", v)
	}
	name := filepath.Join(w.dir, filepath.FromSlash(log.Root), "events", "00000000-00000000.jsonl")
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, bytes.Replace(data, []byte("noted"), []byte("voted"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	v := verify()
	if v.OK || v.Sessions[0].Health != manifest.Healthy || len(v.Sessions[0].Findings) != 1 ||
		!strings.Contains(v.Sessions[0].Findings[0].Path, "letters/events/") {
		t.Fatalf("%+v", v)
	}
}

// Many sessions are checked in parallel; the answer is that of one after the other, every time, and
// what they share is examined once.
func TestVerifyOfManySessions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for range 12 {
		a := w.start(longOne)
		w.must(a, advance.Request{Notes: "n",
			Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report"))}})
	}
	artifact := filepath.Join(w.dir, "artifacts", canon.Sum(advance.JSONArtifact(set("kind", "report")).Bytes).
		FileName())
	if err := os.Remove(artifact); err != nil {
		t.Fatal(err)
	}
	first, err := w.process().Verify(context.Background())
	if err != nil || first.OK || len(first.Sessions) != 12 {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, s := range first.Sessions {
		if len(s.Findings) != 1 || s.Findings[0].Code != manifest.ObjectMissing || s.Findings[0].Event == nil {
			t.Errorf("%+v", s)
		}
	}
	if !slices.IsSortedFunc(first.Sessions, func(a, b verify.SessionVerdict) int {
		return a.SessionID.Compare(b.SessionID)
	}) {
		t.Error("the sessions are not in order")
	}
	for range 5 {
		if v, err := w.process().Verify(context.Background()); err != nil || !reflect.DeepEqual(v, first) {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.process().Verify(ctx); err == nil {
		t.Error("a call that is over was answered")
	}
}

// Progress never decreases, except for a log that is read again, and reaches its end.
func TestVerifyReportsProgress(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	for range 5 {
		a = w.must(a, note("n"))
	}
	g := w.process()
	var last verify.VerifyProgress
	v, err := g.VerifyWith(context.Background(), verify.VerifyOptions{Progress: func(p verify.VerifyProgress) {
		if p.Events < last.Events || p.Bytes < last.Bytes {
			t.Errorf("%+v behind %+v", p, last)
		}
		last = p
	}})
	if err != nil || !v.OK || last.Bytes != last.Of || last.Events != v.Sessions[0].Events ||
		last.Of != v.Sessions[0].Head.Bytes {
		t.Errorf("%+v, %+v, %v", last, v, err)
	}
}

// A snapshot that a group pins and that is gone is reported without decoding anything.
func TestDigestsReportAMissingSnapshot(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	all, err := os.ReadDir(w.dir + "/snapshots")
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := os.Remove(w.dir + "/snapshots/" + all[0].Name()); err != nil {
		t.Fatal(err)
	}
	g := w.process()
	one, err := g.VerifySessionWith(context.Background(), a.Session.SessionID.String(),
		verify.VerifyOptions{Digests: true})
	whole, err2 := g.VerifyWith(context.Background(), verify.VerifyOptions{Digests: true})
	for _, v := range []verify.Verification{one, whole} {
		if err != nil || err2 != nil || v.OK || len(v.Sessions) != 1 || len(v.Sessions[0].Findings) != 1 ||
			v.Sessions[0].Findings[0].Code != manifest.ObjectMissing {
			t.Errorf("%+v, %v, %v", v, err, err2)
		}
	}
}
