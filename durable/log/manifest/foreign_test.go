package manifest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// record is a manifest line as other programs write it.
func record(t testing.TB, members ...any) string {
	t.Helper()
	v := canon.OfMembers()
	for i := 0; i < len(members); i += 2 {
		m, err := canon.ValueOf(members[i+1])
		if err != nil {
			t.Fatal(err)
		}
		v = v.With(members[i].(string), m)
	}
	return string(v.JCS()) + "\n"
}

// plainGroup returns a plain group, without the members pins and prev. pinned lists the events of the
// segment that get a pin line.
func plainGroup(t testing.TB, h manifest.Head, seg manifest.Segment, pinned ...int64) []byte {
	out := record(t, "v", 1, "manifestIndex", h.NextRecord, "sessionId", log.Owner, "kind", "segment_closed",
		"firstEventIndex", seg.First,
		"lastEventIndex", seg.Last, "segmentRelPath", "events/"+seg.Name(), "sha256", canon.Sum(seg.Bytes), "bytes",
		len(seg.Bytes))
	for i, at := range pinned {
		e := seg.Events[at-seg.First]
		out += record(t, "v", 1, "manifestIndex", h.NextRecord+1+int64(i), "sessionId", log.Owner, "kind",
			"snapshot_pinned", "eventIndex", at,
			"snapshotRef", e.Data.(event.Pinner).Pin(), "createdByEventId", e.IDText())
	}
	return []byte(out)
}

// plainLog commits the plans of threeGroups with plain groups; pinned[k] lists the pins of group k.
func plainLog(t testing.TB, pinned [3][]int64) *files {
	t.Helper()
	chained := threeGroups(t)
	f := &files{log: log, segments: map[string][]byte{}, heads: []manifest.Head{{}}}
	for k, seg := range chained.segs {
		f.commitAs(seg, plainGroup(t, f.heads[k], seg, pinned[k]...))
	}
	return f
}

var (
	pinnedOnce  = [3][]int64{{1}, {2}, {5}}
	pinnedTwice = [3][]int64{{1}, {2}, {4, 5}}
)

// Plain groups that pin a snapshot when it is new, or each time, are valid. A group without its
// pins is damage.
func TestPlainGroups(t *testing.T) {
	for name, pinned := range map[string][3][]int64{"deduped": pinnedOnce, "repeated": pinnedTwice} {
		f := plainLog(t, pinned)
		f.read(t).expect(t, f, 3, manifest.Healthy)
		for n := range len(f.manifest) {
			r := f.with(f.manifest[:n]).read(t)
			k := 0
			for k < 3 && f.heads[k+1].Bytes <= int64(n) {
				k++
			}
			r.isPrefix(t, f, k)
			// Up to the first difference, a torn group could be a chained one.
			chained := manifest.Group(log, f.heads[k], f.segs[k])
			if torn := bytes.HasPrefix(chained, f.manifest[f.heads[k].Bytes:n]); r.Damaged() == (torn && k == 2) {
				t.Fatalf("%s, truncated to %d: %s %v", name, n, r.Health, r.Findings)
			}
		}
	}
	for name, pinned := range map[string][3][]int64{
		"no pin": {nil, {2}, {5}}, "no pin in the last": {{1}, {2}, nil}, "one of two": {{1}, {2}, {4}},
		"other order": {{1}, {2}, {5, 4}},
	} {
		if r := plainLog(t, pinned).read(t); !r.Damaged() {
			t.Errorf("%s: %s %v", name, r.Health, r.Findings)
		}
	}
}

// From a known head, only groups that count their pins can be read: earlier pins are not known.
// Read then returns ErrNotOnChain, and not damage.
func TestPlainGroupsFromAHead(t *testing.T) {
	repeated := plainLog(t, pinnedTwice)
	for _, head := range repeated.heads {
		if r := repeated.readFrom(t, head); r.err != nil || r.Head != repeated.heads[3] ||
			r.Health != manifest.Healthy {
			t.Errorf("repeated pins from %d: %+v, %v", head.Next, r.Verdict, r.err)
		}
	}
	deduped := plainLog(t, pinnedOnce)
	if r := deduped.readFrom(t, deduped.heads[2]); !errors.Is(r.err, manifest.ErrNotOnChain) {
		t.Errorf("deduped pins: %+v, %v", r.Verdict, r.err)
	}
}

// Chained groups behind plain ones are valid: Waybill may append to a log of another program.
func TestChainedGroupsBehindPlainOnes(t *testing.T) {
	f := plainLog(t, pinnedOnce)
	f.commit(t, plan(6, node(6, snap(1))))
	f.read(t).expect(t, f, 4, manifest.Healthy)
}

// Unknown members are damage in Waybill's own store, and unknown_version with Input.Foreign
// (docs/design.md#foreign-stores). The known members must be correct.
func TestForeignMembers(t *testing.T) {
	edit := func(k int, old, new string) *files {
		f := plainLog(t, pinnedOnce)
		out := &files{log: log, segments: map[string][]byte{}, heads: []manifest.Head{{}}}
		for i, seg := range f.segs {
			group := string(plainGroup(t, out.heads[i], seg, pinnedOnce[i]...))
			if i == k {
				if group = strings.Replace(group, old, new, 1); !strings.Contains(group, new) {
					t.Fatalf("%q is not in the group", old)
				}
			}
			out.commitAs(seg, []byte(group))
		}
		return out
	}
	tests := []struct {
		name     string
		k        int
		old, new string
		good     bool
	}{
		{"member of the closing line", 1, `"v":1`, `"v":1,"writtenBy":"x"`, true},
		{"member of a pin line", 2, `"snapshotRef"`, `"size":5,"snapshotRef"`, true},
		{"other version", 0, `"v":1`, `"v":2`, true},
		{"other order and spaces", 1, `{"bytes"`, `{ "bytes"`, true},
		{"right count of pins", 2, `"segmentRelPath"`, `"pins":1,"segmentRelPath"`, true},
		{"right chain", 2, `"segmentRelPath"`, `"prev":"` + plainLog(t, pinnedOnce).heads[2].Digest.String() +
			`","segmentRelPath"`, true},
		{"wrong count of pins", 1, `"segmentRelPath"`, `"pins":2,"segmentRelPath"`, false},
		{"wrong chain", 1, `"segmentRelPath"`, `"prev":"` + snap(0).String() + `","segmentRelPath"`, false},
		{"wrong digest", 1, `"sha256":"sha256:`, `"sha256":"sha256:0`, false},
		{"wrong length", 1, `"bytes":`, `"bytes":1`, false},
		{"wrong bounds", 1, `"lastEventIndex":2`, `"lastEventIndex":3`, false},
		{"other kind", 1, `segment_closed`, `segment_opened`, false},
		{"pin of another snapshot", 1, `"snapshotRef":"` + snap(2).String(), `"snapshotRef":"` + snap(3).
			String(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := edit(tt.k, tt.old, tt.new)
			f.foreign = false
			if r := f.read(t); !r.Damaged() {
				t.Errorf("without Foreign: %s %v", r.Health, r.Findings)
			}
			f.foreign = true
			if tt.good {
				f.read(t).expect(t, f, 3, manifest.UnknownVersion, manifest.UnknownEvents)
			} else if r := f.read(t); !r.Damaged() {
				t.Errorf("%s %v", r.Health, r.Findings)
			}
		})
	}
}

// With Input.Foreign, a torn group of Waybill is not read as a whole plain group without pins.
func TestForeignReadingFindsTornTail(t *testing.T) {
	f := tornLogs(t)[0]
	f.foreign = true
	k := len(f.segs) - 1
	group := f.group(k)
	for n := range len(group) {
		if r := f.readTail(t, group[:n]); n > 0 &&
			(r.err != nil || r.Health != manifest.Healthy || r.TailBytes != int64(n)) {
			t.Fatalf("%d bytes: %s %v, %v", n, r.Health, r.Findings, r.err)
		}
	}
}

// foreignSegment has an event with an id and a scope of another form, which pins a snapshot.
func foreignSegment(t testing.TB, first int64, ref canon.Digest, eventID string) manifest.Segment {
	line := record(t, "v", 1, "eventId", eventID, "eventIndex", first, "sessionId", log.Owner, "kind", "node_created",
		"dedupeKey", "k",
		"scope", map[string]string{"runId": "run_01JH", "nodeId": "node_01JH"},
		"data", map[string]any{"nodeKind": "step", "snapshotRef": ref, "workflowHash": ref, "color": "red"})
	seg, err := manifest.DecodeSegment(log, first, first, []byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

// Snapshots of foreign events are pinned, in chained groups (of an import) and in plain ones, also
// where the event has no id of Waybill's form.
func TestForeignEvents(t *testing.T) {
	start := plan(0, event.SessionCreated{}, node(1, snap(1)))
	for name, ref := range map[string]canon.Digest{"new snapshot": snap(7), "pinned before": snap(1)} {
		for _, eventID := range []string{"evt_01JH", ""} {
			seg := foreignSegment(t, 2, ref, eventID)
			chained := write(t, log, start)
			chained.commitAs(seg, manifest.Group(log, chained.heads[1], seg))
			if n := bytes.Count(chained.group(1), []byte(ref.String())); n != 1 {
				t.Fatalf("%s: the group pins %d snapshots", name, n)
			}
			chained.read(t).expect(t, chained, 2, manifest.UnknownVersion, manifest.UnknownEvents)

			plain := write(t, log)
			first := chained.segs[0]
			plain.commitAs(first, plainGroup(t, plain.heads[0], first, 1))
			plain.commitAs(seg, plainGroup(t, plain.heads[1], seg, 2))
			plain.read(t).expect(t, plain, 2, manifest.UnknownVersion, manifest.UnknownEvents)
		}
	}
}

func TestIgnorableEventsLeaveALogHealthy(t *testing.T) {
	f := write(t, log, plan(0, event.SessionCreated{}))
	line := record(t, "eventIndex", 1, "sessionId", log.Owner, "kind", "new", "ignorable", true)
	seg, err := manifest.DecodeSegment(log, 1, 1, []byte(line))
	if err != nil {
		t.Fatal(err)
	}
	f.commitAs(seg, manifest.Group(log, f.heads[1], seg))
	f.read(t).expect(t, f, 2, manifest.Healthy)
}

// A side log of the store has another owner field and table, and the same rules
// (docs/design.md#side-logs).
type noted struct {
	Text string `json:"text"`
}

func (noted) Kind() string                                   { return "noted" }
func (n noted) DedupeKey(owner string, _ event.Scope) string { return "noted:" + owner + ":" + n.Text }
func (noted) Check(event.Scope) error                        { return nil }

func TestStoreSideLog(t *testing.T) {
	owner := id.NewStore(id.Seed{1}).String()
	notes := manifest.Log{Root: "notes", Owner: owner,
		Table: event.NewTable("notes", "storeId", event.Row[noted](event.NoScope))}
	one := func(at int64, text string) []event.Event {
		return []event.Event{event.New(owner, at, event.Scope{}, engine, 1, noted{text})}
	}
	f := write(t, notes, one(0, "a"), one(1, "b"))
	f.read(t).expect(t, f, 2, manifest.Healthy)
	if !bytes.Contains(f.manifest, []byte(`"storeId":"`+owner+`"`)) || bytes.Contains(f.manifest, []byte("sessionId")) {
		t.Errorf("owned by\n%s", f.manifest)
	}
	for n := f.heads[1].Bytes + 1; n < int64(len(f.manifest)); n++ {
		f.with(f.manifest[:n]).read(t).
			expect(t, f, 1, manifest.Healthy, manifest.UncommittedTail, manifest.OrphanSegment)
	}
	// The same bytes are not a valid log of a session.
	f.log = log
	if r := f.read(t); !r.Damaged() || len(r.events) > 0 {
		t.Errorf("as a session's: %s %v", r.Health, r.Findings)
	}
}

// Stores of another program, where available, are read completely and without damage.
func TestRealForeignStores(t *testing.T) {
	manifests, err := filepath.Glob("../../../../shared/data/workrail/stores/*/sessions/*/manifest.jsonl")
	if err != nil || len(manifests) == 0 {
		t.Skip("no foreign stores at ../shared/data beside the checkout")
	}
	for _, path := range manifests {
		dir := filepath.Dir(path)
		owner, err := id.ParseSession(filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := &files{log: manifest.SessionEvents(owner), manifest: data, segments: map[string][]byte{}}
		segments, err := filepath.Glob(filepath.Join(dir, "events", "*"))
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		for _, name := range segments {
			if f.segments[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
			if _, l, ok := manifest.ParseSegmentName(filepath.Base(name)); ok {
				last = max(last, l)
			}
		}
		for _, f.foreign = range []bool{false, true} {
			r := f.read(t)
			if r.err != nil || r.Health != manifest.UnknownVersion || r.Head.Next != last+1 ||
				r.Head.Bytes != int64(len(data)) || len(r.Orphans) > 0 {
				t.Errorf("%s: %s, %d of %d events, %v, %v", path, r.Health, r.Head.Next, last+1, r.Findings, r.err)
			}
		}
	}
}
