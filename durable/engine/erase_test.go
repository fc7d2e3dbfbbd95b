package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// handsIn is a workflow whose first step requires a report, and whose second requires nothing.
const requiresReport = `{"id":"test.erase","name":"Erase","description":"d","version":"1.0.0","steps":[
 {"id":"first","title":"First","prompt":"p","outputContract":{"contractRef":"wr.contracts.capability_observation","required":true},"notesRequired":true},
 {"id":"second","title":"Second","prompt":"q"}]}`

func (w *fixture) erase(ref canon.Digest, reason string) (upkeep.ErasedArtifact, error) {
	return w.g.EraseArtifact(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "ann"},
		AtMs: w.clock}, ref, reason)
}

var observed = set("kind", "wr.capability_observation").With("capability", canon.OfString("web_browsing")).
	With("result", canon.OfString("failure")).With("failureCode", canon.OfString("tool_missing"))

func TestAnErasedArtifactIsGoneAndTheRunContinues(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	ctx := context.Background()
	report := advance.JSONArtifact(set("kind", "report"))
	ref := canon.Sum(report.Bytes)
	a := w.must(w.start(longOne), advance.Request{Notes: "n", Artifacts: []advance.Artifact{report}})
	run := a.Session.RunID.String()
	before, err := w.g.Replay(ctx, a.Position())
	if err != nil || !before.OK {
		t.Fatal(err, before)
	}
	if _, err := w.erase(canon.Sum([]byte("unknown")), "x"); !fault.Is(err, fault.ArtifactNotFound) {
		t.Errorf("erasing what was never stored: %v", err)
	}
	if _, err := w.erase(ref, "  "); !fault.Is(err, fault.ValidationError) {
		t.Errorf("erasing without a reason: %v", err)
	}
	e, err := w.erase(ref, "it held password=hunter2secret")
	if err != nil || e.Bytes != int64(len(report.Bytes)) || e.Already || e.Note == nil ||
		strings.Contains(e.Note.Reason, "hunter2") {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "artifacts", ref.FileName())); !os.IsNotExist(err) {
		t.Errorf("the bytes still exist: %v", err)
	}
	if tomb, _ := os.ReadFile(filepath.Join(w.dir, "artifacts", ref.FileName()+".erased")); strings.Contains(
		string(tomb), "hunter2") {
		t.Error("the tombstone keeps what the reason gave away")
	}
	_, err = w.g.Store.Object(ctx, manifest.Artifact, ref)
	if f := fault.Of(err); f.Code != fault.ArtifactErased || !strings.Contains(f.Message, "ann") ||
		!strings.Contains(f.Message, "it held") {
		t.Errorf("%v", err)
	}
	w.sound(manifest.ArtifactErased)
	if v, err := w.g.Verify(ctx); err != nil || !v.OK {
		t.Errorf("verify: %v, %+v", err, v)
	}
	for name, call := range map[string]func() error{
		"show":     func() error { _, err := w.g.Run(ctx, run); return err },
		"events":   func() error { _, _, err := w.g.Events(ctx, run); return err },
		"timeline": func() error { _, err := w.g.Follow(ctx, run, true); return err },
		"list":     func() error { _, err := w.g.Runs(ctx); return err },
		"step":     func() error { _, err := w.g.Rehydrate(ctx, a.Position()); return err },
		"usage":    func() error { _, err := w.g.DU(ctx); return err },
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, err := w.g.Replay(ctx, a.Position())
	if err != nil || !after.OK || len(after.Undecided) != 1 {
		t.Errorf("replay: %+v, %v", after, err)
	}
	// The same call again finishes what a crash may have left, and keeps the first actor.
	if again, err := w.erase(ref, "once more"); err != nil || !again.Already || again.Note.Reason != e.Note.Reason ||
		again.Bytes != e.Bytes {
		t.Errorf("%+v, %v", again, err)
	}
	// The bytes are not returned when they are submitted again, and the next cleanup removes them.
	next := w.must(a, advance.Request{Notes: "n", Artifacts: []advance.Artifact{report}})
	if _, err := w.g.Store.Object(ctx, manifest.Artifact, ref); !fault.Is(err, fault.ArtifactErased) {
		t.Errorf("brought again: %v", err)
	}
	if r := w.gc(0, upkeep.GCRequest{Apply: true}); objectCount(r) != 1 || r.Objects[0].Reason != "erased" {
		t.Errorf("%+v", r)
	}
	if _, err := w.next(next, note("on")); err != nil {
		t.Error(err)
	}
}

// An erased artifact that a pending step requires has to be submitted again: the run can continue,
// and no other artifact is taken for it.
func TestAPendingStepRequiresAnErasedArtifactAgain(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	artifact := advance.JSONArtifact(observed)
	a := w.start(requiresReport)
	blocked := w.must(a, advance.Request{Artifacts: []advance.Artifact{artifact}}) // no notes
	if blocked.Kind() != "blocked" {
		t.Fatalf("%+v", blocked)
	}
	if _, err := w.erase(canon.Sum(artifact.Bytes), "a secret"); err != nil {
		t.Fatal(err)
	}
	w.g = w.tended()
	still := w.must(blocked, note("notes now"))
	if still.Kind() != "blocked" || len(still.Blockers) == 0 {
		t.Fatalf("%+v", still)
	}
	other := advance.JSONArtifact(observed.With("capability", canon.OfString("delegation")))
	if done := w.must(still, advance.Request{Notes: "n",
		Artifacts: []advance.Artifact{other}}); done.Kind() == "blocked" {
		t.Errorf("%+v", done.Blockers)
	}
	w.sound(manifest.ArtifactErased)
}

func TestUsageBySession(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	first := w.must(w.start(longOne),
		advance.Request{Notes: "n", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report").
			With("text", canon.OfString(strings.Repeat("word ", 700))))}})
	second := w.start(longOne)
	gone := w.start(twoSteps)
	w.delete(gone.Session.RunID.String())
	u, err := w.g.DU(context.Background())
	if err != nil || len(u.Sessions) != 2 || len(u.Trash) != 1 || len(u.Unclear) > 0 {
		t.Fatalf("%+v, %v", u, err)
	}
	large, small, trash := u.Sessions[0], u.Sessions[1], u.Trash[0]
	if large.SessionID != first.Session.SessionID || large.Own.Count != 2 || large.Own.Bytes < 3000 ||
		large.Shared.Count != 2 ||
		small.SessionID != second.Session.SessionID || small.Own.Count != 0 || small.Shared != large.Shared ||
		trash.Own.Count != 2 || trash.Shared.Count != 0 || trash.Events.Files == 0 {
		t.Errorf("%+v", u)
	}
	sum := int64(0)
	for _, f := range u.Folders {
		sum += f.Bytes
	}
	disk := int64(0)
	err = filepath.WalkDir(w.dir, func(_ string, d os.DirEntry, err error) error {
		if info, infoErr := d.Info(); infoErr == nil && info.Mode().IsRegular() {
			disk += info.Size()
		}
		return err
	})
	if err != nil || u.TotalBytes != disk || sum != disk {
		t.Errorf("%d bytes in all, %d in folders, %d on the disk; %v", u.TotalBytes, sum, disk, err)
	}
}
