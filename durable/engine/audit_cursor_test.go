package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// headOf is the head of a session's log.
func (w *fixture) headOf(s id.Session) manifest.Head {
	w.Helper()
	v, err := w.auditor().Store.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(s)}, ports.Skip)
	if err != nil {
		w.Fatal(err)
	}
	return v.Head
}

// TestAForgedCacheHidesNothing: a cache, written without the keys, states that all of a session was
// seen. The fact gets its line all the same.
func TestAForgedCacheHidesNothing(t *testing.T) {
	t.Parallel()
	for _, acts := range []int{1, 20} { // a log that is read whole, and one that is not
		w := newFixture(t)
		keeper := w.auditor()
		w.g = unaudited(w.g)
		a := w.start(twoSteps)
		for range acts {
			must(t, keeper.Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
		}
		if _, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{}); err != nil {
			t.Fatal(err)
		}
		v, err := keeper.AuditVerify(context.Background())
		must(t, err)
		forged := auditview.NewLedger()
		forged.Head, forged.Seen[manifest.SessionEvents(a.Session.SessionID).Root] = v.Head,
			w.headOf(a.Session.SessionID)
		doc, err := forged.Save()
		must(t, err)
		must(t, os.WriteFile(filepath.Join(w.dir, "cache", fmt.Sprintf("audit-%d", auditview.LedgerFormat)),
			[]byte(strings.Repeat("0", 64)+" "+string(doc)+"\n"), 0o600))
		if got := w.verified(); got != "audit_incomplete" {
			t.Error(got)
		}
		must(t, w.auditor().Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
		if got := w.verified(); got != "" || strings.Contains(w.auditTrail(), "+") {
			t.Error(got, w.auditTrail())
		}
	}
}

// TestASessionWithAnotherHistory: a session's directory was restored from a copy, and continued
// differently since. New facts get their lines, no fact gets a second one, and the line whose fact
// is gone is found.
func TestASessionWithAnotherHistory(t *testing.T) {
	t.Parallel()
	for _, cache := range []bool{true, false} {
		w := auditWorld(t)
		a := w.start(twoSteps)
		dir := filepath.Join(w.dir, "sessions", a.Session.SessionID.String())
		before := filepath.Join(t.TempDir(), "before")
		must(t, os.CopyFS(before, os.DirFS(dir)))
		end := func() {
			_, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{Reason: "r"})
			must(t, err)
		}
		end()
		w.want("cancel", "")
		must(t, os.RemoveAll(dir))
		must(t, os.CopyFS(dir, os.DirFS(before)))
		if !cache {
			must(t, os.RemoveAll(filepath.Join(w.dir, "cache")))
		}
		if got := w.verified(); got != "audit_unfounded" {
			t.Error("the fact is gone, and its line is called", got)
		}
		w.g = w.auditor()
		never := note("done")
		never.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: string(event.FullAutoNeverStop)}}
		w.must(a, never)
		w.want("cancel override", "audit_unfounded")
		end() // the same event again, at another index
		must(t, w.auditor().Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
		w.want("cancel override gc", "audit_unfounded")
	}
}

// TestAnAuditLogWithAnotherHistory: the audit log was restored from a copy, or removed. The cursor
// of the cache is valid for the former log, not for this one.
func TestAnAuditLogWithAnotherHistory(t *testing.T) {
	t.Parallel()
	for _, acts := range []int{0, 20} { // a log that is read whole, and one that is not
		w := auditWorld(t)
		w.cancelled("one")
		act := func() { must(t, w.auditor().Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing)) }
		for range acts {
			act()
		}
		dir, before := filepath.Join(w.dir, "audit"), filepath.Join(t.TempDir(), "before")
		must(t, os.CopyFS(before, os.DirFS(dir)))
		w.cancelled("two")
		act()
		must(t, os.RemoveAll(dir))
		must(t, os.CopyFS(dir, os.DirFS(before)))
		gcs := strings.Repeat(" gc", acts)
		w.want("cancel"+gcs+" cancel+", "audit_incomplete")
		act()
		w.want("cancel"+gcs+" cancel gc", "")
		must(t, os.RemoveAll(dir))
		act()
		w.want("cancel cancel gc", "")
	}
}

// TestLinesOfDeletedSessions: a session that was deleted on record is no finding; one that is
// missing otherwise is.
func TestLinesOfDeletedSessions(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	a, b := w.cancelled("one"), w.cancelled("two")
	gone := func(a engine.Answer) error {
		return os.RemoveAll(filepath.Join(w.dir, "sessions", a.Session.SessionID.String()))
	}
	what := audit.Act{Action: audit.Delete,
		Target: audit.Target{Kind: audit.OfSession, ID: a.Session.SessionID.String()}}
	must(t, w.g.Ledger().Act(context.Background(), w.by(), what,
		func() (map[string]string, error) { return nil, gone(a) }))
	w.want("cancel cancel delete", "")
	must(t, gone(b))
	w.want("cancel cancel delete", "audit_session_missing")
}

// TestADamagedSessionHidesNoOther: what precedes the damage is listed, the list is marked as
// incomplete, and the other sessions get their lines.
func TestADamagedSessionHidesNoOther(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.g = unaudited(w.g)
	a := w.cancelled("one")
	w.cancelled("two")
	name := filepath.Join(w.dir, "sessions", a.Session.SessionID.String(), "events")
	all, err := os.ReadDir(name)
	must(t, err)
	must(t, os.Remove(filepath.Join(name, all[len(all)-1].Name())))
	g := w.auditor()
	list, err := g.AuditList(context.Background(), verify.AuditQuery{})
	if err != nil || list.Complete || len(list.Entries) != 1 || len(list.Findings) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	must(t, g.Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
	if got := w.verified(); got != "audit_incomplete" {
		t.Error(got)
	}
	v, err := g.AuditVerify(context.Background())
	if err != nil || v.Events != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}
