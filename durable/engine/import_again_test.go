package engine_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
)

// TestImportedSessionsReplayInTheNextStore: what one store decided, without an approval that had
// come with a bundle, is decided in the same way by a store that imports it from there.
func TestImportedSessionsReplayInTheNextStore(t *testing.T) {
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
		second := newFixture(t)
		got := take(t, second.g, approved, asNew)
		at := engine.Position{Session: got.SessionID, Run: got.Runs[0].RunID, Node: got.Runs[0].Tips[0].NodeID}
		b, err := second.g.Rehydrate(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		if b = second.must(b, advance.Request{}); len(b.Blockers) == 0 {
			t.Fatal("an approval from elsewhere counts")
		}
		for _, more := range []bool{false, true} {
			if more {
				at.Node = b.NodeID
				if _, err := second.g.Approve(ctx, person, at, "fine here too"); err != nil {
					t.Fatal(err)
				}
				if b, err = second.g.Rehydrate(ctx, at); err != nil {
					t.Fatal(err)
				}
				second.must(b, advance.Request{})
			}
			again := export(t, second.g, at.Session, 2)
			for _, asNew := range []bool{false, true} {
				third := newFixture(t)
				got := take(t, third.g, again, asNew)
				at := engine.Position{Session: got.SessionID, Run: got.Runs[0].RunID}
				if r, err := third.g.Replay(ctx, at); err != nil || !r.OK {
					t.Errorf("as new %v, approved twice %v: %+v, %v", asNew, more, r.Difference, err)
				}
			}
		}
	}
}

// TestAPlantedSessionIsNotTheImport: another session can be brought under the id that an import as
// new will get, with a forged statement of its origin.
func TestAPlantedSessionIsNotTheImport(t *testing.T) {
	t.Parallel()
	honest := travelled(t)
	w := newFixture(t)
	first := take(t, w.g, honest, true)
	made := export(t, w.g, first.SessionID, 2)
	for name, forge := range map[string]func(*event.Event){
		"another title": func(e *event.Event) {
			if p, ok := e.Data.(event.RunStarted); ok {
				p.Title = "forged"
				e.Data = p
			}
		},
		"of nowhere": func(e *event.Event) {
			if p, ok := e.Data.(event.SessionCreated); ok {
				p.ImportedFrom = nil
				e.Data = p
			}
		},
	} {
		if err := os.RemoveAll(w.dir + "/sessions/" + first.SessionID.String()); err != nil {
			t.Fatal(err)
		}
		w.g = w.process()
		planted := tamper(t, made, func(s map[string]any) { rechain(t, s, forge) })
		if got := take(t, w.g, planted, false); got.Relation != travel.NewSession || got.SessionID != first.SessionID {
			t.Fatalf("%s: %+v", name, got)
		}
		b, err := bundlefile.Spool(context.Background(), bytes.NewReader(honest), bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.g.Import(context.Background(), w.by(), b, travel.ImportRequest{AsNew: true}); !fault.Is(err,
			fault.BundleCollision) {
			t.Errorf("%s: %s, %v", name, got.Relation, err)
		}
		_ = b.Close()
	}
}

// TestARedactedTombstone: a redacted bundle names the actor of an erasure without the secret in the
// actor's name.
func TestARedactedTombstone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newCleanupFixture(t)
	report := advance.JSONArtifact(set("kind", "report"))
	a := w.must(w.start(longOne), advance.Request{Notes: "n", Artifacts: []advance.Artifact{report}})
	by := engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "sk-abcdef0123"}, AtMs: w.clock}
	if _, err := w.g.EraseArtifact(ctx, by, canon.Sum(report.Bytes), "old"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	done, err := w.g.Export(ctx, id.Seed{1}, travel.ExportRequest{Ref: a.Session.SessionID.String(),
		ExportedAt: "2026-01-01T00:00:00.000Z", AppVersion: "1", Redact: true}, &out)
	if err != nil || done.Redacted["secret_key"] != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if bytes.Contains(out.Bytes(), []byte("sk-abcdef")) {
		t.Error("the tombstone holds the secret")
	}
	if got := take(t, newFixture(t).g, out.Bytes(), false); got.Relation != travel.NewSession {
		t.Errorf("%+v", got)
	}
}
