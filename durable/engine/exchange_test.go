package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// mustSend sends a run, whose relation has to be want.
func mustSend(from, to *fixture, run id.Run, want travel.Relation) travel.Import {
	from.Helper()
	out, err := sent(from, to, run.String(), accepts)
	if err != nil || out.Relation != want {
		from.Fatalf("%s, %v, want %s", out.Relation, err, want)
	}
	return out
}

// TestASessionIsSentAndComesHome: a session that another store continued extends ours, annotations included, and the audit
// log says from where. Approvals and tokens do not count in the other store.
func TestASessionIsSentAndComesHome(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first, err := a.keyed(approving, "incident")
	if err != nil {
		t.Fatal(err)
	}
	run, s := first.Session.RunID, first.Session.SessionID
	a.say(first, "ours")
	got := mustSend(a, b, run, travel.NewSession)
	if got.SessionID != s || got.BundleID == "" || len(got.Runs) != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := b.next(first, note("with a token of the other store")); !fault.Is(err, fault.TokenBadSignature) {
		t.Errorf("a token of the source store: %v", err)
	}
	a.say(first, "meanwhile")
	there := b.at(run)
	b.say(there, "theirs")
	b.mustApprove(b.must(there, note("planned elsewhere")), "fine there")

	before := a.headOf(s)
	if _, err := sent(b, a, run.String(), nil); !fault.Is(err, fault.RunWaiting) || a.headOf(s) != before {
		t.Fatalf("without acceptance: %v", err)
	}
	got = mustSend(b, a, run, travel.FastForward)
	if a.headOf(s) != b.headOf(s) || got.Arrived.FromEvent != before.Next || got.Arrived.Annotations != 1 {
		t.Errorf("%+v", got.Arrived)
	}
	if got := a.labels(run); got != "ours meanwhile theirs!" {
		t.Errorf("annotations: %s", got)
	}
	mustSend(b, a, run, travel.Same)
	if here := a.must(a.at(run), advance.Request{}); len(here.Blockers) == 0 {
		t.Error("an approval from elsewhere counts")
	}
	mustSend(b, a, run, travel.Ahead)
	if again, err := a.keyed(approving, "incident"); err != nil || again.Session != first.Session {
		t.Errorf("its start key: %+v, %v", again.Session, err)
	}
	list, err := a.auditor().AuditList(ctx, verify.AuditQuery{Action: audit.Import})
	if err != nil || len(list.Entries) != 1 {
		t.Fatalf("the audit log: %+v, %v", list.Entries, err)
	}
	store, d := originOf(b).StoreID.String(), list.Entries[0].Details
	if d["fromStoreId"] != store || d["fromStore"] != b.dir || d["bundleId"] == "" || list.Entries[0].Actor.Ref != "ada" {
		t.Errorf("the audit log: %+v", list.Entries[0])
	}
	for _, w := range []*fixture{a, b} {
		w.sound()
		w.replays(engine.Position{Session: s, Run: run})
		if got := w.verified(); got != "" {
			t.Errorf("the audit log: %s", got)
		}
	}
}

// TestASourceGivesWhatABundleGives: a store that gets a session directly has the same files as one that gets it as a
// bundle, erased artifacts included.
func TestASourceGivesWhatABundleGives(t *testing.T) {
	t.Parallel()
	a, b, c := newFixture(t), newFixture(t), newFixture(t)
	erased, kept := advance.JSONArtifact(set("kind", "gone")), advance.JSONArtifact(set("kind", "kept"))
	first := a.must(a.start(longOne), advance.Request{Notes: "n", Artifacts: []advance.Artifact{erased, kept}})
	a.say(first, "x")
	if _, err := a.erase(canon.Sum(erased.Bytes), "a reason"); err != nil {
		t.Fatal(err)
	}
	run, s := first.Session.RunID, first.Session.SessionID
	mustSend(a, b, run, travel.NewSession)
	c.mustBring(export(t, a.g, s, 1), travel.NewSession)
	files := func(w *fixture) (out []string) {
		for _, dir := range []string{"snapshots", "workflows/pinned", "artifacts"} {
			for _, name := range w.files(dir) {
				data, err := os.ReadFile(filepath.Join(w.dir, dir, name))
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, name+" "+string(data))
			}
		}
		for name, data := range w.logFiles(s, true) {
			out = append(out, name+" "+data)
		}
		slices.Sort(out)
		return out
	}
	direct, bundled := files(b), files(c)
	if len(direct) < 6 || !slices.Equal(direct, bundled) {
		t.Errorf("%d files, with a bundle %d:\n%q\n%q", len(direct), len(bundled), direct, bundled)
	}
	b.sound(manifest.ArtifactErased)
}

// TestAsNewHasBoth: a session that diverged is added under new ids on request, once.
func TestAsNewHasBoth(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run, s := first.Session.RunID, first.Session.SessionID
	mustSend(a, b, run, travel.NewSession)
	common := a.headOf(s).Next
	a.must(a.at(run), note("here"))
	b.must(b.at(run), note("there"))
	before := b.headOf(s)
	_, err := sent(a, b, run.String(), accepts)
	if f := fault.Of(err); !fault.Is(err, fault.SessionDiverged) || f.Details["sharedEvents"] != common ||
		!strings.Contains(f.Message, "the target store continues with event") || b.headOf(s) != before {
		t.Errorf("%v", err)
	}
	for _, want := range []travel.Relation{travel.NewSession, travel.Same} {
		src, err := a.g.Source(ctx, id.Seed{9}, run.String())
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.g.Import(ctx, b.person("ada"), src, travel.ImportRequest{AsNew: true, From: originOf(a)})
		if err != nil || out.Relation != want || out.SessionID == s || out.Mapping == nil {
			t.Errorf("%+v, %v", out, err)
		}
	}
	b.sound()
}

// TestSecretsThatMoveAreNamed: what an export would name as suspected is named where it was written, and once.
func TestSecretsThatMoveAreNamed(t *testing.T) {
	t.Parallel()
	a, b := newFixture(t), newFixture(t)
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	first := a.must(a.start(longOne), note("the token "+secret+" was used"))
	got := mustSend(a, b, first.Session.RunID, travel.NewSession)
	all := strings.Join(got.Warnings, "\n")
	if !strings.Contains(all, "SECRET_SUSPECTED: /session/events/") || !strings.Contains(all, "github_token") || strings.Contains(all, secret) {
		t.Errorf("%s", all)
	}
	if got := mustSend(a, b, first.Session.RunID, travel.Same); len(got.Warnings) > 0 {
		t.Errorf("nothing was written, and the warnings are %q", got.Warnings)
	}
	b.must(b.at(first.Session.RunID), note("no token"))
	if got := mustSend(b, a, first.Session.RunID, travel.FastForward); len(got.Warnings) > 0 {
		t.Errorf("nothing of that was written, and the warnings are %q", got.Warnings)
	}
}

// TestASourceEndsWhereItWasOpened: what is appended later is not sent, and a log that is gone is named.
func TestASourceEndsWhereItWasOpened(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run, s := first.Session.RunID, first.Session.SessionID
	src, err := a.g.Source(ctx, id.Seed{1}, run.String())
	if err != nil {
		t.Fatal(err)
	}
	before := a.headOf(s)
	a.say(a.must(first, note("later")), "later")
	out, err := b.g.Import(ctx, b.person("ada"), src, travel.ImportRequest{From: originOf(a)})
	if err != nil || out.Relation != travel.NewSession || b.headOf(s) != before || b.labels(run) != "" {
		t.Errorf("%+v, %v", out, err)
	}
	if src, err = a.g.Source(ctx, id.Seed{2}, run.String()); err != nil {
		t.Fatal(err)
	}
	a.delete(s.String())
	if _, err := b.g.Import(ctx, b.person("ada"), src, travel.ImportRequest{From: originOf(a), Accept: accepts}); err == nil ||
		fault.Is(err, fault.Internal) || b.headOf(s) != before {
		t.Errorf("a session that is gone: %v", err)
	}
	b.sound()
}

// TestSourcesThatCannotBeSent: each is named with its code, and neither store changes.
func TestSourcesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name string
		code fault.Code
		exit int
		do   func(a *fixture, s id.Session, send func() error) error
	}{
		{"a segment that was changed", fault.SessionUnhealthy, fault.ExitIntegrity, func(a *fixture, s id.Session, send func() error) error {
			a.damage(filepath.Join("sessions", s.String(), "events"))
			return send()
		}},
		{"a snapshot that was changed", fault.BundleIntegrityFailed, fault.ExitIntegrity, func(a *fixture, _ id.Session, send func() error) error {
			a.damage("snapshots")
			return send()
		}},
		{"a snapshot that is gone", fault.BundleMissingSnapshot, fault.ExitIntegrity, func(a *fixture, _ id.Session, send func() error) error {
			a.drop("snapshots")
			return send()
		}},
		{"a workflow that is gone", fault.BundleMissingPinnedWorkflow, fault.ExitIntegrity, func(a *fixture, _ id.Session, send func() error) error {
			a.drop("workflows/pinned")
			return send()
		}},
		{"an annotation that was changed", fault.SessionUnhealthy, fault.ExitIntegrity, func(a *fixture, s id.Session, send func() error) error {
			a.damage(filepath.Join("sessions", s.String(), "annotations", "events"))
			return send()
		}},
		{"in the trash", fault.RunNotFound, fault.ExitNotFound, func(a *fixture, s id.Session, send func() error) error {
			a.delete(s.String())
			return send()
		}},
		{"under a performer", fault.RunBusy, fault.ExitBusy, func(a *fixture, s id.Session, send func() error) error {
			return ports.WithHold(ctx, a.process().Store.Performers(), s, func(ports.Hold) error { return send() })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b := newFixture(t), newFixture(t)
			first := a.must(a.start(longOne), note("n"))
			a.say(first, "x")
			mustSend(a, b, first.Session.RunID, travel.NewSession)
			first = a.must(a.at(first.Session.RunID), note("more"))
			s, before := first.Session.SessionID, b.headOf(first.Session.SessionID)
			err := c.do(a, s, func() error {
				_, err := sent(a.again(), b, first.Session.RunID.String(), accepts)
				return err
			})
			if f := fault.Of(err); !fault.Is(err, c.code) || fault.ExitOf(err) != c.exit || f.Suggestion.Format == "" {
				t.Errorf("%v, exit %d: %+v", err, fault.ExitOf(err), f)
			}
			if b.headOf(s) != before {
				t.Error("the target changed")
			}
			b.sound()
		})
	}
}

// again is the store as another process opens it.
func (w *fixture) again() *fixture {
	w.Helper()
	out := *w
	out.g = w.process()
	return &out
}

// last is the newest file of a folder.
func (w *fixture) last(dir string) string {
	w.Helper()
	all := w.files(dir)
	if len(all) == 0 {
		w.Fatalf("%s has no files", dir)
	}
	return filepath.Join(w.dir, dir, all[len(all)-1])
}

// drop removes the last file of a folder.
func (w *fixture) drop(dir string) {
	w.Helper()
	if err := os.Remove(w.last(dir)); err != nil {
		w.Fatal(err)
	}
}

// damage changes a bit of the last file of a folder.
func (w *fixture) damage(dir string) {
	w.Helper()
	rel, _ := filepath.Rel(w.dir, w.last(dir))
	w.flip(rel, -3)
}

// TestALockedTargetIsNotExtended: a writer or performer of the session in the target store excludes the exchange.
func TestALockedTargetIsNotExtended(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run, s := first.Session.RunID, first.Session.SessionID
	mustSend(a, b, run, travel.NewSession)
	a.must(first, note("more"))
	before := b.headOf(s)
	err := ports.WithHold(ctx, b.process().Store.Performers(), s, func(ports.Hold) error {
		_, err := sent(a, b, run.String(), accepts)
		return err
	})
	if !fault.Is(err, fault.RunBusy) || b.headOf(s) != before {
		t.Errorf("under a performer: %v", err)
	}
	unlock, err := b.process().Store.Lock(ctx, manifest.SessionEvents(s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sent(a, b, run.String(), accepts); !fault.Is(err, fault.SessionLocked) || b.headOf(s) != before {
		t.Errorf("under a writer: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	mustSend(a, b, run, travel.FastForward)
	b.sound()
}

// TestAHandedOverSessionIsSent: the record names the store that handed it over, so that it is in force there alone; what
// comes back follows it.
func TestAHandedOverSessionIsSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run := first.Session.RunID
	if _, err := a.g.HandOver(ctx, a.person("ada"), run.String(), "b"); err != nil {
		t.Fatal(err)
	}
	mustSend(a, b, run, travel.NewSession)
	if _, err := a.next(first, note("here")); !fault.Is(err, fault.SessionHandedOver) {
		t.Errorf("%v", err)
	}
	b.must(b.at(run), note("there"))
	mustSend(b, a, run, travel.FastForward)
	a.must(a.at(run), note("here again"))
	a.sound()
	b.sound()
}
