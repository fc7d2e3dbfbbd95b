package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/infra/bundlefile"
)

// travelled is a session with notes, an artifact and two steps, as a bundle.
func travelled(t *testing.T) []byte {
	w := newFixture(t)
	a := w.start(twoSteps)
	a = w.must(a, advance.Request{Notes: "done",
		Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "result"))}})
	w.must(a, note("also done"))
	return export(t, w.g, a.Session.SessionID, 1)
}

// TestForgedBundles: a bundle with a fault and with digests that match it is refused with the code
// of the fault, and no store is made.
func TestForgedBundles(t *testing.T) {
	t.Parallel()
	honest := travelled(t)
	for name, forgery := range map[string]struct {
		tell func(session map[string]any)
		code fault.Code
	}{
		"notes are others": {func(s map[string]any) { replaceText(s, "also done", "not done!") },
			fault.BundleIntegrityFailed},
		"an event is gone": {func(s map[string]any) { s["events"] = s["events"].([]any)[:5] },
			fault.BundleManifestOrderInvalid},
		"an event twice": {func(s map[string]any) { e := s["events"].([]any); e[3] = e[2] },
			fault.BundleEventOrderInvalid},
		"two records are swapped": {func(s map[string]any) { m := s["manifest"].([]any); m[0], m[1] = m[1], m[0] },
			fault.BundleManifestOrderInvalid},
		"a record is gone": {func(s map[string]any) { m := s["manifest"].([]any); s["manifest"] = m[:len(m)-1] },
			fault.BundleIntegrityFailed},
		"no manifest": {func(s map[string]any) { s["manifest"] = []any{} },
			fault.BundleManifestOrderInvalid},
		"nothing at all": {func(s map[string]any) { s["manifest"], s["events"] = []any{}, []any{} },
			fault.BundleInvalidFormat},
		"no snapshots": {func(s map[string]any) { s["snapshots"] = map[string]any{} },
			fault.BundleMissingSnapshot},
		"no workflow": {func(s map[string]any) { s["pinnedWorkflows"] = map[string]any{} },
			fault.BundleMissingPinnedWorkflow},
		"no artifact": {func(s map[string]any) { s["artifacts"] = map[string]any{} },
			fault.BundleIntegrityFailed},
		"a path out of the store": {func(s map[string]any) { replaceText(s, "events/", "../../x/") },
			fault.BundleManifestOrderInvalid},
		"an absolute path": {func(s map[string]any) { replaceText(s, "events/", "/etc/") },
			fault.BundleManifestOrderInvalid},
		"a log called out of it": {func(s map[string]any) {
			s["logs"] = map[string]any{"../x": map[string]any{"events": []any{}, "manifest": []any{}}}
		}, fault.BundleInvalidFormat},
		"a pin of another's event": {func(s map[string]any) {
			replaceText(s, `"eventIndex":2,"kind":"snapshot_pinned"`, `"eventIndex":1,"kind":"snapshot_pinned"`)
		}, fault.BundleIntegrityFailed},
	} {
		forged := tamper(t, honest, forgery.tell)
		w := newFixture(t)
		b, err := bundlefile.Spool(context.Background(), bytes.NewReader(forged), bundle.Options{})
		if err == nil {
			_, err = w.g.Import(context.Background(), w.by(), b, travel.ImportRequest{})
			_ = b.Close()
		}
		if fault.CodeOf(err) != forgery.code {
			t.Errorf("%s: %v, want %s", name, err, forgery.code)
		}
		if _, err := os.Stat(w.dir); err == nil {
			t.Errorf("%s: a store was made", name)
		}
	}
	if w := newFixture(t); take(t, w.g, tamper(t, honest, func(map[string]any) {}), false).Relation != travel.NewSession {
		t.Error("what was only written in another spelling is refused")
	}
}

// replaceText changes every text of a session at once.
func replaceText(s map[string]any, old, is string) {
	raw, _ := json.Marshal(s)
	v, _ := canon.Parse(raw)
	var again map[string]any
	_ = json.Unmarshal([]byte(strings.ReplaceAll(string(v.JCS()), old, is)), &again)
	for name := range s {
		s[name] = again[name]
	}
}

// tamper changes a bundle's session and states the digests of the changed one.
func tamper(t *testing.T, data []byte, tell func(map[string]any)) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	s := doc["session"].(map[string]any)
	tell(s)
	var entries []any
	entry := func(path string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := canon.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		b := value.JCS()
		entries = append(entries, map[string]any{"path": path, "sha256": canon.DigestOf(sha256.Sum256(b)),
			"bytes": len(b)})
	}
	entry("session/events", s["events"])
	entry("session/manifest", s["manifest"])
	for _, name := range []string{"snapshots", "pinnedWorkflows", "artifacts"} {
		if m, ok := s[name].(map[string]any); ok {
			for ref, v := range m {
				entry("session/"+name+"/"+ref, v)
			}
		}
	}
	doc["integrity"].(map[string]any)["entries"] = entries
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBundlesWithAForgedLog: a log that was chained again around facts that contradict each other
// has every digest right, and is refused all the same.
func TestBundlesWithAForgedLog(t *testing.T) {
	t.Parallel()
	honest := travelled(t)
	for name, change := range map[string]func(*event.Event){
		"nothing": func(*event.Event) {},
		"a run that never was started": func(e *event.Event) {
			if e.Index > 4 && !e.Scope.RunID.IsZero() {
				e.Scope.RunID = id.NewRun(id.Seed{99})
			}
		},
		"a node that never was": func(e *event.Event) {
			if p, ok := e.Data.(event.EdgeCreated); ok {
				p.FromNodeID = id.RootNode(id.NewRun(id.Seed{98}))
				e.Data = p
			}
		},
		"an artifact of another size": func(e *event.Event) {
			if p, ok := e.Data.(event.NodeOutputAppended); ok && p.OutputChannel == event.Artifact {
				p.Payload.ByteLength++
				e.Data = p
			}
		},
		"an event's id that nothing derives": func(e *event.Event) {
			if e.Index == 3 {
				e.ID = id.EventOf("x", "y")
			}
		},
	} {
		forged := tamper(t, honest, func(s map[string]any) { rechain(t, s, change) })
		w := newFixture(t)
		b, err := bundlefile.Spool(context.Background(), bytes.NewReader(forged), bundle.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = w.g.Import(context.Background(), w.by(), b, travel.ImportRequest{})
		_ = b.Close()
		if name == "nothing" && err != nil || name != "nothing" && fault.CodeOf(err) != fault.BundleIntegrityFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rechain changes the events of a session and writes its log as if they had been so.
func rechain(t *testing.T, s map[string]any, change func(*event.Event)) {
	t.Helper()
	var segments [][]event.Event
	for _, r := range s["manifest"].([]any) {
		closed := r.(map[string]any)
		if closed["kind"] != manifest.KindSegmentClosed {
			continue
		}
		var seg []event.Event
		for _, v := range s["events"].([]any)[int(closed["firstEventIndex"].(float64)) : int(
			closed["lastEventIndex"].(float64))+1] {
			raw, _ := json.Marshal(v)
			value, err := canon.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			e, err := event.Domain.DecodeLine(value.JCS())
			if err != nil || e.Foreign() {
				t.Fatalf("%v, %s", err, raw)
			}
			change(&e)
			seg = append(seg, e)
		}
		segments = append(segments, seg)
	}
	session, err := id.ParseSession(s["sessionId"].(string))
	if err != nil {
		t.Fatal(err)
	}
	chain := rewrite.NewChain(manifest.SessionEvents(session))
	var events, records []any
	for _, seg := range segments {
		again, err := chain.Next(seg)
		if err != nil {
			t.Fatal(err)
		}
		events, records = append(events, lines(t, again.Bytes)...), append(records, lines(t, again.Group)...)
	}
	s["events"], s["manifest"] = events, records
}

func lines(t *testing.T, b []byte) (out []any) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

const gated = `{"id":"test.gated","name":"Gated","description":"d","version":"1.0.0","steps":[
 {"id":"first","title":"First","prompt":"p","requireConfirmation":{"kind":"human_approval"}},{"id":"second","title":"Second","prompt":"p"}]}`

// TestApprovalsDoNotTravel: a person's approval in another store is shown, and has to be given
// again; steps that were completed after it stay completed.
func TestApprovalsDoNotTravel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a := w.start(gated)
	a = w.must(a, note("done"))
	at := engine.Position{Session: a.Session.SessionID, Run: a.Session.RunID, Node: a.NodeID}
	person := w.by()
	person.Actor.Kind = event.Human
	if _, err := w.g.Approve(ctx, person, at, "fine"); err != nil {
		t.Fatal(err)
	}
	approved := export(t, w.g, at.Session, 1)
	for _, asNew := range []bool{false, true} {
		there := newFixture(t)
		got := take(t, there.g, approved, asNew)
		b, err := there.g.Rehydrate(ctx, engine.Position{Session: got.SessionID, Run: got.Runs[0].RunID,
			Node: got.Runs[0].Tips[0].NodeID})
		if err != nil {
			t.Fatal(err)
		}
		if b = there.must(b, advance.Request{}); len(b.Blockers) == 0 {
			t.Fatalf("an approval from elsewhere counts (as new: %v): %+v", asNew, b)
		}
		at := engine.Position{Session: got.SessionID, Run: got.Runs[0].RunID, Node: b.NodeID}
		if _, err := there.g.Approve(ctx, person, at, "fine here too"); err != nil {
			t.Fatal(err)
		}
		b, err = there.g.Rehydrate(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		if b = there.must(b, advance.Request{}); len(b.Blockers) > 0 || b.Pending.StepID != "second" {
			t.Errorf("an approval from here does not count (as new: %v): %+v", asNew, b.Blockers)
		}
		if r, err := there.process().Replay(ctx, at); err != nil || !r.OK {
			t.Errorf("%+v, %v", r.Difference, err)
		}
		if v, err := there.process().Verify(ctx); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
	}
	// A step that was completed before the export stays completed.
	a, err := w.g.Rehydrate(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	if a = w.must(a, advance.Request{}); len(a.Blockers) > 0 {
		t.Fatal(a.Blockers)
	}
	there := newFixture(t)
	if got := take(t, there.g, export(t, w.g, at.Session, 2), false); got.Runs[0].Progress.Completed != 1 {
		t.Errorf("%+v", got.Runs[0])
	}
}
