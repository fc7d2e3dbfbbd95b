package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
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

// indexed is a process that lists by the index, and the number of sessions that it read for that.
type indexed struct {
	*enginetest.Engine
	read int
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
	out.Index = x
	read := x.Read
	x.Read = func(ctx context.Context, s id.Session) (index.Content, error) {
		out.read++
		return read(ctx, s)
	}
	return out
}

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
	text, err := json.MarshalIndent([]any{all, page, labelled, found}, "", " ")
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
	fewWalks(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		foreign := newFixture(t) // another store, with an index of its own
		for range 16 {
			foreign.start(indexedFlow)
		}
		shown(t, foreign.indexed().Engine)
		var tips []string
		cache, _ := filepath.Glob(filepath.Join(foreign.dir, "cache", "index-*"))
		if len(cache) != 1 {
			t.Fatal("there is no index: ", cache)
		}
		name := filepath.Base(cache[0])
		own := filepath.Join(w.dir, "cache", name)
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
			"advance": func() { w.advanceOne(rt, tips, note("done")) },
			"block":   func() { w.advanceOne(rt, tips, advance.Request{}) },
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
			"remove the index": func() { _ = os.Remove(own) },
			"cut the index":    func() { _ = os.Truncate(own, rapid.Int64Range(0, 400).Draw(rt, "bytes")) },
			"change the index": func() { changeByte(rt, own) },
			"another's index": func() {
				if len(sessions()) > 0 {
					copyFile(t, cache[0], own)
				}
			},
			"list by the index": func() { shown(t, w.indexed().Engine) },
		}
		names := []string{}
		for n := range ops {
			names = append(names, n)
		}
		slices.Sort(names)
		for range rapid.IntRange(1, 12).Draw(rt, "operations") {
			op := rapid.SampledFrom(names).Draw(rt, "operation")
			ops[op]()
			by := w.indexed()
			if got, want := shown(t, by.Engine), shown(t, w.process()); got != want {
				rt.Fatalf("after %s by the index:\n%s\nwant\n%s", op, got, want)
			}
		}
	})
}

// advanceOne advances one of the runs, if it can be.
func (w *fixture) advanceOne(rt *rapid.T, refs []string, r advance.Request) {
	if len(refs) == 0 {
		return
	}
	ctx := context.Background()
	at, err := w.process().Locate(ctx, rapid.SampledFrom(refs).Draw(rt, "run"))
	if err != nil {
		return
	}
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

func (e *exhausted) OutOfDescriptors() int64 {
	e.times++
	return e.times
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
