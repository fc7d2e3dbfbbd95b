package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// unaudited is an engine that never gets as far as the audit log: as if the process were killed
// after each commit.
func unaudited(g *enginetest.Engine) *enginetest.Engine { return enginetest.Over(lockedAudit{g.Store}) }

// lockedAudit is a store whose audit log cannot be locked.
type lockedAudit struct{ enginetest.Store }

func (s lockedAudit) Lock(ctx context.Context, log manifest.Log) (func() error, error) {
	if log.Table.Name == audit.Table.Name && log.Table.OwnerField == audit.Table.OwnerField {
		return nil, errors.New("killed")
	}
	return s.Store.Lock(ctx, log)
}

// audited is an engine that keeps the audit log.
func audited(s *filestore.Store) *enginetest.Engine {
	return over(s)
}

// auditor is another process that keeps the audit log.
func (w *fixture) auditor() *enginetest.Engine {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return audited(s)
}

func auditWorld(t *testing.T) *fixture {
	w := newFixture(t)
	w.g = w.auditor()
	return w
}

func ofStore(a audit.Action) audit.Act {
	return audit.Act{Action: a, Target: audit.Target{Kind: audit.OfStore}}
}

func nothing() (map[string]string, error) { return nil, nil }

// auditTrail is what is on record, one word for each act: "cancel", "gc?" where it is open, "gc!" where
// it failed, "cancel+" where the line is not written.
func (w *fixture) auditTrail() string {
	w.Helper()
	list, err := w.auditor().AuditList(context.Background(), verify.AuditQuery{})
	if err != nil || !list.Complete {
		w.Fatalf("%v, %+v", err, list)
	}
	var out []string
	for _, e := range list.Entries {
		word := string(e.Action) + map[audit.Outcome]string{audit.Open: "?", audit.Failed: "!"}[e.Outcome]
		if e.Unwritten {
			word += "+"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// verified is the findings of a check, by their codes.
func (w *fixture) verified() string {
	w.Helper()
	v, err := w.auditor().AuditVerify(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, f := range v.Findings {
		out = append(out, string(f.Code))
	}
	slices.Sort(out)
	if errs := slices.ContainsFunc(v.Findings,
		func(f manifest.Finding) bool { return f.Severity == manifest.SeverityError }); errs == v.OK {
		w.Errorf("ok is %v: %+v", v.OK, v.Findings)
	}
	return strings.Join(out, " ")
}

func (w *fixture) want(wantLines, findings string) {
	w.Helper()
	if got := w.auditTrail(); got != wantLines {
		w.Errorf("on record: %q, want %q", got, wantLines)
	}
	if got := w.verified(); got != findings {
		w.Errorf("findings: %q, want %q", got, findings)
	}
}

// cancelled starts a run and ends it.
func (w *fixture) cancelled(reason string) engine.Answer {
	w.Helper()
	a := w.start(twoSteps)
	if _, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{Reason: reason}); err != nil {
		w.Fatal(err)
	}
	return a
}

func TestAnActIsRecordedBeforeAndAfter(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	w.start(twoSteps)
	called := false
	what := ofStore(audit.GC)
	what.Reason, what.Details = "too big", map[string]string{"kept": "1", "both": "before"}
	err := w.g.Ledger().Act(ctx, w.person("ada"), what, func() (map[string]string, error) {
		called = true
		w.want("gc?", "")
		return map[string]string{"objects": "3", "both": "after"}, nil
	})
	if err != nil || !called {
		t.Fatal(called, err)
	}
	list, err := w.auditor().AuditList(ctx, verify.AuditQuery{})
	if err != nil || len(list.Entries) != 1 {
		t.Fatal(err, list)
	}
	e := list.Entries[0]
	if e.Outcome != audit.Succeeded || e.Reason != "too big" ||
		e.Actor != (event.Actor{Kind: event.Human, Ref: "ada"}) || e.AtMs != w.clock ||
		len(e.Details) != 3 || e.Details["both"] != "after" || e.Details["kept"] != "1" || e.Source != nil {
		t.Errorf("%+v", e)
	}
	broken := fault.New(fault.StoreFull, "secret path /home/you")
	if err := w.g.Ledger().Act(ctx, w.by(), ofStore(audit.Repair),
		func() (map[string]string, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	w.want("gc repair!", "")
	// An act that completes although its caller was interrupted is recorded as done.
	ended, end := context.WithCancel(ctx)
	must(t, w.g.Ledger().Act(ended, w.by(), ofStore(audit.EmptyTrash),
		func() (map[string]string, error) { end(); return nil, nil }))
	w.want("gc repair! empty_trash", "")
	if err := w.g.Ledger().Act(ended, w.by(), ofStore(audit.GC),
		func() (map[string]string, error) { t.Error("done"); return nil, nil }); !fault.Is(err, fault.Interrupted) {
		t.Error(err)
	}
	w.want("gc repair! empty_trash", "")
}

func TestAnActIsRefusedWithoutAnAuditLog(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	w.start(twoSteps)
	act := func(what audit.Act) error {
		return w.g.Ledger().Act(ctx, w.by(), what, func() (map[string]string, error) {
			t.Errorf("%s was done", what.Action)
			return nil, nil
		})
	}
	long := ofStore(audit.GC)
	long.Reason = strings.Repeat("x", 513)
	if err := act(long); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
	if err := act(audit.Act{Action: audit.GC}); !fault.Is(err, fault.Internal) {
		t.Error(err)
	}
	// Another process holds the lock of the audit log all the time.
	s, err := openUnsynced(w, w.dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	store, _ := s.StoreID(ctx, ports.ReadOnly)
	unlock, err := s.Lock(ctx, manifest.StoreLog(store, audit.Table))
	if err != nil {
		t.Fatal(err)
	}
	w.g = audited(s)
	if err := act(ofStore(audit.GC)); !fault.Is(err, fault.StoreLocked) ||
		fault.Of(err).Retry.Kind == fault.NotRetryable {
		t.Error(err)
	}
	_ = unlock()
	// The log is damaged.
	must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing))
	name := filepath.Join(w.dir, "audit/events/00000001-00000001.jsonl")
	b, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, append(b, 'x'), 0o600))
	err = act(ofStore(audit.GC))
	if f := fault.Of(err); !fault.Is(err, fault.SessionUnhealthy) || !strings.Contains(f.Message, "audit log") ||
		!strings.Contains(f.Suggestion.String(), "audit verify") {
		t.Errorf("%+v", f)
	}
	if got := w.verified(); got != "segment_damaged" {
		t.Error(got)
	}
	must(t, os.WriteFile(name, b, 0o600))
	w.want("gc", "")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecordingCreatesNoStore(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	did := 0
	must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), func() (map[string]string, error) {
		did++
		return nil,
			nil
	}))
	if _, err := os.Stat(w.dir); did != 1 || !errors.Is(err, os.ErrNotExist) {
		t.Error("a cleanup of nothing made a store, or was not carried out:", did, err)
	}
	w.want("", "")
	list, err := w.g.AuditList(ctx, verify.AuditQuery{})
	if err != nil || !list.Complete || list.Entries == nil || list.Findings == nil {
		t.Errorf("%+v, %v", list, err)
	}
	s := w.g.Settings
	if was, err := s.Revoke(ctx, w.by(), canon.Sum(nil)); was || err != nil {
		t.Error(was, err)
	}
	if _, err := os.Stat(w.dir); err == nil {
		t.Error("revoking nothing created a store")
	}
	cmd := w.compiled(withCommands)
	if _, err := s.Trust(ctx, w.person("ada"), cmd, "/repo", trust.Fixed{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trust(ctx, w.person("bob"), cmd, "/repo", trust.Fixed{}, nil); err != nil { // changes nothing
		t.Fatal(err)
	}
	if _, err := s.Revoke(ctx, w.by(), cmd.Hash()); err != nil {
		t.Fatal(err)
	}
	w.want("trust untrust", "")
}

func TestFactsHaveTheirLines(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	a := w.must(w.start(approving), note("the plan"))
	w.mustApprove(a, "fine")
	w.mustApprove(a, "fine") // approved already: no fact, no line
	b := w.cancelled("not needed, sk-canary0123456789")
	never := []event.PreferenceChange{{Key: "autonomy", Value: string(event.FullAutoNeverStop)}}
	if _, err := w.g.Start(ctx, w.by(), id.Seed{99}, engine.Start{Workflow: w.compiled(twoSteps), SourceKind: "project",
		SourceRef: "x", Preferences: never}); err != nil {
		t.Fatal(err)
	}
	w.want("approve cancel override", "")
	list, err := w.auditor().AuditList(ctx, verify.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	first, second := list.Entries[0], list.Entries[1]
	if first.Actor.Ref != "ada" || first.Target.ID != a.Session.RunID.String() ||
		first.Source.SessionID != a.Session.SessionID || first.Details["nodeId"] != a.NodeID.String() {
		t.Errorf("%+v", first)
	}
	if second.Target.ID != b.Session.RunID.String() || second.Reason != "not needed, [REDACTED:secret_key]" ||
		second.Details["endsAs"] != "cancelled" {
		t.Errorf("%+v", second)
	}
	// A fork of a run that never stops makes no decision again.
	at, err := w.g.Locate(ctx, engine.Last)
	must(t, err)
	if _, err := w.g.ForkAt(ctx, w.by(), id.Seed{98}, at, engine.ForkRequest{}); err != nil {
		t.Fatal(err)
	}
	w.want("approve cancel override", "")
}

// TestAReaderCompletesAnUnwrittenLine: the fact exists and its line does not: the process was
// killed in between, or the audit log could not be written. A reader shows the line and writes
// nothing, and the next line that is written completes the log.
func TestAReaderCompletesAnUnwrittenLine(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.g = unaudited(w.g)
	w.cancelled("one")
	w.want("cancel+", "audit_incomplete")
	ids := func() (out []string) {
		list, err := w.auditor().AuditList(context.Background(), verify.AuditQuery{})
		must(t, err)
		for _, e := range list.Entries {
			out = append(out, e.EventID.String())
		}
		return out
	}
	before := ids()
	w.g = w.auditor()
	w.cancelled("two") // completes its own session alone
	w.want("cancel+ cancel", "audit_incomplete")
	must(t, w.g.Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
	w.want("cancel cancel gc", "")
	if after := ids(); after[0] != before[0] {
		t.Errorf("the line has another id than before: %s, %s", before, after)
	}
}

// TestImportedFactsAreNoActs: what was approved in another store is no act of this one
// (docs/design.md#requirements-on-the-caller).
func TestImportedFactsAreNoActs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.g = unaudited(w.g)
	a := w.must(w.start(approving), note("the plan"))
	w.mustApprove(a, "elsewhere")
	s, err := openUnsynced(w, w.dir, filestore.Options{})
	must(t, err)
	defer s.Close()
	v, err := s.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(a.Session.SessionID)},
		ports.Skip)
	must(t, err)
	mark := imported.Mark{AtMs: 1, BundleID: "bundle_x", Events: v.Head.Next, Head: v.Head.Digest}
	must(t, s.UpdateSessionControl(context.Background(), a.Session.SessionID, ports.ImportedFile,
		func(ports.Control) (ports.Control, error) {
			return ports.Control{V: imported.Version, Data: mark.Value()}, nil
		}))
	w.g = w.auditor()
	must(t, w.g.Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
	w.want("gc", "")
	if _, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{}); err != nil { // and this one
		t.Fatal(err)
	}
	w.want("gc cancel", "")
}

func TestQueries(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	w.cancelled("one")
	mid := w.clock + 1
	w.cancelled("two")
	must(t, w.g.Ledger().Act(context.Background(), w.by(), ofStore(audit.GC), nothing))
	for _, test := range []struct {
		q    verify.AuditQuery
		want int
	}{
		{verify.AuditQuery{}, 3}, {verify.AuditQuery{Action: audit.GC}, 1}, {verify.AuditQuery{SinceMs: mid}, 2},
		{verify.AuditQuery{Limit: 1}, 1}, {verify.AuditQuery{Action: audit.Cancel, Limit: 5}, 2},
		{verify.AuditQuery{Action: audit.Rotate}, 0},
	} {
		list, err := w.g.AuditList(context.Background(), test.q)
		if err != nil || len(list.Entries) != test.want || list.Entries == nil {
			t.Errorf("%+v: %d entries, %v", test.q, len(list.Entries), err)
		}
	}
	last, _ := w.g.AuditList(context.Background(), verify.AuditQuery{Limit: 1})
	if last.Entries[0].Action != audit.GC {
		t.Error("the limit does not keep the newest:", last.Entries)
	}
}
