package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// cleanupEngine is an engine that also keeps, deletes and cleans up.
func cleanupEngine(s *filestore.Store) *enginetest.Engine {
	return over(s)
}

const dayMs = 24 * 60 * 60 * 1000

// newCleanupFixture is a world whose engine cleans up.
func newCleanupFixture(t *testing.T) *fixture {
	w := newFixture(t)
	w.g = w.tended()
	return w
}

func (w *fixture) tended() *enginetest.Engine {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return cleanupEngine(s)
}

// gc cleans up so many days after the clock of the test.
func (w *fixture) gc(days int64, req upkeep.GCRequest) upkeep.GCReport {
	w.Helper()
	r, err := w.g.GC(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: w.clock +
		days*dayMs}, req)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// sound verifies the store and requires that it has no finding but those of the given codes.
func (w *fixture) sound(but ...manifest.FindingCode) {
	w.Helper()
	v, codes := w.findings()
	for _, c := range codes {
		ok := false
		for _, b := range but {
			ok = ok || b == c
		}
		if !ok {
			w.Errorf("verify found %s: %+v", c, v)
		}
	}
}

func (w *fixture) files(dir string) (out []string) {
	entries, _ := os.ReadDir(filepath.Join(w.dir, dir))
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (w *fixture) delete(refs ...string) upkeep.DeletedSessions {
	w.Helper()
	d, err := w.g.DeleteSessions(context.Background(), w.by(), upkeep.DeleteRequest{Refs: refs, Reason: "done with it"})
	if err != nil {
		w.Fatal(err)
	}
	return d
}

func objectCount(r upkeep.GCReport) (n int64) {
	for _, o := range r.Objects {
		n += o.Count
	}
	return n
}

func TestGCOfAHealthyStoreFindsNothing(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	w.must(w.start(twoSteps), note("done"))
	if r := w.gc(89, upkeep.GCRequest{Apply: true}); !r.IsEmpty() || r.SafeMode || r.FreedBytes != 0 {
		t.Errorf("%+v", r)
	}
	w.sound()
}

func TestADeletedSessionIsRemovedInSteps(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	stays := w.start(twoSteps)
	goes := w.must(w.start(longOne),
		advance.Request{Notes: "n", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report"))}})
	d := w.delete(goes.Session.RunID.String())
	if len(d.Sessions) != 1 || d.Sessions[0].Runs[0].Title != "Long" || d.Sessions[0].Note.Reason != "done with it" {
		t.Fatalf("%+v", d)
	}
	if _, err := w.g.Run(context.Background(), goes.Session.RunID.String()); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("a deleted run is shown: %v", err)
	}
	// In the trash it keeps the objects that it refers to.
	for _, apply := range []bool{false, true} {
		if r := w.gc(29, upkeep.GCRequest{Apply: apply}); !r.IsEmpty() {
			t.Errorf("with the session in the trash: %+v", r)
		}
	}
	// A dry run reports what an applied one would do, and does nothing.
	dry := w.gc(31, upkeep.GCRequest{})
	if dry.Applied || len(dry.Trash) != 1 || dry.Trash[0].Reason != retention.TrashOld || objectCount(dry) != 4 ||
		dry.FreedBytes == 0 {
		t.Errorf("dry run: %+v", dry)
	}
	if len(w.files("trash")) != 1 || len(w.files("artifacts")) != 1 {
		t.Error("a dry run removed something")
	}
	wet := w.gc(31, upkeep.GCRequest{Apply: true})
	if !wet.Applied || wet.FreedBytes != dry.FreedBytes || objectCount(wet) != objectCount(dry) ||
		len(w.files("trash"))+len(w.files("artifacts")) != 0 || len(w.files("snapshots")) != 1 {
		t.Errorf("applied: %+v\ndry: %+v\n%v %v", wet, dry, w.files("trash"), w.files("snapshots"))
	}
	w.sound()
	if _, err := w.next(stays, note("done")); err != nil {
		t.Error(err)
	}
}

func TestAnExpiredSessionIsMovedToTheTrashUnlessKept(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	old, kept := w.start(twoSteps), w.start(twoSteps)
	if _, err := w.g.KeepSession(context.Background(), w.by(), upkeep.KeepRequest{Ref: kept.Session.RunID.String(),
		Reason: "a model"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.g.DeleteSessions(context.Background(), w.by(),
		upkeep.DeleteRequest{Refs: []string{kept.Session.RunID.String()}})
	if !fault.Is(err, fault.SessionKept) || !strings.Contains(err.Error(), "a model") {
		t.Errorf("deleting a kept session: %v", err)
	}
	if r := w.gc(91, upkeep.GCRequest{}); len(r.Sessions) != 1 || r.Sessions[0].Reason != retention.Expired ||
		r.TrashedBytes == 0 || r.FreedBytes != 0 {
		t.Fatalf("%+v", r)
	}
	if r := w.gc(91, upkeep.GCRequest{Apply: true}); len(r.Sessions) != 1 ||
		r.Sessions[0].SessionID != old.Session.SessionID {
		t.Fatalf("%+v", r)
	}
	if got := w.files("sessions"); len(got) != 1 || got[0] != kept.Session.SessionID.String() {
		t.Errorf("left: %v", got)
	}
	w.sound()
	// A person restores it, complete.
	back, err := w.g.RestoreSession(context.Background(), w.by(), old.Session.RunID.String())
	if err != nil || back.SessionID != old.Session.SessionID {
		t.Fatalf("%+v, %v", back, err)
	}
	w.sound()
	if _, err := w.next(old, note("done")); err != nil {
		t.Error(err)
	}
	if len(w.files("trash")) != 0 {
		t.Errorf("trash: %v", w.files("trash"))
	}
	// Once it is no longer kept, it expires like any other.
	if _, err := w.g.KeepSession(context.Background(), w.by(), upkeep.KeepRequest{Ref: kept.Session.SessionID.String(),
		Off: true}); err != nil {
		t.Fatal(err)
	}
	w.delete(kept.Session.SessionID.String())
}

// Something damaged or unknown may refer to any object.
func TestSafeModeRemovesNothing(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(w *fixture, a engine.Answer){
		"a flipped byte in a segment": func(w *fixture, a engine.Answer) {
			flip(w, "sessions/"+a.Session.SessionID.String()+"/events/"+
				w.files("sessions/" + a.Session.SessionID.String() + "/events")[0])
		},
		"the same in the trash": func(w *fixture, a engine.Answer) {
			w.delete(a.Session.RunID.String())
			flip(w, "trash/"+w.files("trash")[0]+"/manifest.jsonl")
		},
		"a manifest that is gone": func(w *fixture, a engine.Answer) {
			if err := os.Remove(filepath.Join(w.dir, "sessions", a.Session.SessionID.String(),
				"manifest.jsonl")); err != nil {
				w.Fatal(err)
			}
		},
		"a damaged side log": func(w *fixture, a engine.Answer) {
			dir := filepath.Join(w.dir, "sessions", a.Session.SessionID.String(), "annotations")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				w.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "manifest.jsonl"), []byte("{\"kind\":\"x\"}\n"),
				0o600); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCleanupFixture(t)
			orphaned := w.must(w.start(longOne), note("n"))
			a := w.must(w.start(twoSteps), note("done"))
			w.delete(orphaned.Session.RunID.String())
			if _, err := w.g.EmptyTrash(context.Background(), w.by()); err != nil {
				t.Fatal(err)
			}
			before := w.gc(0, upkeep.GCRequest{})
			if objectCount(before) == 0 {
				t.Fatalf("nothing would go: %+v", before)
			}
			hurt(w, a)
			left := filepath.Join(w.dir, ".tmp-left")
			if err := os.WriteFile(left, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			w.g = w.tended()
			if r := w.gc(0, upkeep.GCRequest{}); !r.SafeMode || !r.IsEmpty() {
				t.Errorf("dry run: %+v", r)
			}
			r := w.gc(0, upkeep.GCRequest{Apply: true})
			if _, err := os.Stat(left); err != nil {
				t.Errorf("in safe mode something went: %v", err)
			}
			if !r.SafeMode || r.Applied || len(r.Unclear) == 0 || !r.IsEmpty() {
				t.Errorf("%+v", r)
			}
			w.g = w.tended()
			if len(w.files("snapshots")) < 3 {
				t.Errorf("snapshots: %v", w.files("snapshots"))
			}
		})
	}
}

func flip(w *fixture, name string) {
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	b, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		w.Fatal(err)
	}
}

func TestLeftoversOfACrashAreRemoved(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	a := w.start(twoSteps)
	dir := "sessions/" + a.Session.SessionID.String()
	unborn := "sessions/" + id.NewSession(id.Seed{99}).String()
	busyUnborn := "sessions/" + id.NewSession(id.Seed{98}).String()
	for _, name := range []string{".tmp-a", dir + "/.tmp-b", dir + "/events/.tmp-c", dir + "/cache/.tmp-d",
		"artifacts/.tmp-e", "sessions/.tmp-f/manifest.jsonl",
		"trash/.tmp-g/events/x", unborn + "/manifest.jsonl", unborn + "/events/.tmp-h", busyUnborn + "/keep"} {
		path := filepath.Join(w.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "left"
		if strings.HasSuffix(name, "manifest.jsonl") && !strings.Contains(name, ".tmp") {
			text = ""
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := w.gc(0, upkeep.GCRequest{Apply: true})
	if !r.Applied || len(r.Leftover) < 7 || len(r.Sessions) != 1 || r.Sessions[0].Reason != retention.Unborn {
		t.Errorf("%+v", r)
	}
	err := filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(path, ".tmp-") || strings.Contains(path, filepath.FromSlash(unborn)) {
			t.Errorf("still there: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if len(w.files("sessions")) != 2 { // an unknown file is not removed
		t.Errorf("sessions: %v", w.files("sessions"))
	}
	if _, err := w.next(a, note("done")); err != nil {
		t.Error(err)
	}
}

// Every name of an object keeps it, in any kind of record.
func TestEveryNameOfAnObjectKeepsIt(t *testing.T) {
	t.Parallel()
	bytes := []byte("unreferenced bytes")
	ref := canon.Sum(bytes)
	put := func(name, text string) func(*fixture, engine.Answer) {
		return func(w *fixture, _ engine.Answer) {
			path := filepath.Join(w.dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				w.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				w.Fatal(err)
			}
		}
	}
	noted := func(log func(w *fixture, a engine.Answer) manifest.Log) func(*fixture, engine.Answer) {
		return func(w *fixture, a engine.Answer) {
			if _, err := suite.Gate(w.g.Store,
				suite.Notes(log(w, a), 0, "see "+ref.String())); err != nil {
				w.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		name func(*fixture, engine.Answer)
		goes bool
	}{
		"nothing": {func(*fixture, engine.Answer) {}, true},
		"a side log of a session": {noted(func(_ *fixture,
			a engine.Answer) manifest.Log {
			return suite.SessionNotes(a.Session.SessionID)
		}), false},
		"a side log of the store": {noted(func(w *fixture, _ engine.Answer) manifest.Log {
			store, err := w.g.Store.StoreID(context.Background(), ports.ReadOnly)
			if err != nil {
				w.Fatal(err)
			}
			return suite.StoreNotes(store)
		}), false},
		"a side log in the trash": {func(w *fixture, a engine.Answer) {
			noted(func(_ *fixture, a engine.Answer) manifest.Log { return suite.SessionNotes(a.Session.SessionID) })(w,
				a)
			w.delete(a.Session.RunID.String())
		}, false},
		"something installed":           {put("installed/x.json", `{"artifact":"`+ref.String()+`"}`), false},
		"what was quarantined":          {put("quarantine/a.b/x", ref.FileName()), false},
		"a copy beside the sessions":    {put("sessions/"+ref.FileName()+".bak/events/x", ref.String()), false},
		"a copy in the trash":           {put("trash/mine/x", ref.String()), false},
		"a file of a newer version":     {put("later/x", ref.String()), false},
		"a file that a crash left over": {put("sessions/.tmp-x/manifest.jsonl", ref.String()), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCleanupFixture(t)
			a := w.start(twoSteps)
			put("artifacts/"+ref.FileName(), string(bytes))(w, a)
			tt.name(w, a)
			r := w.gc(0, upkeep.GCRequest{Apply: true})
			_, err := os.Stat(filepath.Join(w.dir, "artifacts", ref.FileName()))
			if r.SafeMode || os.IsNotExist(err) != tt.goes {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
