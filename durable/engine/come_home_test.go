package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// accepts accepts all that a bundle adds.
func accepts(context.Context, travel.Import) error { return nil }

// bring imports a bundle into the store; what it adds is accepted.
func (w *fixture) bring(data []byte) (travel.Import, error) { return w.bringIf(data, accepts) }

func (w *fixture) bringIf(data []byte, accept travel.Acceptance) (travel.Import, error) {
	w.Helper()
	b, err := bundlefile.Spool(context.Background(), bytes.NewReader(data), bundle.Options{})
	if err != nil {
		return travel.Import{}, err
	}
	defer b.Close()
	return w.g.Import(context.Background(), w.person("ada"), b, travel.ImportRequest{Accept: accept})
}

func (w *fixture) mustBring(data []byte, want travel.Relation) travel.Import {
	w.Helper()
	out, err := w.bring(data)
	if err != nil || out.Relation != want {
		w.Fatalf("%s, %v, want %s", out.Relation, err, want)
	}
	return out
}

// at is where a run is, as this store shows it.
func (w *fixture) at(run id.Run) engine.Answer {
	w.Helper()
	p, err := w.g.Locate(context.Background(), run.String())
	if err != nil {
		w.Fatal(err)
	}
	a, err := w.g.Rehydrate(context.Background(), p)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// labels are the annotations of a run in their order, "!" for an imported one.
func (w *fixture) labels(run id.Run) string {
	w.Helper()
	list, err := w.g.Annotations(context.Background(), run.String(), learning.AnnotationQuery{})
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, a := range list.Annotations {
		label := a.Signal.Label
		if list.About[a.AnnotationID.String()].Imported {
			label += "!"
		}
		out = append(out, label)
	}
	return strings.Join(out, " ")
}

// TestASessionComesHome: what another store added to a session extends it, annotations included. Decisions among it are
// shown and do not count, those that were made here do, and the session still answers its start key.
func TestASessionComesHome(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first, err := a.keyed(approving, "incident")
	if err != nil {
		t.Fatal(err)
	}
	run, s := first.Session.RunID, first.Session.SessionID
	a.say(first, "ours")
	away := export(t, a.g, s, 1)
	b.mustBring(away, travel.NewSession)
	a.say(first, "meanwhile") // the annotations differ from now on
	there := b.at(run)
	b.say(there, "theirs")
	there = b.must(there, note("planned elsewhere"))
	b.mustApprove(there, "fine there")
	home := export(t, b.g, s, 2)

	before := a.headOf(s)
	if _, err := a.bringIf(home, nil); !fault.Is(err, fault.RunWaiting) || a.headOf(s) != before || a.labels(run) != "ours meanwhile" {
		t.Fatalf("without acceptance: %v", err)
	}
	got := a.mustBring(home, travel.FastForward)
	if got.Arrived.FromEvent != before.Next || len(got.Arrived.Decisions) != 1 || got.Arrived.Annotations != 1 ||
		got.Arrived.Decisions[0].StepID != "plan" || got.Arrived.Decisions[0].Reason != "fine there" {
		t.Errorf("%+v", got.Arrived)
	}
	if a.headOf(s) != b.headOf(s) {
		t.Error("the logs differ")
	}
	if got := a.labels(run); got != "ours meanwhile theirs!" {
		t.Errorf("annotations: %s", got)
	}
	a.mustBring(home, travel.Same)
	a.mustBring(away, travel.Ahead)
	here := a.must(a.at(run), advance.Request{})
	if len(here.Blockers) == 0 {
		t.Fatal("an approval from elsewhere counts")
	}
	a.mustApprove(here, "fine here")
	here = a.must(a.at(run), advance.Request{})
	if here.Pending == nil || here.Pending.StepID != "build" {
		t.Fatalf("%+v", here.Pending)
	}
	if again, err := a.keyed(approving, "incident"); err != nil || again.Session != first.Session {
		t.Errorf("its start key: %+v, %v", again.Session, err)
	}
	b.mustBring(export(t, a.g, s, 3), travel.FastForward)
	if got := b.labels(run); got != "ours! theirs! meanwhile!" {
		t.Errorf("annotations there: %s", got)
	}
	b.must(b.at(run), note("built elsewhere"))
	a.mustBring(export(t, b.g, s, 4), travel.FastForward)
	list, err := a.auditor().AuditList(ctx, verify.AuditQuery{Action: audit.Import})
	if err != nil || len(list.Entries) != 2 || list.Entries[0].Details["from"] != fmt.Sprint(before.Next) ||
		list.Entries[0].Details["bundleId"] != got.BundleID || list.Entries[0].Details["annotationsFrom"] != "2" {
		t.Errorf("the audit log: %+v, %v", list.Entries, err)
	}
	for _, w := range []*fixture{a, b} {
		w.sound()
		w.replays(engine.Position{Session: s, Run: run})
		if got := w.verified(); got != "" {
			t.Errorf("the audit log: %s", got)
		}
	}
}

// TestAnAdvancedStepStaysAdvanced: what was decided elsewhere by an approval there is not decided again.
func TestAnAdvancedStepStaysAdvanced(t *testing.T) {
	t.Parallel()
	a, b := newFixture(t), newFixture(t)
	first := a.must(a.start(approving), note("planned"))
	a.mustApprove(first, "approved here") // counts here, and not elsewhere
	run, s := first.Session.RunID, first.Session.SessionID
	b.mustBring(export(t, a.g, s, 1), travel.NewSession)
	if there := b.must(b.at(run), advance.Request{}); len(there.Blockers) == 0 {
		t.Fatal("an approval counts elsewhere")
	}
	b.mustApprove(b.at(run), "approved there")
	b.must(b.at(run), advance.Request{})
	a.mustBring(export(t, b.g, s, 2), travel.FastForward)
	if here := a.at(run); here.Pending == nil || here.Pending.StepID != "build" {
		t.Errorf("%+v", here.Pending)
	}
	for _, w := range []*fixture{a, b} {
		w.sound()
		w.replays(engine.Position{Session: s, Run: run})
	}
}

// TestBundlesThatDoNotContinueTheSession: each is named, and nothing is written.
func TestBundlesThatDoNotContinueTheSession(t *testing.T) {
	t.Parallel()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run, s := first.Session.RunID, first.Session.SessionID
	away := export(t, a.g, s, 1)
	b.mustBring(away, travel.NewSession)
	b.must(b.at(run), note("there"))
	home := export(t, b.g, s, 2)
	broken := tamper(t, home, func(s map[string]any) {
		events := s["events"].([]any)
		events[len(events)-1].(map[string]any)["timestampMs"] = 7
	})
	other := tamper(t, home, func(s map[string]any) {
		rechain(t, s, func(e *event.Event) {
			if p, ok := e.Data.(event.RunStarted); ok {
				p.Title = "forged"
				e.Data = p
			}
		})
	})
	before := a.headOf(s)
	if _, err := a.bring(broken); !fault.Is(err, fault.BundleIntegrityFailed) {
		t.Errorf("a broken chain: %v", err)
	}
	diverged := func(data []byte, shared int64) {
		t.Helper()
		_, err := a.bring(data)
		if f := fault.Of(err); !fault.Is(err, fault.SessionDiverged) || f.Details["sharedEvents"] != shared ||
			f.Details["relation"] != "diverged" || fault.ExitOf(err) != fault.ExitFailed {
			t.Errorf("%v, %+v", err, fault.Of(err))
		}
	}
	diverged(other, 0)
	if a.headOf(s) != before {
		t.Error("something was written")
	}
	shared := a.headOf(s).Next
	a.must(a.at(run), note("here"))
	before = a.headOf(s)
	diverged(home, shared)
	if a.headOf(s) != before || len(a.files("sessions")) != 1 {
		t.Errorf("something was written: %v", a.files("sessions"))
	}
	a.sound()
}

// TestALockedSessionIsNotExtended: a writer or performer of the session excludes the import.
func TestALockedSessionIsNotExtended(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := newFixture(t), newFixture(t)
	first := a.start(longOne)
	run, s := first.Session.RunID, first.Session.SessionID
	b.mustBring(export(t, a.g, s, 1), travel.NewSession)
	b.must(b.at(run), note("there"))
	home := export(t, b.g, s, 2)
	before := a.headOf(s)
	err := ports.WithHold(ctx, a.process().Store.Performers(), s, func(ports.Hold) error {
		_, err := a.bring(home)
		return err
	})
	if !fault.Is(err, fault.RunBusy) || fault.ExitOf(err) != fault.ExitBusy || a.headOf(s) != before {
		t.Errorf("under a performer: %v", err)
	}
	unlock, err := a.process().Store.Lock(ctx, manifest.SessionEvents(s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.bring(home); !fault.Is(err, fault.SessionLocked) || fault.ExitOf(err) != fault.ExitBusy || a.headOf(s) != before {
		t.Errorf("under a writer: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	a.mustBring(home, travel.FastForward)
	a.sound()
}

// traveller is a random history of two stores that exchange bundles of one session.
type traveller struct {
	*testing.T
	stores [2]*fixture
	rnd    *rand.Rand
	run    id.Run
	s      id.Session
	// acked are the labels and notes that each store has acknowledged.
	acked [2][]string
	n     int
}

// work does one random thing in one store.
func (x *traveller) work(i int) {
	w := x.stores[i]
	a := w.at(x.run)
	x.n++
	text := fmt.Sprintf("t%d", x.n)
	if a.Pending == nil || x.rnd.IntN(3) == 0 {
		w.say(a, text)
	} else {
		w.must(a, note(text))
	}
	x.acked[i] = append(x.acked[i], text)
}

// texts are the labels and notes that a store shows.
func (x *traveller) texts(i int) []string {
	w := x.stores[i]
	out := strings.Fields(strings.ReplaceAll(w.labels(x.run), "!", ""))
	all, _, err := w.process().Events(context.Background(), x.run.String())
	if err != nil {
		x.Fatal(err)
	}
	for _, e := range all {
		if p, ok := e.Data.(event.NodeOutputAppended); ok && p.Payload.NotesMarkdown != "" {
			out = append(out, p.Payload.NotesMarkdown)
		}
	}
	return out
}

// exchange brings a bundle of one store to the other, and checks what is promised.
func (x *traveller) exchange(from, to int) {
	before, theirs := x.stores[to].headOf(x.s), x.stores[from].headOf(x.s)
	got, err := x.stores[to].bring(export(x, x.stores[from].g, x.s, byte(x.n)))
	after := x.stores[to].headOf(x.s)
	switch {
	case fault.Is(err, fault.SessionDiverged):
		if after != before {
			x.Errorf("a diverged bundle changed the session")
		}
		return
	case err != nil:
		x.Fatal(err)
	case got.Relation == travel.Ahead:
		if after != before || before.Next <= theirs.Next {
			x.Errorf("ahead: %d events, the bundle has %d", before.Next, theirs.Next)
		}
		return
	case after != theirs:
		x.Errorf("%s: the logs differ", got.Relation)
	}
	x.acked[to] = append(x.acked[to], x.acked[from]...)
}

// TestExchangedSessions: after any exchange of bundles each log is a prefix of the other, or the divergence was named;
// nothing that a store acknowledged is lost, and both stores verify.
func TestExchangedSessions(t *testing.T) {
	t.Parallel()
	for n := range sample.OneIn(t, 20).Of(200) {
		x := &traveller{T: t, stores: [2]*fixture{newFixture(t), newFixture(t)}, rnd: rand.New(rand.NewPCG(uint64(n), 7))}
		x.stores[1].seeds = 100
		first := x.stores[0].start(longOne)
		x.run, x.s = first.Session.RunID, first.Session.SessionID
		x.stores[1].mustBring(export(t, x.stores[0].g, x.s, 1), travel.NewSession)
		for range 3 + x.rnd.IntN(6) {
			i := x.rnd.IntN(2)
			for range x.rnd.IntN(3) {
				x.work(i)
			}
			if x.rnd.IntN(8) == 0 { // both continue: the histories may differ
				x.work(1 - i)
			}
			x.exchange(i, 1-i)
		}
		for i, w := range x.stores {
			have := x.texts(i)
			for _, text := range x.acked[i] {
				if !slices.Contains(have, text) {
					t.Errorf("history %d: store %d lost %s: %v", n, i, text, have)
				}
			}
			w.sound()
			w.replays(engine.Position{Session: x.s, Run: x.run})
		}
	}
}
