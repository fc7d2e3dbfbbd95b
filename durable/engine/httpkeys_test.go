package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// addKey adds a key as a person does who is shown what the store contains. Its text is "text of NAME".
func addKey(ctx context.Context, g *enginetest.Engine, w *fixture, name string) error {
	c, err := g.PlanAddHTTPKey(ctx, name, []httpkeys.Scope{httpkeys.RunsRead}, 7)
	if err == nil {
		_, err = g.AddHTTPKey(ctx, w.person("ada"), c, "text of "+name)
	}
	return err
}

// removeKey is addKey for a removal.
func removeKey(ctx context.Context, g *enginetest.Engine, w *fixture, name string) error {
	c, err := g.PlanRemoveHTTPKey(ctx, name)
	if err == nil {
		err = g.RemoveHTTPKey(ctx, w.person("ada"), c)
	}
	return err
}

// keysCounting returns the names of the keys that count, or the code of the error.
func keysCounting(g *enginetest.Engine) string {
	keys, err := g.HTTPKeys(context.Background())
	if err != nil {
		return string(fault.CodeOf(err)) + strings.Repeat(" with keys", len(keys))
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return strings.Join(names, " ")
}

// TestKeysCountAsConfirmed: keys count for the process that changed them, for one that follows, and for a new one.
func TestKeysCountAsConfirmed(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx, server := context.Background(), w.auditor()
	if got := keysCounting(server); got != "" {
		t.Errorf("no store: %q", got)
	}
	for _, step := range []struct {
		do   func(context.Context, *enginetest.Engine, *fixture, string) error
		name string
		want string
	}{{addKey, "a", "a"}, {addKey, "b", "a b"}, {removeKey, "a", "b"}, {addKey, "a", "b a"}, {removeKey, "a", "b"}, {removeKey, "b", ""}} {
		must(t, step.do(ctx, w.g, w, step.name))
		for who, g := range map[string]*enginetest.Engine{"same": w.g, "server": server, "new": w.auditor()} {
			if got := keysCounting(g); got != step.want {
				t.Errorf("%s process: %q, want %q", who, got, step.want)
			}
		}
	}
	if got := w.policyCodes(); got != "" {
		t.Error(got)
	}
}

// TestOnlyAPersonChangesKeys: an agent adds and removes none, and nothing is recorded.
func TestOnlyAPersonChangesKeys(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	must(t, addKey(ctx, w.g, w, "a"))
	c, err := w.g.PlanAddHTTPKey(ctx, "b", []httpkeys.Scope{httpkeys.RunsRead}, 7)
	must(t, err)
	_, added := w.g.AddHTTPKey(ctx, w.by(), c, "text")
	c, err = w.g.PlanRemoveHTTPKey(ctx, "a")
	must(t, err)
	removed := w.g.RemoveHTTPKey(ctx, w.by(), c)
	if !fault.Is(added, fault.RunWaiting) || !fault.Is(removed, fault.RunWaiting) || keysCounting(w.g) != "a" {
		t.Error(added, removed, keysCounting(w.g))
	}
	if got := w.auditTrail(); got != "configure" {
		t.Error(got)
	}
}

// keyExchanges are the ways in which keys/http.json becomes another than the one with the keys a and b that a person
// confirmed.
func keyExchanges(w *fixture) map[string]func() {
	name := filepath.Join(w.dir, settings.HTTPKeysFile.Name)
	confirmed, err := os.ReadFile(name)
	must(w.T, err)
	return map[string]func(){
		"edited": func() {
			w.writeControl("keys/http.json", httpkeys.Kind, 1, strings.Replace(string(confirmed[len(`{"data":`):strings.Index(string(confirmed), `,"kind"`)]), "runs:read", "runs:create", 1))
		},
		"a key added by editing": func() {
			l, err := w.g.ListHTTPKeys(context.Background())
			must(w.T, err)
			l, err = l.With(httpkeys.NewKey("thief", "text", httpkeys.Scopes()[:1], 1))
			must(w.T, err)
			data, err := l.Data()
			must(w.T, err)
			w.writeControl("keys/http.json", httpkeys.Kind, 1, string(data.JCS()))
		},
		"edited without its digest": func() {
			must(w.T, os.WriteFile(name, []byte(strings.Replace(string(confirmed), `"a"`, `"c"`, 1)), 0o600))
		},
		"deleted":   func() { must(w.T, os.Remove(name)) },
		"truncated": func() { must(w.T, os.WriteFile(name, confirmed[:40], 0o600)) },
		"a folder":  func() { must(w.T, os.Remove(name)); must(w.T, os.Mkdir(name, 0o700)) },
		"linked":    func() { must(w.T, os.Rename(name, w.dir+"/../real")); must(w.T, os.Symlink(w.dir+"/../real", name)) },
		"in a linked folder": func() {
			must(w.T, os.Rename(filepath.Dir(name), w.dir+"/../real"))
			must(w.T, os.Symlink(w.dir+"/../real", filepath.Dir(name)))
		},
		"open to others":    func() { must(w.T, os.Chmod(name, 0o644)) },
		"open to the group": func() { must(w.T, os.Chmod(name, 0o620)) },
		"of another kind":   func() { w.writeControl("keys/http.json", "trust", 1, `{"trusted":[]}`) },
	}
}

// TestNoKeyCountsUnlessConfirmed: for each way in which the file can be exchanged no key counts, also for a process that
// read it before, and the verification reports it. With the file as it was, they count again.
func TestNoKeyCountsUnlessConfirmed(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	must(t, addKey(ctx, w.g, w, "a"))
	name := filepath.Join(w.dir, settings.HTTPKeysFile.Name)
	older, err := os.ReadFile(name)
	must(t, err)
	must(t, addKey(ctx, w.g, w, "b"))
	confirmed, err := os.ReadFile(name)
	must(t, err)
	exchanges := keyExchanges(w)
	exchanges["restored from an older copy"] = func() { must(t, os.WriteFile(name, older, 0o600)) }
	server := w.auditor()
	for how, exchange := range exchanges {
		if got := keysCounting(server); got != "a b" {
			t.Fatalf("before %s: %q", how, got)
		}
		exchange()
		for who, g := range map[string]*enginetest.Engine{"server": server, "new": w.auditor()} {
			if got := keysCounting(g); got != "POLICY_UNCONFIRMED" {
				t.Errorf("%s, %s process: %s", how, who, got)
			}
		}
		v, err := w.auditor().Verify(ctx)
		if err == nil && v.OK {
			t.Errorf("%s: the verification finds nothing", how)
		}
		if info, err := os.Lstat(filepath.Dir(name)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			must(t, os.Remove(filepath.Dir(name)))
			must(t, os.Rename(w.dir+"/../real", filepath.Dir(name)))
		}
		must(t, os.RemoveAll(name))
		must(t, os.RemoveAll(w.dir+"/../real"))
		must(t, os.WriteFile(name, confirmed, 0o600))
	}
}

// TestKeysWithoutTheirOutcome: a process that ends between the file and the outcome leaves keys of which none counts, which
// is a warning; a person confirms them as they are, or with the next change that shows them.
func TestKeysWithoutTheirOutcome(t *testing.T) {
	t.Parallel()
	for _, confirm := range []bool{true, false} {
		w := auditWorld(t)
		ctx := context.Background()
		must(t, addKey(ctx, w.g, w, "a"))
		failing := enginetest.Over(onlyIntentions{w.g.Store})
		if err := addKey(ctx, failing, w, "b"); !fault.Is(err, fault.PolicyUnconfirmed) {
			t.Error(err)
		}
		if got := keysCounting(w.auditor()); got != "POLICY_UNCONFIRMED" {
			t.Error(got)
		}
		if got := w.policyCodes(); got != "policy_unrecorded keys/http.json" {
			t.Error(got)
		}
		g := w.auditor()
		want := "a b"
		if confirm {
			c, err := g.PlanConfirmation(ctx)
			must(t, err)
			if c.HTTPKeys == nil || len(c.HTTPKeys.Keys) != 2 || c.Trusted != nil || len(c.Differences) > 0 {
				t.Errorf("%+v", c)
			}
			must(t, g.Confirm(ctx, w.person("ada"), c))
		} else {
			c, err := g.PlanRemoveHTTPKey(ctx, "b")
			must(t, err)
			if c.Unconfirmed == nil || len(c.Unconfirmed.Keys) != 2 {
				t.Errorf("%+v", c)
			}
			must(t, g.RemoveHTTPKey(ctx, w.person("ada"), c))
			want = "a"
		}
		if got := keysCounting(w.auditor()); got != want || w.policyCodes() != "" {
			t.Error(got, w.policyCodes())
		}
	}
}

// TestConfirmationOfOtherKeysThanShown: an answer confirms the keys that were shown and no others, and a change that was
// planned while the keys were confirmed confirms none that are not.
func TestConfirmationOfOtherKeysThanShown(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx, ada := context.Background(), w.person("ada")
	must(t, addKey(ctx, w.g, w, "a"))
	planned, err := w.g.PlanAddHTTPKey(ctx, "b", httpkeys.Scopes(), 1)
	must(t, err)
	forge := func(name string) {
		l, err := httpkeys.List{}.With(httpkeys.NewKey(name, "x", httpkeys.Scopes()[:1], 1))
		must(t, err)
		data, err := l.Data()
		must(t, err)
		w.writeControl("keys/http.json", httpkeys.Kind, 1, string(data.JCS()))
	}
	forge("one")
	if _, err := w.g.AddHTTPKey(ctx, ada, planned, "y"); !fault.Is(err, fault.StoreConflict) {
		t.Error("keys that were not shown were confirmed:", err)
	}
	shown, err := w.g.PlanAddHTTPKey(ctx, "b", httpkeys.Scopes(), 1)
	must(t, err)
	c, err := w.g.PlanConfirmation(ctx)
	must(t, err)
	removal, err := w.g.PlanRemoveHTTPKey(ctx, "one")
	must(t, err)
	forge("two")
	if _, err := w.g.AddHTTPKey(ctx, ada, shown, "y"); !fault.Is(err, fault.StoreConflict) {
		t.Error("other keys than the shown ones were confirmed:", err)
	}
	if err := w.g.RemoveHTTPKey(ctx, ada, removal); !fault.Is(err, fault.StoreConflict) {
		t.Error("other keys than the shown ones were confirmed:", err)
	}
	if err := w.g.Confirm(ctx, ada, c); !fault.Is(err, fault.StoreConflict) {
		t.Error("other keys than the shown ones were confirmed:", err)
	}
	if got := keysCounting(w.auditor()); got != "POLICY_UNCONFIRMED" {
		t.Error(got)
	}
}

// TestRemovalOfAnotherKey: of two keys that had one name after each other, the one that was shown is removed or none.
func TestRemovalOfAnotherKey(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	must(t, addKey(ctx, w.g, w, "a"))
	shown, err := w.g.PlanRemoveHTTPKey(ctx, "a")
	must(t, err)
	must(t, removeKey(ctx, w.g, w, "a"))
	c, err := w.g.PlanAddHTTPKey(ctx, "a", httpkeys.Scopes(), 9)
	must(t, err)
	_, err = w.g.AddHTTPKey(ctx, w.person("bob"), c, "another text")
	must(t, err)
	if err := w.g.RemoveHTTPKey(ctx, w.person("ada"), shown); !fault.Is(err, fault.StoreConflict) || keysCounting(w.g) != "a" {
		t.Error(err, keysCounting(w.g))
	}
}

// TestKeysAddedByTwoProcesses: of processes that add keys at the same time each adds its key or is refused, and all keys
// count afterwards.
func TestKeysAddedByTwoProcesses(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	must(t, addKey(ctx, w.g, w, "first"))
	const processes = 6
	errs := make([]error, processes)
	var wg sync.WaitGroup
	// All are planned before the first is made: one that is planned between the change of another one and its line in the audit
	// log shows keys that are not confirmed yet.
	var adds []func()
	for i := range processes {
		g, by := w.auditor(), w.person("ada")
		c, err := g.PlanAddHTTPKey(ctx, fmt.Sprint("k", i), httpkeys.Scopes(), 1)
		must(t, err)
		adds = append(adds, func() { _, errs[i] = g.AddHTTPKey(ctx, by, c, fmt.Sprint("text ", i)) })
	}
	for _, add := range adds {
		wg.Go(add)
	}
	wg.Wait()
	list, err := w.g.ListHTTPKeys(ctx)
	must(t, err)
	for i, err := range errs {
		_, has := list.Of(fmt.Sprint("k", i))
		if has != (err == nil) || err != nil && !fault.Is(err, fault.StoreConflict) {
			t.Errorf("process %d: stored %v, %v", i, has, err)
		}
	}
	if got := strings.Fields(keysCounting(w.auditor())); len(got) != len(list.Keys) || len(got) < 2 {
		t.Errorf("%v count", got)
	}
}

// TestKeysAreAskedForEachRequest: the second reading of a process reads what was appended to the audit log since the first,
// however long the log is; a damaged log states nothing.
func TestKeysAreAskedForEachRequest(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	w.start(twoSteps)
	must(t, addKey(ctx, w.g, w, "a"))
	for range 40 {
		must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing))
	}
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	must(t, err)
	defer s.Close()
	events := 0
	g := enginetest.Over(countedAudit{enginetest.Over(s).Store, &events})
	ask := func(want string, most int) {
		t.Helper()
		events = 0
		if got := keysCounting(g); got != want || events > most {
			t.Errorf("%q after %d events, want %q after at most %d", got, events, want, most)
		}
	}
	ask("a", 100)
	for range 5 {
		ask("a", 0)
	}
	must(t, addKey(ctx, w.g, w, "b"))
	ask("a b", 2)
	ask("a b", 0)
	must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing))
	ask("a b", 2)
	// Another history of the audit log is read from its beginning.
	for _, name := range []string{"audit", "cache"} {
		must(t, os.RemoveAll(filepath.Join(w.dir, name)))
	}
	ask("POLICY_UNCONFIRMED", 0)
	w.g = w.auditor()
	c, err := w.g.PlanConfirmation(ctx)
	must(t, err)
	must(t, w.g.Confirm(ctx, w.person("ada"), c))
	ask("a b", 2)
	manifestFile := filepath.Join(w.dir, "audit", "manifest.jsonl")
	text, err := os.ReadFile(manifestFile)
	must(t, err)
	must(t, os.WriteFile(manifestFile, append(text, "{}\n{}\n"...), 0o600))
	ask("SESSION_UNHEALTHY", 100)
	must(t, os.WriteFile(manifestFile, text, 0o600))
	ask("a b", 2)
}
