package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// Flows that wait: for a moment that is over, for one that is far, and for the answer to a question.
const (
	waitFlow = `{"id":"test.wait","name":"Wait","description":"d","version":"1.0.0","steps":[
	{"id":"w","title":"W","action":{"kind":"wait","until":"1970-01-01T00:00:00Z"}},{"id":"e","title":"E","prompt":"p"}]}`
	laterFlow = `{"id":"test.later","name":"Later","description":"d","version":"1.0.0","steps":[
	{"id":"w","title":"W","action":{"kind":"wait","until":"2100-01-01T00:00:00Z"}},{"id":"e","title":"E","prompt":"p"}]}`
	askFlow = `{"id":"test.ask","name":"Ask","description":"d","version":"1.0.0","steps":[
	{"id":"a","title":"A","prompt":"p","inputs":[{"contextKey":"k","reason":"needs_user_artifact","description":"d"}]}]}`
)

// shared is a store with a catalogue, to which several processes write.
type shared struct {
	fixture
	disk *memstore.Disk
	runs []string
}

// briefed is a process that lists by the catalogue, and how many sessions it read for that.
type briefed struct {
	*enginetest.Engine
	read int
}

func (w *shared) process() *enginetest.Engine { return enginetest.InMemory(w.disk.Open(time.Second)) }

// briefed opens the store as another process.
func (w *shared) briefed() *briefed {
	s := w.disk.Open(time.Second)
	out := &briefed{Engine: enginetest.InMemory(s)}
	x := enginetest.Catalogued(out.Engine, s)
	read := x.Read
	x.Read = func(ctx context.Context, s id.Session) (index.Content, error) {
		out.read++
		return read(ctx, s)
	}
	return out
}

// advance continues one of the runs in another process.
func (w *shared) advance(rt *rapid.T, r advance.Request) {
	ref := rapid.SampledFrom(w.runs).Draw(rt, "run")
	at, err := w.g.Locate(context.Background(), ref)
	if err != nil {
		rt.Fatal(err)
	}
	a, err := w.g.Rehydrate(context.Background(), at)
	if err == nil && a.AckToken != "" {
		_, _ = w.next(a, r)
	}
}

// fail records that the command of one of the runs failed, if it is pending.
func (w *shared) fail(rt *rapid.T) {
	at, err := w.g.Locate(context.Background(), rapid.SampledFrom(w.runs).Draw(rt, "run"))
	if err != nil {
		rt.Fatal(err)
	}
	v, err := canon.ValueOf(command.Result{Kind: command.Kind, Tries: 1, ExitStatus: 1, OutputDigest: canon.Sum(nil),
		ArgvDigest: command.ArgvDigest(source.Action{Argv: []string{"make", "all"}})})
	if err != nil {
		rt.Fatal(err)
	}
	a, err := w.g.Rehydrate(context.Background(), at)
	if err != nil || a.Pending == nil || a.Pending.StepID != "build" {
		return
	}
	if err := w.hold(at.Session, func(h ports.Hold) error {
		_, err := w.g.Perform(context.Background(), h, w.by(), a.Position(), a.AttemptID, advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}})
		return err
	}); err != nil {
		rt.Fatal(err)
	}
}

// start starts a run with one of the titles.
func (w *shared) start(rt *rapid.T, title string) {
	w.seeds++
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(rapid.SampledFrom([]string{indexedFlow, commandFlow, waitFlow, laterFlow, askFlow}).Draw(rt, "flow")),
		Tags:       rapid.SampledFrom([][]string{nil, {"a", "b"}}).Draw(rt, "tags"),
		SourceKind: event.SourceProject, SourceRef: "t.json", Title: title,
		Observations: anchors(rapid.SampledFrom([]string{"main", "other"}).Draw(rt, "branch"), "abcdef0")})
	if err != nil {
		rt.Fatal(err)
	}
	w.runs = append(w.runs, a.Session.RunID.String())
}

// annotate annotates one of the runs.
func (w *shared) annotate(rt *rapid.T) {
	at, err := w.g.Locate(context.Background(), rapid.SampledFrom(w.runs).Draw(rt, "run"))
	if err != nil {
		rt.Fatal(err)
	}
	w.seeds++
	_, err = w.g.Annotate(context.Background(), w.by(), id.Seed{w.seeds, 1}, at, feedback.Request{Create: feedback.Create{
		Signal: feedback.Label(rapid.SampledFrom([]string{"good", "bad"}).Draw(rt, "label"))}})
	if err != nil {
		rt.Fatal(err)
	}
}

// selections are those that a catalogue compares, and others.
func selections(some []string) (out []lists.Selection) {
	out = []lists.Selection{{}, {Limit: 1}, {Limit: 3}, {Status: []runs.Status{runs.Blocked}}, {Status: []runs.Status{runs.InProgress, runs.CompleteStatus}, Limit: 2},
		{Workflow: "test.i", Limit: 2}, {Workflow: "other"}, {Branch: "main", Limit: 2}, {Branch: "none"}, {Label: "good", Limit: 1},
		{Title: "alpha"}, {Text: "beta"}, {SinceMs: 1_700_000_009_000, Limit: 4}, {Sort: lists.ByRunTitle, Limit: 2}, {Status: []runs.Status{runs.Failed}}}
	return out
}

// listedBy is what a process lists and finds.
func listedBy(t interface{ Fatal(...any) }, g *enginetest.Engine, refs []string) string {
	ctx := context.Background()
	var answers []any
	add := func(what string, answer any, err error) { answers = append(answers, what, answer, fault.CodeOf(err)) }
	all, err := g.Lists.Runs(ctx)
	add("all", all, err)
	for i, s := range selections(refs) {
		for page := 0; page < 50; page++ {
			got, err := lists.SelectRuns(ctx, g.Lists, s)
			add(fmt.Sprint("selection ", i, " page ", page), got, err)
			if s.Cursor = got.NextCursor; s.Cursor == "" {
				break
			}
		}
	}
	for _, ref := range append([]string{"@last", "r", "run_", "run_a", "run_zzzz", "x"}, refs...) {
		for _, short := range []string{ref, ref[:min(len(ref), 6)]} {
			at, err := g.Locate(ctx, short)
			add("locate "+short, fmt.Sprint(at), err)
		}
	}
	for _, q := range searches {
		list, err := g.Resume(ctx, resume.Query{Text: q, GitBranch: "main"})
		add("resume "+q, list, err)
		if q != "" {
			hits, err := lists.Search(ctx, g.Lists, lists.SearchQuery{Text: q})
			add("search "+q, hits, err)
		}
	}
	pending, damaged, err := lists.PendingRuns(ctx, g.Lists)
	add("pending", []any{pending, damaged}, err)
	box := inbox.New(g.Reader, g.Store, g.Views, g.Learning)
	box.Index = g.Engine.Index
	for _, trusted := range []bool{true, false} {
		waiting, err := box.List(ctx, inbox.Query{Trusted: func(context.Context, canon.Digest) bool { return trusted }})
		add("inbox", waiting, err)
	}
	for _, at := range []int64{0, 1 << 50} {
		due, err := g.Due(ctx, at)
		add("due", due, err)
	}
	text, err := json.MarshalIndent(answers, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCatalogueAnswersAsReadingDoes: lists, pages, filters, references, searches and the inbox are by briefs as they are when every
// session is read, whether the writers keep briefs or not.
func TestCatalogueAnswersAsReadingDoes(t *testing.T) {
	histories(t, "12")
	rapid.Check(t, func(rt *rapid.T) {
		w := &shared{fixture: fixture{T: t, clock: 1_700_000_000_000}, disk: memstore.NewDisk(id.Seed{1})}
		ops := map[string]func(){
			"start":    func() { w.start(rt, rapid.SampledFrom(append(words, "")).Draw(rt, "title")) },
			"advance":  func() { w.advance(rt, saying(rt)) },
			"block":    func() { w.advance(rt, advance.Request{}) },
			"annotate": func() { w.annotate(rt) },
			"fail":     func() { w.fail(rt) },
		}
		for n := range rapid.IntRange(3, 12).Draw(rt, "operations") {
			op := "start"
			if n > 1 {
				op = rapid.SampledFrom([]string{"start", "advance", "block", "annotate", "advance", "fail"}).Draw(rt, "operation")
			}
			// Every process but the older ones keeps briefs.
			if w.g = w.process(); rapid.IntRange(0, 3).Draw(rt, "older") > 0 {
				w.g = w.briefed().Engine
			}
			ops[op]()
			if rapid.Bool().Draw(rt, "list") {
				if got, want := listedBy(rt, w.briefed().Engine, w.runs), listedBy(rt, w.process(), w.runs); got != want {
					rt.Fatalf("after %s by briefs:\n%s\nwant\n%s", op, got, want)
				}
			}
		}
		if got, want := listedBy(rt, w.briefed().Engine, w.runs), listedBy(rt, w.process(), w.runs); got != want {
			rt.Fatalf("by briefs:\n%s\nwant\n%s", got, want)
		}
		by := w.briefed()
		if _, err := by.Lists.Runs(context.Background()); err != nil || by.read > 0 {
			rt.Fatalf("a second list reads %d sessions, %v", by.read, err)
		}
	})
}

// TestBriefsAreOfTheCommit: what the engine appends has the brief with it, so that a list reads no session; a page asks for no more
// runs than it shows, and one run is found without the others.
func TestBriefsAreOfTheCommit(t *testing.T) {
	w := &shared{fixture: fixture{T: t, clock: 1_700_000_000_000}, disk: memstore.NewDisk(id.Seed{1})}
	var all []engine.Answer
	for range 8 {
		w.g = w.briefed().Engine
		a := w.fixture.start(longOne)
		for range len(all) % 5 {
			w.g = w.briefed().Engine // each step is another process
			a = w.must(a, note("done"))
		}
		all = append(all, a)
	}
	long := all[7]
	for long.AckToken != "" { // longer than what a fold of the head cache has
		w.g = w.briefed().Engine
		long = w.must(long, note("done"))
	}
	by := w.briefed()
	if got, err := by.Lists.Runs(context.Background()); err != nil || len(got.Runs) != 8 || by.read != 0 {
		t.Errorf("%d runs, %d sessions read, %v", len(got.Runs), by.read, err)
	}
	for name, c := range map[string]struct {
		q    ports.BriefQuery
		runs int
	}{
		"a page":     {ports.BriefQuery{Limit: 3}, 3},
		"one run":    {ports.BriefQuery{Run: all[3].Session.RunID.String()}, 1},
		"the latest": {ports.BriefQuery{Limit: 1}, 1},
		"open ones":  {ports.BriefQuery{States: []string{string(runs.CompleteStatus)}}, 1},
	} {
		got, err := by.Engine.Engine.Index.Select(context.Background(), c.q)
		n := 0
		for _, s := range got.Sessions {
			n += len(s.Runs)
		}
		if err != nil || n != c.runs || len(got.Sessions) != c.runs {
			t.Errorf("%s: %d runs of %d sessions, %v", name, n, len(got.Sessions), err)
		}
	}
}

// BenchmarkAdvance is an advance in one process, with and without briefs in the commits.
func BenchmarkAdvance(b *testing.B) {
	for name, with := range map[string]bool{"plain": false, "briefs": true} {
		b.Run(name, func(b *testing.B) {
			s := memstore.NewDisk(id.Seed{1}).Open(time.Second)
			g := enginetest.InMemory(s)
			if with {
				enginetest.Catalogued(g, s)
			}
			w := &fixture{g: g, clock: 1_700_000_000_000}
			var a engine.Answer
			for i := 0; b.Loop(); i++ {
				if a.AckToken == "" {
					b.StopTimer()
					var err error
					_, c, _ := compile.File("test.json", source.SourceProject, []byte(longOne))
					a, err = g.Start(context.Background(), w.by(), id.Seed{byte(i), byte(i >> 8), byte(i >> 16)}, engine.Start{Workflow: c,
						SourceKind: event.SourceProject, SourceRef: "test.json"})
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				var err error
				if a, err = w.next(a, note("done")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
