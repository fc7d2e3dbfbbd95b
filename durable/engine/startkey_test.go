package engine_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// keyed is a start of a workflow under a key.
func (w *fixture) keyed(workflowText, key string) (engine.Answer, error) {
	w.seeds++
	return w.process().Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{
		Workflow: w.compiled(workflowText), SourceKind: event.SourceProject, SourceRef: "w.json", Key: key,
		Automation: strings.HasPrefix(key, startkey.AutomationPrefix)})
}

// counterpart returns a fixture whose store has the id of w's store, as one that another program makes of
// any bundle that names it.
func (w *fixture) counterpart() *fixture {
	w.Helper()
	other := newFixture(w.T)
	if err := os.CopyFS(other.dir, os.DirFS(w.dir)); err != nil {
		w.Fatal(err)
	}
	// The store refuses files that others can read; CopyFS does not keep modes.
	w.restrict(other.dir)
	other.g = other.process()
	return other
}

func (w *fixture) sessions() int {
	w.Helper()
	all, err := w.process().Sessions(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	return len(all)
}

func TestAKeyOfAnotherWorkflowIsTaken(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, err := w.keyed(longOne, "nightly")
	if err != nil {
		t.Fatal(err)
	}
	before := w.events(a)
	_, err = w.keyed(twoSteps, "nightly")
	if !fault.Is(err, fault.StartKeyTaken) || fault.ExitOf(err) != fault.ExitUsage ||
		!strings.Contains(fault.Of(err).Suggestion.String(), a.Session.RunID.String()) {
		t.Fatal(err)
	}
	if _, _, err := w.g.Starts().Find(context.Background(), "nightly", "test.two"); !fault.Is(err, fault.StartKeyTaken) {
		t.Error(err)
	}
	if n := w.events(a); n != before || w.sessions() != 1 {
		t.Errorf("%d events after %d, %d sessions", n, before, w.sessions())
	}
	// Another version of the same workflow is answered with what is recorded.
	b, err := w.keyed(strings.Replace(longOne, `"description":"d"`, `"description":"e"`, 1), "nightly")
	if err != nil || b.Session != a.Session || len(b.Warnings) != 1 || b.Warnings[0].Code != warning.ReplayDiffers {
		t.Errorf("%+v, %v", b, err)
	}
	found, ok, err := w.g.Starts().Find(context.Background(), "nightly", "test.long")
	if err != nil || !ok || found.Run != a.Session.RunID || found.WorkflowHash != w.compiled(longOne).Hash() {
		t.Errorf("%+v, %v, %v", found, ok, err)
	}
	if _, ok, err := w.g.Starts().Find(context.Background(), "weekly", "test.long"); ok || err != nil {
		t.Error(ok, err)
	}
}

// A bundle can name the session that a key results in: what was imported never answers a start,
// also with the workflow that is asked for, and also without its import mark.
func TestAKeyOfAnImportedSessionIsTaken(t *testing.T) {
	t.Parallel()
	for _, marked := range []bool{true, false} {
		w := newFixture(t)
		w.start(twoSteps) // the store has an id
		attacker := w.counterpart()
		a, err := attacker.keyed(longOne, "nightly")
		if err != nil {
			t.Fatal(err)
		}
		got := take(t, w.g, export(t, attacker.g, a.Session.SessionID, 1), false)
		if got.SessionID != a.Session.SessionID {
			t.Fatalf("imported as %s", got.SessionID)
		}
		if !marked {
			if err := os.Remove(w.dir + "/sessions/" + got.SessionID.String() + "/imported.json"); err != nil {
				t.Fatal(err)
			}
		}
		before := w.events(a)
		for _, flow := range []string{longOne, twoSteps} {
			if _, err := w.keyed(flow, "nightly"); !fault.Is(err, fault.StartKeyTaken) {
				t.Errorf("marked %v: %v", marked, err)
			}
		}
		if n := w.events(a); n != before || w.sessions() != 2 {
			t.Errorf("%d events after %d, %d sessions", n, before, w.sessions())
		}
	}
}

// TestRepeatedKeyReadsTheEndOfTheAuditLog: a start with a key that is taken reads the audit log from the
// saved ledger on, also where only the audit log knows that the session of the key was imported.
func TestRepeatedKeyReadsTheEndOfTheAuditLog(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps) // the store has an id
	attacker := w.counterpart()
	taken, err := attacker.keyed(longOne, "imported")
	must(t, err)
	take(t, w.g, export(t, attacker.g, taken.Session.SessionID, 1), false)
	must(t, os.Remove(filepath.Join(w.dir, "sessions", taken.Session.SessionID.String(), "imported.json")))
	own, err := w.keyed(longOne, "own")
	must(t, err)
	for range 40 {
		must(t, w.g.Ledger().Act(t.Context(), w.by(), ofStore(audit.GC), nothing))
	}
	again := func(key string) (a engine.Answer, events int, err error) {
		s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
		must(t, err)
		defer s.Close()
		w.seeds++
		a, err = enginetest.Over(countedAudit{enginetest.Over(s).Store, &events}).Start(t.Context(), w.by(), id.Seed{w.seeds},
			engine.Start{Workflow: w.compiled(longOne), SourceKind: event.SourceProject, SourceRef: "w.json", Key: key})
		return a, events, err
	}
	for _, caches := range []bool{true, false} {
		a, n, err := again("own")
		if err != nil || a.Session != own.Session || caches && n > 4 {
			t.Errorf("caches %v: %d events were read: %+v, %v", caches, n, a.Session, err)
		}
		if _, n, err = again("imported"); !fault.Is(err, fault.StartKeyTaken) || caches && n > 4 || !caches && n < 40 {
			t.Errorf("caches %v: %d events were read: %v", caches, n, err)
		}
		must(t, os.RemoveAll(filepath.Join(w.dir, "cache")))
	}
}

// restrict gives every file and directory the modes of a store.
func (w *fixture) restrict(dir string) {
	w.Helper()
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(name, mode)
	}); err != nil {
		w.Fatal(err)
	}
}
