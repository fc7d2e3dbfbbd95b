package manifest_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// orphan returns a segment that an append left without its group.
func orphan(t testing.TB, p []event.Event) manifest.Segment {
	t.Helper()
	seg, err := manifest.EncodeSegment(log, p)
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

func cancel(reason string) event.Payload { return event.RunCancelRequested{Reason: reason} }

func TestOrphans(t *testing.T) {
	f := threeGroups(t)
	next := f.heads[3].Next
	one, two := orphan(t, plan(next, cancel("a"))), orphan(t, plan(next, cancel("b"), node(1, snap(1))))
	beyond := orphan(t, plan(next+1, cancel("c")))
	with := func(change func(map[string][]byte)) *files {
		c := f.with(f.manifest)
		change(c.segments)
		return c
	}
	tests := []struct {
		name   string
		f      *files
		health manifest.Health
		codes  []manifest.FindingCode
		names  []string
	}{
		{"none", f, manifest.Healthy, nil, nil},
		{"one", with(func(s map[string][]byte) { s[one.Name()] = one.Bytes }),
			manifest.Healthy, []manifest.FindingCode{manifest.UncommittedTail}, []string{one.Name()}},
		{"two at one index", with(func(s map[string][]byte) { s[one.Name()], s[two.Name()] = one.Bytes, two.Bytes }),
			manifest.Healthy, []manifest.FindingCode{manifest.UncommittedTail, manifest.UncommittedTail},
			[]string{one.Name(), two.Name()}},
		{"of garbage", with(func(s map[string][]byte) { s[one.Name()] = []byte("garbage") }),
			manifest.Healthy, []manifest.FindingCode{manifest.UncommittedTail}, []string{one.Name()}},
		{"beyond the next index", with(func(s map[string][]byte) { s[beyond.Name()] = beyond.Bytes }),
			manifest.CorruptTail, []manifest.FindingCode{manifest.LostTail}, nil},
		{"beyond, of garbage", with(func(s map[string][]byte) { s[beyond.Name()] = nil }),
			manifest.CorruptTail, []manifest.FindingCode{manifest.LostTail}, nil},
		{"beside what is committed",
			with(func(s map[string][]byte) { s["00000003-00000003.jsonl"] = []byte("older try") }),
			manifest.Healthy, []manifest.FindingCode{manifest.OrphanSegment}, nil},
		{"names that are not segments",
			with(func(s map[string][]byte) { s[".tmp-x"], s["00000006.jsonl"], s["6-6.jsonl"] = nil, nil, nil }),
			manifest.Healthy, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.f.read(t)
			r.expect(t, f, 3, tt.health, tt.codes...)
			if !slices.Equal(r.Orphans, tt.names) {
				t.Errorf("orphans %q, want %q", r.Orphans, tt.names)
			}
		})
	}
}

// TestDirectoryOfLongLogIsListedEarly: while its last segments are read, and again where that listing has a segment that is
// not committed in the end, or failed.
func TestDirectoryOfLongLogIsListedEarly(t *testing.T) {
	f := long(t)
	committed := slices.Sorted(maps.Keys(f.segments))
	next := orphan(t, plan(f.heads[len(f.heads)-1].Next, cancel("a"))).Name()
	broken := errors.New("input/output error")
	for name, tt := range map[string]struct {
		listings [][]string // nil: it fails
		orphans  []string
		err      error
	}{
		"all are committed":                {listings: [][]string{committed}},
		"one is missing from it":           {listings: [][]string{committed[:100]}},
		"one was not committed yet":        {[][]string{append(slices.Clone(committed), next), append(slices.Clone(committed), next)}, []string{next}, nil},
		"one was removed":                  {listings: [][]string{append(slices.Clone(committed), next), committed}},
		"one was replaced by a longer one": {listings: [][]string{append(slices.Clone(committed), "00000003-00000003.jsonl"), committed}},
		"the first one fails":              {listings: [][]string{nil, committed}},
		"both fail":                        {[][]string{nil, nil}, nil, broken},
	} {
		in, listed, visited, at := f.input(1<<20), 0, 0, 0
		in.Names = func() ([]string, error) {
			if listed++; listed > len(tt.listings) {
				t.Fatalf("%s: %d listings", name, listed)
			}
			if at = visited; tt.listings[listed-1] == nil {
				return nil, broken
			}
			return tt.listings[listed-1], nil
		}
		v, err := manifest.Read(in, func(manifest.Segment, manifest.Head) error { visited++; return nil })
		if early := at < len(f.segs); listed != len(tt.listings) || early != (listed == 1 && tt.err == nil) {
			t.Errorf("%s: %d listings, the last one after %d of %d segments", name, listed, at, len(f.segs))
		}
		if !errors.Is(err, tt.err) || v.Damaged() || !slices.Equal(v.Orphans, tt.orphans) || len(v.Findings) != len(tt.orphans) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// Several segments may begin at the next index; the tail is torn if it is a prefix of the group of
// any of them.
func TestSeveralCandidates(t *testing.T) {
	f := threeGroups(t)
	next := f.heads[3].Next
	candidates := []manifest.Segment{orphan(t, plan(next, cancel("a"))),
		orphan(t, plan(next, cancel("b"), node(1, snap(1))))}
	c := f.with(f.manifest)
	for _, seg := range candidates {
		c.segments[seg.Name()] = seg.Bytes
	}
	c.segments["00000006-00000009.jsonl"] = []byte("no segment at all")
	orphans := []manifest.FindingCode{manifest.OrphanSegment, manifest.OrphanSegment, manifest.OrphanSegment}
	for i, seg := range candidates {
		group := manifest.Group(log, f.heads[3], seg)
		torn := c.with(append(bytes.Clone(f.manifest), group[:len(group)-5]...))
		torn.read(t).expect(t, f, 3, manifest.Healthy, append([]manifest.FindingCode{manifest.UncommittedTail},
			orphans...)...)

		damaged := bytes.Clone(group)
		damaged[len(damaged)/2] ^= 1
		c.with(append(bytes.Clone(f.manifest), damaged...)).read(t).isPrefix(t, f, 3)
		if r := c.with(append(bytes.Clone(f.manifest), damaged...)).read(t); r.Health != manifest.CorruptTail {
			t.Errorf("candidate %d: %s %v", i, r.Health, r.Findings)
		}

		// The manifest commits one of them; the others remain orphans.
		whole := c.with(append(bytes.Clone(f.manifest), group...))
		if r := whole.read(t); r.Head.Next != seg.Last+1 || r.Health != manifest.Healthy {
			t.Errorf("candidate %d attested: %+v", i, r.Verdict)
		}
	}
}

// Reading from a verified head gives the result of reading the whole log, for every form of group.
func TestReadingFromAHead(t *testing.T) {
	f := threeGroups(t)
	for k, head := range f.heads {
		r := f.readFrom(t, head)
		if r.err != nil || r.Head != f.heads[3] || r.Health != manifest.Healthy || len(r.Findings) > 0 {
			t.Fatalf("from head %d: %+v, %v", k, r.Verdict, r.err)
		}
		want := f.read(t).events[head.Next:]
		if len(r.events) != len(want) {
			t.Errorf("from head %d: %d events, want %d", k, len(r.events), len(want))
		}
	}
}

// Reading from a head neither opens older segments nor lists the directory
// (docs/design.md#head-cache).
func TestReadingFromAHeadOpensNoOlderSegment(t *testing.T) {
	f := threeGroups(t)
	c := f.with(f.manifest)
	delete(c.segments, f.segs[0].Name())
	delete(c.segments, f.segs[1].Name())
	opened := 0
	v, err := manifest.Read(manifest.Input{Log: log, From: f.heads[2],
		Manifest: bytes.NewReader(f.manifest[f.heads[2].GroupAt:]),
		Names:    func() ([]string, error) { return nil, errors.New("the directory was listed") },
		Open: func(name string) ([]byte, bool, error) {
			opened++
			data, ok := c.segments[name]
			return data, ok,
				nil
		},
	}, func(manifest.Segment, manifest.Head) error { return nil })
	if err != nil || v.Head != f.heads[3] || opened != 1 {
		t.Errorf("%d files opened, %+v, %v", opened, v, err)
	}
}

func TestHeadsThatAreNotOnTheChain(t *testing.T) {
	f := threeGroups(t)
	other := write(t, log, plan(0, event.SessionCreated{}, node(1, snap(9))))
	change := func(f func(*manifest.Head)) func(manifest.Head) manifest.Head {
		return func(h manifest.Head) manifest.Head { f(&h); return h }
	}
	for name, of := range map[string]func(manifest.Head) manifest.Head{
		"of another history": func(manifest.Head) manifest.Head { return other.heads[1] },
		"other digest":       change(func(h *manifest.Head) { h.Digest = snap(1) }),
		"no digest":          change(func(h *manifest.Head) { h.Digest = other.heads[0].Digest }),
		"too short":          change(func(h *manifest.Head) { h.Bytes-- }),
		"too long":           change(func(h *manifest.Head) { h.Bytes++ }),
		"beyond the end":     change(func(h *manifest.Head) { h.Bytes += 1 << 50 }),
		"backwards":          change(func(h *manifest.Head) { h.Bytes = h.GroupAt - 9 }),
		"of another group":   change(func(h *manifest.Head) { h.GroupAt = 0 }),
	} {
		if r := f.readFrom(t, of(f.heads[2])); !errors.Is(r.err, manifest.ErrNotOnChain) || len(r.events) > 0 {
			t.Errorf("%s: %+v, %v", name, r.Verdict, r.err)
		}
	}
}

// Errors of Input and of visit end the reading and are returned; they are not damage.
func TestInputErrorsEndReading(t *testing.T) {
	f := threeGroups(t)
	broken := errors.New("input/output error")
	torn := f.manifest[:len(f.manifest)-1]
	names := func() ([]string, error) { return nil, nil }
	open := func(name string) ([]byte, bool, error) { data, ok := f.segments[name]; return data, ok, nil }
	visit := func(manifest.Segment, manifest.Head) error { return nil }
	tests := []struct {
		name  string
		in    manifest.Input
		visit func(manifest.Segment, manifest.Head) error
	}{
		{"reading the manifest", manifest.Input{Manifest: &failing{f.manifest[:900], broken}, Names: names, Open: open},
			visit},
		{"reading up to a head", manifest.Input{From: f.heads[2], Manifest: &failing{nil, broken}, Names: names,
			Open: open}, visit},
		{"listing", manifest.Input{Manifest: bytes.NewReader(torn), Open: open,
			Names: func() ([]string, error) { return nil, broken }}, visit},
		{"listing at the end", manifest.Input{Manifest: bytes.NewReader(f.manifest), Open: open,
			Names: func() ([]string, error) { return nil, broken }}, visit},
		{"opening", manifest.Input{Manifest: bytes.NewReader(f.manifest), Names: names,
			Open: func(string) ([]byte, bool, error) { return nil, false, broken }}, visit},
		{"visiting", manifest.Input{Manifest: bytes.NewReader(f.manifest), Names: names, Open: open},
			func(manifest.Segment, manifest.Head) error { return broken }},
	}
	for _, tt := range tests {
		tt.in.Log = log
		if v, err := manifest.Read(tt.in, tt.visit); !errors.Is(err, broken) || v.Damaged() {
			t.Errorf("%s: %s, %v", tt.name, v.Health, err)
		}
	}
}

// failing is a reader that returns its bytes, then an error.
type failing struct {
	data []byte
	err  error
}

func (r *failing) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, r.err
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}
