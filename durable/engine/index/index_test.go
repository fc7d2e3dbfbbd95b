package index

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

func anySeed(rt *rapid.T) (s id.Seed) {
	copy(s[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(rt, "seed"))
	return s
}

func anyEntry(rt *rapid.T) entry {
	e := entry{session: id.NewSession(anySeed(rt)), changedNs: rapid.Int64().Draw(rt, "changed"), text: rapid.String().Draw(rt, "text")}
	copy(e.state[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "state"))
	copy(e.folder[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(rt, "folder"))
	return e
}

func bySession(a, b entry) int { return a.session.Compare(b.session) }

// TestEncode: what is decoded is what was encoded, and no beginning of it nor any other bytes decode as a whole.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := saved{beganNs: rapid.Int64().Draw(rt, "began"), entries: []entry{}}
		for range rapid.IntRange(0, 4).Draw(rt, "entries") {
			s.entries = append(s.entries, anyEntry(rt))
		}
		slices.SortFunc(s.entries, bySession)
		s.entries = slices.CompactFunc(s.entries, func(a, b entry) bool { return a.session == b.session })
		notKept := anyEntry(rt)
		with := []*entry{&notKept}
		for _, e := range s.entries {
			e.kept = true
			with = append(with, &e)
		}
		data := string(encode(s.beganNs, with))
		if got, ok := decode(data); !ok || !reflect.DeepEqual(got, s) {
			rt.Fatalf("%+v, want %+v", got, s)
		}
		if _, ok := decode(data[:rapid.IntRange(0, len(data)-1).Draw(rt, "cut")]); ok {
			rt.Fatal("a beginning decodes")
		}
		if _, ok := decode(data + "\x00"); ok {
			rt.Fatal("more than an index decodes")
		}
		decode(string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")))
	})
}

// TestContent: what is kept of a session is decoded as it was encoded, and other bytes are refused without a panic.
func TestContent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := func(name string) []string {
			return rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(rapid.String(), 1, 3)).Draw(rt, name)
		}
		c := Content{Events: rapid.Int64().Draw(rt, "events"), Marked: rapid.Bool().Draw(rt, "marked"), Keep: true}
		for range rapid.IntRange(0, 3).Draw(rt, "runs") {
			r := Run{ID: id.NewRun(anySeed(rt)), LastAtMs: rapid.Int64().Draw(rt, "at"), LastIndex: rapid.Int64().Draw(rt, "index"),
				Open: rapid.Bool().Draw(rt, "open"), Row: rapid.String().Draw(rt, "row")}
			if rapid.Bool().Draw(rt, "tip") {
				r.Tip = id.RootNode(r.ID)
			}
			f := Facts{WorkflowID: rapid.String().Draw(rt, "id"), WorkflowName: rapid.String().Draw(rt, "name"),
				Title: rapid.String().Draw(rt, "title"), Goal: rapid.String().Draw(rt, "goal"), Heads: texts("heads"), Branches: texts("branches")}
			if labels := texts("labels"); labels != nil {
				f.Labels = map[string]int64{}
				for _, l := range labels {
					f.Labels[l] = rapid.Int64().Draw(rt, "count")
				}
			}
			if r = r.WithFacts(f); !reflect.DeepEqual(r.Facts(), f) {
				rt.Fatalf("%+v, want %+v", r.Facts(), f)
			}
			c.Runs = append(c.Runs, r)
		}
		data := string(encodeContent(c))
		var got Content
		if ok := decodeContent(data, &got, &got.Runs); !ok || !reflect.DeepEqual(got, c) {
			rt.Fatalf("%+v, want %+v", got, c)
		}
		if decodeContent(data[:rapid.IntRange(0, len(data)-1).Draw(rt, "cut")], &got, &got.Runs) || decodeContent(data+"x", &got, &got.Runs) {
			rt.Fatal("a part, or more, decodes")
		}
		decodeContent(string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")), &got, &got.Runs)
	})
}

// memory is a store with one file of each name, and a key.
type memory struct {
	ports.HeadCache
	ports.Keyring
	data map[string][]byte
	keys token.Keys
	most int64
}

func (m *memory) Keys(context.Context, ports.Create) (token.Keys, error) { return m.keys, nil }

func fileName(log manifest.Log, format int) string { return fmt.Sprint(log.Table.Name, "-", format) }

func (m *memory) CachedHead(_ context.Context, log manifest.Log, format int, most int64) ([]byte, error) {
	m.most = max(m.most, most)
	return m.data[fileName(log, format)], nil
}

func (m *memory) StoreHead(_ context.Context, log manifest.Log, format int, data []byte) error {
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	m.data[fileName(log, format)] = bytes.Clone(data)
	return nil
}

// observed are states that a test sets.
type observed struct {
	all  []ports.SessionState
	atNs int64
}

func (o *observed) States(context.Context, func(int, id.Session) [8]byte) (ports.SessionsState, error) {
	return ports.SessionsState{Sessions: slices.Clone(o.all), AtNs: o.atNs}, nil
}

// sessions is more than what a search reads without the index.
const sessions = wordsMax + 1

const began = 100 * limits.IndexSettleNs

// many returns an observation of many sessions that changed at a time.
func many(n int, changedNs int64, state byte) *observed {
	o := &observed{atNs: began}
	for i := range n {
		o.all = append(o.all, ports.SessionState{Session: id.NewSession(id.Seed{byte(i)}), State: [16]byte{state}, ChangedNs: changedNs})
	}
	slices.SortFunc(o.all, func(a, b ports.SessionState) int { return a.Session.Compare(b.Session) })
	return o
}

// TestDecodeEach: each entry has its own content, whichever goroutine decodes it; of a malformed one nothing is left.
func TestDecodeEach(t *testing.T) {
	var seed id.Seed
	content := func(n int) Content {
		c := Content{Events: int64(n), Keep: true}
		for i := range n % 4 {
			c.Runs = append(c.Runs, Run{ID: id.NewRun(seed), LastIndex: int64(10*n + i)})
		}
		return c
	}
	var all []*entry
	read := map[id.Session]Content{}
	for i := range 20 {
		seed[0] = byte(i)
		e := &entry{session: id.NewSession(seed), kept: true, text: string(encodeContent(content(i)))}
		switch i {
		case 7:
			e.text = e.text[1:]
		case 9:
			e.kept = false
		case 11:
			read[e.session] = content(111)
		}
		all = append(all, e)
	}
	out := make([]Session, len(all))
	decodeEach(all, read, out)
	for i, got := range out {
		want := content(i)
		switch i {
		case 7, 9:
			want = Content{}
		case 11:
			want = content(111)
		}
		if got.ID != all[i].session || got.Keep != want.Keep || got.Events != want.Events || len(got.Runs) != len(want.Runs) {
			t.Fatalf("entry %d: %+v, want %+v", i, got, want)
		}
		for k, r := range got.Runs {
			if r.LastIndex != want.Runs[k].LastIndex {
				t.Errorf("entry %d has the run of another one: %+v", i, r)
			}
		}
	}
}

// TestSettled: a session that changed shortly before the index was begun is read again, however it looks now; one
// without a state is never kept, and neither is one that Read says not to keep.
func TestSettled(t *testing.T) {
	for name, c := range map[string]struct {
		changedNs int64
		state     byte
		keep      bool
		reads     int // of the second list
	}{
		"long ago":             {began - limits.IndexSettleNs - 1, 1, true, 0},
		"as it began":          {began - limits.IndexSettleNs, 1, true, 1},
		"in the future":        {began + 1, 1, true, 1},
		"not to be observed":   {0, 0, true, 1},
		"not to be kept":       {0, 1, false, 1},
		"changed in between":   {0, 2, true, 1},
		"another store's file": {0, 3, true, 1},
	} {
		m, o := &memory{}, many(sessions, c.changedNs, c.state)
		reads := 0
		x := New(o, m)
		x.Read = func(context.Context, id.Session) (Content, error) {
			reads++
			return Content{Runs: []Run{{ID: id.NewRun(id.Seed{2}), Row: "{}"}}, Keep: c.keep, Problems: []byte("[]")}, nil
		}
		x.ReadWords = func(_ context.Context, _ id.Session, add func(string)) (WordsOf, bool, error) {
			reads++
			add("two words")
			return WordsOf{Long: true}, c.keep, nil
		}
		for range 2 {
			l, err := x.Sessions(context.Background())
			got := l.Sessions
			if err != nil || len(got) != sessions || len(got[0].Runs) != 1 || got[0].Runs[0].Row != "{}" {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
			words, err := x.Words(context.Background(), l)
			if err != nil || len(words) != sessions || words[0].Known != c.keep || words[0].Known && (!words[0].May("two") ||
				words[0].May("three") || !words[0].About.Long) || !words[0].Known && !words[0].May("three") {
				t.Fatalf("%s: %+v, %v", name, words, err)
			}
			if c.state == 2 {
				for i := range o.all {
					o.all[i].State[1]++
				}
			}
			if c.state == 3 {
				m.keys.Current[0]++
			}
			o.atNs++
		}
		if reads != 2*sessions*(1+c.reads) {
			t.Errorf("%s: read %d times", name, reads)
		}
		if m.most > limits.IndexBytesMax+sealed.Overhead {
			t.Errorf("up to %d bytes are read", m.most)
		}
	}
}

// TestGoneSessionsAreRemoved: what is kept of a session that the store has not any more is removed from the file by the
// next list, and all of it by Forget, also of an earlier form.
func TestGoneSessionsAreRemoved(t *testing.T) {
	m, o := &memory{}, many(rewriteAfter+1, 0, 1)
	x := New(o, m)
	x.Read = func(_ context.Context, s id.Session) (Content, error) {
		return Content{Runs: []Run{{ID: id.NewRun(id.Seed{2}), Row: "row of " + s.String()}}, Keep: true}, nil
	}
	list := func() {
		t.Helper()
		if _, err := x.Sessions(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	list()
	file := fileName(x.rows.place, Format)
	row := []byte("row of " + o.all[3].Session.String())
	if !bytes.Contains(m.data[file], row) {
		t.Fatal("the row is not in the file")
	}
	o.all = slices.Delete(o.all, 3, 4)
	list()
	if bytes.Contains(m.data[file], row) || !bytes.Contains(m.data[file], []byte("row of "+o.all[3].Session.String())) {
		t.Error("the row of a session that is gone is in the file, or the others are not")
	}
	m.data[fileName(x.rows.place, 1)] = row
	x.Forget(context.Background())
	for name := range maps.Keys(m.data) {
		if len(m.data[name]) > 0 {
			t.Errorf("%s is not empty", name)
		}
	}
}

// TestFilterHasAllTerms: a filter never denies a term of the texts, and denies nearly all others.
func TestFilterHasAllTerms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOf(rapid.String()).Draw(rt, "texts")
		terms := map[uint64]struct{}{}
		for _, text := range texts {
			for term := range resume.Terms(text) {
				terms[hashOf(term)] = struct{}{}
			}
		}
		w := Words{Known: true, bits: filterOf(terms)}
		for _, text := range texts {
			if query := resume.NewText(text); !query.May(w.May) {
				rt.Fatalf("%q is denied", text)
			}
		}
	})
	terms := map[uint64]struct{}{}
	for i := range 1000 {
		terms[hashOf(fmt.Sprint("word", i))] = struct{}{}
	}
	w, wrong := Words{Known: true, bits: filterOf(terms)}, 0
	for i := range 10_000 {
		if w.May(fmt.Sprint("other", i)) {
			wrong++
		}
	}
	if wrong > 200 {
		t.Errorf("%d of 10,000 other words may be in the texts", wrong)
	}
}
