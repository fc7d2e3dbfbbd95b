package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/sessiontimes"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

const indexedFlow = `{"id":"test.i","name":"I","description":"d","version":"1.0.0",
	"steps":[{"id":"one","title":"One","prompt":"p","notesRequired":true},{"id":"two","title":"Two","prompt":"p"}]}`

// aged are the states of sessions as they are observed an hour later: the index keeps only what changed a while ago.
type aged struct{ ports.SessionStates }

func (a aged) States(ctx context.Context, known func(int, id.Session) [8]byte) (ports.SessionsState, error) {
	now, err := a.SessionStates.States(ctx, known)
	now.AtNs += 3600 * 1_000_000_000
	return now, err
}

// indexed is a process that lists by the index, and the number of sessions that it read for that, and for their words.
type indexed struct {
	*enginetest.Engine
	read, words int
}

func (w *fixture) indexed() *indexed {
	w.Helper()
	s, err := openUnsynced(w, w.dir, filestore.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	out := &indexed{Engine: over(s)}
	x := index.New(aged{sessiontimes.New(w.dir)}, s)
	out.Lists.KeepIn(x, s)
	out.Lists.FindWaits(inbox.New(out.Reader, out.Store, out.Views, out.Learning).Kept)
	out.Engine.Engine.Index, out.Offers.Index, out.Upkeep.Index = x, x, x
	words := x.ReadWords
	x.ReadWords = func(ctx context.Context, s id.Session, add func(string)) (index.WordsOf, bool, error) {
		out.words++
		return words(ctx, s, add)
	}
	read := x.Read
	x.Read = func(ctx context.Context, s id.Session) (index.Content, error) {
		out.read++
		return read(ctx, s)
	}
	return out
}

// searches are what is searched; words are what notes, titles, outputs, context and annotations have.
var (
	searches = []string{"", "alpha", "beta", "alpha beta", "main gamma", "absent", "京"}
	words    = []string{"alpha", "beta", "alpha beta", "gamma", "main", "東京 gamma"}
)

// shown is what the lists of a process show, with the runs that some references mean.
func shown(t testing.TB, g *enginetest.Engine) string {
	t.Helper()
	ctx := context.Background()
	all, err := g.Lists.Runs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	page, err := lists.SelectRuns(ctx, g.Lists, lists.Selection{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	labelled, err := lists.SelectRuns(ctx, g.Lists, lists.Selection{Label: "good"})
	if err != nil {
		t.Fatal(err)
	}
	found := []any{}
	refs := []string{"@last", "run_a", "run_zzzz"}
	for _, r := range all.Runs {
		refs = append(refs, r.RunID.String(), r.RunID.String()[:9])
	}
	for _, ref := range refs {
		at, err := g.Locate(ctx, ref)
		found = append(found, ref, fmt.Sprint(at), fault.CodeOf(err))
	}
	answers := []any{all, page, labelled, found}
	add := func(what string, answer any, err error) {
		if err != nil {
			t.Fatal(what, ": ", err)
		}
		answers = append(answers, what, answer)
	}
	for _, q := range searches {
		list, err := g.Resume(ctx, resume.Query{Text: q, GitBranch: "main"})
		add("resume "+q, list, err)
		if q == "" {
			continue
		}
		for _, limit := range []int{0, 2} {
			hits, err := lists.Search(ctx, g.Lists, lists.SearchQuery{Text: q, Limit: limit})
			add("search "+q, hits, err)
		}
	}
	sessions, err := g.SessionList(ctx)
	add("sessions", sessions, err)
	used, err := g.DU(ctx)
	add("du", used.Objects, err)
	for _, all := range [][]upkeep.SessionUsage{used.Sessions, used.Trash} {
		for i := range all { // what a list leaves in a cache is not compared
			all[i].TotalBytes, all[i].Cache = all[i].TotalBytes-all[i].Cache.Bytes, upkeep.Amount{}
		}
		slices.SortFunc(all, func(a, b upkeep.SessionUsage) int { return a.SessionID.Compare(b.SessionID) })
		add("du of sessions", all, nil)
	}
	add("du without", used.Unclear, nil)
	box := inbox.New(g.Reader, g.Store, g.Views, g.Learning)
	box.Index = g.Engine.Index
	waiting, err := box.List(ctx, inbox.Query{})
	add("inbox", waiting, err)
	text, err := json.MarshalIndent(answers, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestIndexedLists: lists and searches by the index are those that read every session, after each of these changes of the
// store and of the index, and sessions that did not change are not read.
func TestIndexedLists(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector needs no histories: one goroutine lists")
	}
	histories(t, "4")
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		foreign := newFixture(t) // another store, with an index of its own
		for range 33 {
			foreign.start(indexedFlow)
		}
		shown(t, foreign.indexed().Engine)
		var tips []string
		stale := map[string][]byte{}
		cache, _ := filepath.Glob(filepath.Join(foreign.dir, "cache", "[isu]*-*"))
		if len(cache) != 3 {
			t.Fatal("there is no index, or none of words, or of logs: ", cache)
		}
		file := func() (own, of string) {
			of = rapid.SampledFrom(cache).Draw(rt, "file")
			return filepath.Join(w.dir, "cache", filepath.Base(of)), of
		}
		sessions := func() []string {
			all, _ := filepath.Glob(filepath.Join(w.dir, "sessions", "sess_*"))
			return all
		}
		pick := func() (string, bool) {
			all := sessions()
			if len(all) == 0 {
				return "", false
			}
			return rapid.SampledFrom(all).Draw(rt, "session"), true
		}
		ops := map[string]func(){
			"start": func() {
				a := w.start(indexedFlow)
				tips = append(tips, a.Session.RunID.String())
			},
			"start many": func() {
				for range 20 {
					tips = append(tips, w.start(indexedFlow).Session.RunID.String())
				}
			},
			// The writer does not know of the index, as an older version.
			"advance": func() { w.advanceOne(rt, tips, saying(rt)) },
			"long": func() {
				w.advanceOne(rt, tips, note(strings.Repeat("far away ", 600)+rapid.SampledFrom(words).Draw(rt, "words")))
			},
			"titled": func() { tips = append(tips, w.titled(rt)) },
			// As many as are offered: one with the words of a query may be behind them.
			"branch": func() {
				for range 5 {
					tips = append(tips, w.startAt(indexedFlow, "main", "abcdef0").Session.RunID.String())
				}
			},
			"annotate":  func() { w.annotateOne(rt, tips) },
			"erase":     func() { w.eraseOne(rt) },
			"keep mark": func() { w.keepOne(rt, tips) },
			"delete":    func() { w.deleteOne(rt, tips) },
			"block":     func() { w.advanceOne(rt, tips, advance.Request{}) },
			"remove a session": func() {
				if s, ok := pick(); ok {
					if err := os.RemoveAll(s); err != nil {
						t.Fatal(err)
					}
				}
			},
			"tear the tail": func() {
				if s, ok := pick(); ok {
					appendTo(t, filepath.Join(s, "manifest.jsonl"), `{"v":1`)
				}
			},
			"rewrite the torn tail": func() {
				if s, ok := pick(); ok {
					rewriteEnd(t, filepath.Join(s, "manifest.jsonl"))
				}
			},
			"restore a copy": func() {
				if s, ok := pick(); ok {
					copied := t.TempDir()
					if err := os.CopyFS(copied, os.DirFS(s)); err != nil {
						t.Fatal(err)
					}
					w.advanceOne(rt, tips, note("later"))
					if err := os.RemoveAll(s); err != nil {
						t.Fatal(err)
					}
					if err := os.CopyFS(s, os.DirFS(copied)); err != nil {
						t.Fatal(err)
					}
				}
			},
			"remove the index": func() { own, _ := file(); _ = os.Remove(own) },
			"cut the index":    func() { own, _ := file(); _ = os.Truncate(own, rapid.Int64Range(0, 400).Draw(rt, "bytes")) },
			"change the index": func() { own, _ := file(); changeByte(rt, own) },
			"another's index": func() {
				if own, of := file(); len(sessions()) > 0 {
					copyFile(t, of, own)
				}
			},
			"another version's index": func() {
				if own, _ := file(); len(sessions()) > 0 {
					copyFile(t, own, strings.TrimRight(own, "0123456789")+"99")
					_ = os.Remove(own)
				}
			},
			"an earlier index": func() {
				own, _ := file()
				if stale[own] == nil {
					stale[own], _ = os.ReadFile(own)
				} else {
					_ = os.WriteFile(own, stale[own], 0o600)
				}
			},
			"list by the index": func() { shown(t, w.indexed().Engine) },
		}
		if rapid.Bool().Draw(rt, "many at first") { // enough for an index of words
			ops["start many"]()
			ops["start many"]()
			shown(t, w.indexed().Engine)
		}
		for _, op := range []string{"start", "start", "titled", "block", "advance", "branch", "annotate", "long", "keep mark", "erase"} {
			ops[op]()
		}
		names := []string{}
		compare := func(op string) {
			by := w.indexed()
			if got, want := shown(t, by.Engine), shown(t, w.process()); got != want {
				rt.Fatalf("after %s by the index:\n%s\nwant\n%s", op, got, want)
			}
		}
		compare("the beginning")
		for n := range ops {
			names = append(names, n)
		}
		slices.Sort(names)
		for range rapid.IntRange(1, 8).Draw(rt, "operations") {
			op := rapid.SampledFrom(names).Draw(rt, "operation")
			ops[op]()
			compare(op)
		}
	})
}

// saying is what an attempt brings.
func saying(rt *rapid.T) advance.Request {
	say := func(what string) string { return rapid.SampledFrom(words).Draw(rt, what) }
	r := note(say("notes"))
	switch rapid.IntRange(0, 3).Draw(rt, "brings") {
	case 0:
		r.Artifacts = []advance.Artifact{report("kind", say("output"))}
	case 1:
		r.Context = set("about", say("context"))
	}
	return r
}

// titled starts a run with a title and a goal.
func (w *fixture) titled(rt *rapid.T) string {
	w.Helper()
	w.seeds++
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Workflow: w.compiled(indexedFlow),
		SourceKind: event.SourceProject, SourceRef: "t.json", Title: rapid.SampledFrom(words).Draw(rt, "title"),
		Goal: rapid.SampledFrom(words).Draw(rt, "goal")})
	if err != nil {
		w.Fatal(err)
	}
	return a.Session.RunID.String()
}

// one returns one of the runs, if it can be read.
func (w *fixture) one(rt *rapid.T, refs []string) (at engine.Position, ok bool) {
	if len(refs) == 0 {
		return at, false
	}
	at, err := w.process().Locate(context.Background(), rapid.SampledFrom(refs).Draw(rt, "run"))
	return at, err == nil
}

// annotateOne annotates one of the runs, if it can be.
func (w *fixture) annotateOne(rt *rapid.T, refs []string) {
	if at, ok := w.one(rt, refs); ok {
		w.seeds++
		_, _ = w.process().Annotate(context.Background(), w.by(), id.Seed{w.seeds, 1}, at, feedback.Request{Create: feedback.Create{
			Signal: feedback.Label(rapid.SampledFrom([]string{"good", "bad"}).Draw(rt, "label")),
			Note:   rapid.SampledFrom(words).Draw(rt, "remark")}})
	}
}

// eraseOne erases one of the artifacts.
func (w *fixture) eraseOne(rt *rapid.T) {
	all, _ := filepath.Glob(filepath.Join(w.dir, "artifacts", "*"))
	if len(all) == 0 {
		return
	}
	name := strings.TrimSuffix(filepath.Base(rapid.SampledFrom(all).Draw(rt, "artifact")), ".erased")
	if ref, err := canon.ParseFileName(name); err == nil {
		_, _ = w.indexed().EraseArtifact(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "ann"},
			AtMs: w.clock}, ref, "it is wrong")
	}
}

// keepOne marks the session of one of the runs.
func (w *fixture) keepOne(rt *rapid.T, refs []string) {
	if at, ok := w.one(rt, refs); ok {
		_, _ = w.process().KeepSession(context.Background(), w.by(), upkeep.KeepRequest{Ref: at.Session.String(),
			Off: rapid.Bool().Draw(rt, "off"), Reason: "r"})
	}
}

// deleteOne moves the session of one of the runs to the trash.
func (w *fixture) deleteOne(rt *rapid.T, refs []string) {
	if at, ok := w.one(rt, refs); ok {
		_, _ = w.indexed().DeleteSessions(context.Background(), w.by(), upkeep.DeleteRequest{Refs: []string{at.Session.String()}})
	}
}

// advanceOne advances one of the runs, if it can be.
func (w *fixture) advanceOne(rt *rapid.T, refs []string, r advance.Request) {
	at, ok := w.one(rt, refs)
	if !ok {
		return
	}
	ctx := context.Background()
	a, err := w.process().Rehydrate(ctx, at)
	if err == nil && a.AckToken != "" {
		_, _ = w.next(a, r)
	}
}

func appendTo(t testing.TB, file, text string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprint(f, text)
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rewriteEnd changes the last bytes of a file, which keeps its size.
func rewriteEnd(t testing.TB, file string) {
	data, err := os.ReadFile(file)
	if err != nil || len(data) < 4 {
		return
	}
	copy(data[len(data)-3:], "###")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func changeByte(rt *rapid.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil || len(data) == 0 {
		return
	}
	data[rapid.IntRange(0, len(data)-1).Draw(rt, "at")] ^= 1
	_ = os.WriteFile(file, data, 0o600)
}

func copyFile(t testing.TB, from, to string) {
	data, err := os.ReadFile(from)
	if err == nil {
		_ = os.MkdirAll(filepath.Dir(to), 0o700)
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// TestIndexIsUsed: a second list reads no session, one after a change reads that session, and a search for a run
// reads the one that it found.
func TestIndexIsUsed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var last string
	for range 40 {
		last = w.start(indexedFlow).Session.RunID.String()
	}
	reads := func(want int) {
		t.Helper()
		by := w.indexed()
		if got, plain := shown(t, by.Engine), shown(t, w.process()); got != plain || by.read != want {
			t.Errorf("%d sessions were read, want %d", by.read, want)
		}
	}
	by := w.indexed()
	if _, err := by.Lists.Runs(context.Background()); err != nil || by.read != 40 {
		t.Errorf("%d sessions were read without an index: %v", by.read, err)
	}
	reads(0)
	at, err := w.process().Locate(context.Background(), last)
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.process().Rehydrate(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	w.must(a, note("done"))
	by = w.indexed()
	if _, err := by.Lists.Runs(context.Background()); err != nil || by.read != 1 {
		t.Errorf("%d sessions were read after a change of one: %v", by.read, err)
	}
}

// exhausted is a store that runs out of file descriptors during each reading.
type exhausted struct {
	enginetest.Store
	times int64
}

func (e *exhausted) Failures() ports.Failures {
	e.times++
	return ports.Failures{Descriptors: e.times}
}

// TestIndexKeepsNothingUnread: what was read without file descriptors is not kept.
func TestIndexKeepsNothingUnread(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(indexedFlow)
	g := w.process()
	for store, keep := range map[enginetest.Store]bool{g.Store: true, &exhausted{Store: g.Store}: false} {
		x := index.New(sessiontimes.New(w.dir), g.Store)
		lists.New(g.Reader, store, g.Views).KeepIn(x, g.Store)
		l, err := x.Sessions(context.Background())
		all := l.Sessions
		if err != nil || len(all) != 1 || all[0].Keep != keep {
			t.Errorf("%+v, %v, want keep %v", all, err, keep)
		}
	}
}
