package engine_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

func TestKeyedStartIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	req := engine.Start{Workflow: w.compiled(longOne), SourceKind: event.SourceProject, SourceRef: "w.json",
		Key: "release-7"}
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, req)
	if err != nil {
		t.Fatal(err)
	}
	w.must(a, note("on"))
	again, err := w.process().Start(context.Background(), w.by(), id.Seed{2}, req)
	if err != nil {
		t.Fatal(err)
	}
	if text(t, a) != text(t, again) {
		t.Fatalf("the same start again:\n%s\n%s", text(t, again), text(t, a))
	}
	req.Context = set("k", "v")
	differs, err := w.process().Start(context.Background(), w.by(), id.Seed{3}, req)
	if err != nil {
		t.Fatal(err)
	}
	if len(differs.Warnings) != 1 || differs.Warnings[0].Code != warning.ReplayDiffers || differs.Session != a.Session {
		t.Fatalf("other content under the key: %+v", differs)
	}
	// A goal is content of the start, as the title is.
	req.Context, req.Goal = canon.Value{}, "be fast"
	if differs, err = w.process().Start(context.Background(), w.by(), id.Seed{3}, req); err != nil ||
		len(differs.Warnings) != 1 || differs.Warnings[0].Code != warning.ReplayDiffers {
		t.Fatalf("another goal under the key: %+v %v", differs, err)
	}
	req.Key = "release-8"
	other, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, req)
	if err != nil || other.Session == a.Session {
		t.Fatal("another key must start another run", err)
	}
	runs, err := w.g.Runs(context.Background())
	if err != nil || len(runs.Runs) != 2 {
		t.Fatal(len(runs.Runs), err)
	}
}

func TestARefusedStartCreatesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, err := w.g.Start(context.Background(), w.by(), id.Seed{1},
		engine.Start{Workflow: w.compiled(longOne), SourceKind: event.SourceProject,
			SourceRef: "w.json", Context: set("k", strings.Repeat("x", limits.ContextBytesMax))})
	f := fault.Of(err)
	if f == nil || f.Code != fault.ValidationError || f.Details["measuredBytes"] == nil ||
		f.Details["maxBytes"] == nil || f.Details["method"] == nil {
		t.Fatalf("%+v", f)
	}
	if _, err := os.Stat(w.dir); !os.IsNotExist(err) {
		t.Fatal("the store was made all the same:", err)
	}
	if runs, err := w.g.Runs(context.Background()); err != nil || len(runs.Runs) != 0 {
		t.Fatal(runs, err)
	}
}

func TestReDrivenRunReproducesItsLog(t *testing.T) {
	t.Parallel()
	drive := func() []byte {
		w := newFixture(t)
		a := w.start(twoSteps)
		w.must(w.must(w.must(a, note("no")), note("done")), note("end"))
		all, _, err := w.g.Events(context.Background(), engine.Last)
		if err != nil {
			t.Fatal(err)
		}
		var log []byte
		for _, e := range all {
			if log, err = event.Domain.AppendLine(log, e); err != nil {
				t.Fatal(err)
			}
		}
		return log
	}
	if a, b := drive(), drive(); string(a) != string(b) {
		t.Fatalf("same inputs, ids and clock, other events:\n%s\n%s", a, b)
	}
}

func TestPeopleNeedNoTokens(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	b := w.must(a, note("on"))
	for _, ref := range []string{a.Session.RunID.String(), a.Session.RunID.String()[:9], a.Session.RunID.String()[4:9],
		engine.Last} {
		at, err := w.process().Locate(context.Background(), ref)
		if err != nil || at != b.Position() {
			t.Errorf("%s: %+v, %v", ref, at, err)
		}
	}
	if _, err := w.g.Locate(context.Background(), "run_zzz"); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
	w.start(twoSteps)
	if _, err := w.g.Locate(context.Background(), "run_"); !fault.Is(err, fault.RunNotFound) {
		t.Error("a bare prefix names nothing:", err)
	}
}

func TestVerifyFindsADamagedObject(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(twoSteps), note("done"))
	v, err := w.g.VerifySession(context.Background(), engine.Last)
	if err != nil || !v.OK || len(v.Sessions) != 1 || len(v.Sessions[0].Findings) != 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	all, _, _ := w.g.Events(context.Background(), engine.Last)
	var ref canon.Digest
	for _, e := range all {
		if p, ok := e.Data.(event.NodeCreated); ok && e.Scope.NodeID == a.NodeID {
			ref = p.SnapshotRef
		}
	}
	name := w.dir + "/snapshots/" + ref.FileName() + ".json"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[10] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err = w.process().VerifySession(context.Background(), engine.Last); err != nil || v.OK {
		t.Fatal("a flipped byte of a snapshot passes:", err)
	}
	if _, err := w.process().Rehydrate(context.Background(), a.Position()); fault.ExitOf(err) != fault.ExitIntegrity {
		t.Fatal("and is built on:", err)
	}
}

func TestALostKeyringCostsTokensOnly(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	if err := os.Remove(w.dir + "/keys/keyring.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.process().Continue(context.Background(), w.by(),
		engine.Continue{StateToken: a.StateToken}); !fault.Is(err, fault.KeyringInvalid) {
		t.Fatal("an old token:", err)
	}
	at, err := w.g.Locate(context.Background(), engine.Last)
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.process().Rehydrate(context.Background(), at)
	if err != nil || b.StateToken == a.StateToken {
		t.Fatal("the run does not continue under new keys:", err)
	}
	w.must(b, note("on"))
}

// TestTheLastRunIsNotGuessed: a session that cannot be read may hold the last run.
func TestTheLastRunIsNotGuessed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(longOne)
	b := w.start(twoSteps)
	manifest := w.dir + "/sessions/" + b.Session.SessionID.String() + "/manifest.jsonl"
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", manifest); err != nil {
		t.Skip("no symbolic links here")
	}
	if at, err := w.process().Locate(context.Background(), engine.Last); !fault.Is(err, fault.RunAmbiguous) {
		t.Fatalf("%+v, %v", at, err)
	}
}
