package index

import (
	"bytes"
	"cmp"
	"context"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

func anyEntry(rt *rapid.T) entry {
	seed := func() (s id.Seed) {
		copy(s[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(rt, "seed"))
		return s
	}
	e := entry{session: id.NewSession(seed()), changedNs: rapid.Int64().Draw(rt, "changed"), runs: []Run{}}
	copy(e.state[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "state"))
	for range rapid.IntRange(0, 3).Draw(rt, "runs") {
		r := Run{ID: id.NewRun(seed()), LastAtMs: rapid.Int64().Draw(rt, "at"), LastIndex: rapid.Int64().Draw(rt, "index"),
			Row: []byte(rapid.String().Draw(rt, "row")), Extra: []byte(rapid.String().Draw(rt, "extra"))}
		if rapid.Bool().Draw(rt, "tip") {
			r.Tip = id.RootNode(r.ID)
		}
		e.runs = append(e.runs, r)
	}
	return e
}

// TestEncode: what is decoded is what was encoded, and no beginning of it nor any other bytes decode as a whole.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := saved{beganNs: rapid.Int64().Draw(rt, "began"), entries: []entry{}}
		for range rapid.IntRange(0, 4).Draw(rt, "entries") {
			s.entries = append(s.entries, anyEntry(rt))
		}
		data := encode(s)
		if got, ok := decode(data); !ok || !reflect.DeepEqual(got, s) {
			rt.Fatalf("%+v, want %+v", got, s)
		}
		if _, ok := decode(data[:rapid.IntRange(0, len(data)-1).Draw(rt, "cut")]); ok {
			rt.Fatal("a beginning decodes")
		}
		if _, ok := decode(append(data, 0)); ok {
			rt.Fatal("more than an index decodes")
		}
		decode(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
	})
}

// memory is a store with one file and a key.
type memory struct {
	ports.HeadCache
	ports.Keyring
	data []byte
	keys token.Keys
	most int64
}

func (m *memory) Keys(context.Context, ports.Create) (token.Keys, error) { return m.keys, nil }

func (m *memory) CachedHead(_ context.Context, _ manifest.Log, _ int, most int64) ([]byte, error) {
	m.most = most
	return m.data, nil
}

func (m *memory) StoreHead(_ context.Context, _ manifest.Log, _ int, data []byte) error {
	m.data = bytes.Clone(data)
	return nil
}

// observed are states that a test sets.
type observed struct {
	all  []ports.SessionState
	atNs int64
}

func (o *observed) States(context.Context) ([]ports.SessionState, int64, error) {
	return append([]ports.SessionState{}, o.all...), o.atNs, nil
}

// TestSettled: a session that changed shortly before the index was begun is read again, however it looks now; one
// without a state is never kept, and neither is one that Read says not to keep.
func TestSettled(t *testing.T) {
	const began = 100 * limits.IndexSettleNs
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
		m, o := &memory{}, &observed{atNs: began}
		for i := range rewriteAfter {
			o.all = append(o.all, ports.SessionState{Session: id.NewSession(id.Seed{byte(i)}), State: [16]byte{c.state}, ChangedNs: c.changedNs})
		}
		slices.SortFunc(o.all, func(a, b ports.SessionState) int { return cmp.Compare(a.Session.String(), b.Session.String()) })
		reads := 0
		x := New(o, m)
		x.Read = func(context.Context, id.Session) (Content, error) {
			reads++
			return Content{Runs: []Run{{ID: id.NewRun(id.Seed{2}), Row: []byte("{}")}}, Keep: c.keep, Problems: []byte("[]")}, nil
		}
		for range 2 {
			got, err := x.Sessions(context.Background())
			if err != nil || len(got) != rewriteAfter || len(got[0].Runs) != 1 || string(got[0].Runs[0].Row) != "{}" {
				t.Fatalf("%s: %+v, %v", name, got, err)
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
		if reads != rewriteAfter*(1+c.reads) {
			t.Errorf("%s: read %d times", name, reads)
		}
		if m.most > limits.IndexBytesMax+sealed.Overhead {
			t.Errorf("up to %d bytes are read", m.most)
		}
	}
}
