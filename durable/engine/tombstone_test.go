package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// TestABundleErasesNothingOfThisStore: an artifact that was erased in another store is missing here
// as an erased one, until a caller of this store brings the same bytes; no bundle erases these.
func TestABundleErasesNothingOfThisStore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	w.g = eraser(w)
	secret := advance.JSONArtifact(set("kind", "result"))
	a := w.must(w.start(twoSteps), advance.Request{Notes: "done", Artifacts: []advance.Artifact{secret}})
	person := engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: w.clock}
	ref := canon.Sum(secret.Bytes)
	if _, err := w.g.EraseArtifact(ctx, person, ref, "a key was in it"); err != nil {
		t.Fatal(err)
	}
	data := export(t, w.g, a.Session.SessionID, 1)

	there := newFixture(t)
	there.g = eraser(there)
	take(t, there.g, data, false)
	if _, err := there.g.Store.Object(ctx, manifest.Artifact, ref); !fault.Is(err, fault.ArtifactErased) {
		t.Fatal(err)
	}
	if again := export(t, there.g, a.Session.SessionID, 1); string(again) != string(data) {
		t.Error("a second export gives another bundle")
	}
	there.seeds = 50 // a session of its own
	there.must(there.start(twoSteps), advance.Request{Notes: "done", Artifacts: []advance.Artifact{secret}})
	if _, err := there.g.Store.Object(ctx, manifest.Artifact, ref); err != nil {
		t.Errorf("the bytes that were brought here: %v", err)
	}
	if v, err := there.g.Verify(ctx); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := there.g.EraseArtifact(ctx, person, ref, "here too"); err != nil {
		t.Fatal(err)
	}
	if _, err := there.g.Store.Object(ctx, manifest.Artifact, ref); !fault.Is(err, fault.ArtifactErased) {
		t.Errorf("erased here: %v", err)
	}
}

// eraser is an engine over the world's directory that can erase.
func eraser(w *fixture) *enginetest.Engine {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return over(s)
}
