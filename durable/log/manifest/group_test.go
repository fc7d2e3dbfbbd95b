package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// The groups of three plans have pinned bytes: every snapshot of a segment has a pin line, in
// event order, also if an earlier group pinned it; each group but the first has the digest of the
// previous one.
func TestGroupBytesArePinned(t *testing.T) {
	f := threeGroups(t)
	owner := session.String()
	pin := func(at, record int64, ref canon.Digest) string {
		var e id.Event
		for _, s := range f.segs {
			if at >= s.First && at <= s.Last {
				e = s.Events[at-s.First].ID
			}
		}
		return fmt.Sprintf(`{"createdByEventId":"%s","eventIndex":%d,"kind":"snapshot_pinned","manifestIndex":%d,"sessionId":"%s","snapshotRef":"%s","v":1}`+"\n",
			e, at, record, owner, ref)
	}
	closed := func(k int, record int64, pins int, prev string) string {
		s := f.segs[k]
		return fmt.Sprintf(`{"bytes":%d,"firstEventIndex":%d,"kind":"segment_closed","lastEventIndex":%d,"manifestIndex":%d,"pins":%d,%s"segmentRelPath":"events/%s","sessionId":"%s","sha256":"%s","v":1}`+"\n",
			len(s.Bytes), s.First, s.Last, record, pins, prev, s.Name(), owner, canon.Sum(s.Bytes))
	}
	prev := func(k int) string { return `"prev":"` + canon.Sum(f.group(k)).String() + `",` }
	want := []string{
		closed(0, 0, 1, "") + pin(1, 1, snap(1)),
		closed(1, 2, 1, prev(0)) + pin(2, 3, snap(2)),
		closed(2, 4, 2, prev(1)) + pin(4, 5, snap(1)) + pin(5, 6, snap(3)),
	}
	for k, group := range want {
		if got := string(f.group(k)); got != group {
			t.Errorf("group %d:\n got %swant %s", k, got, group)
		}
	}
	if got := manifest.Group(log, f.heads[2], f.segs[2]); string(got) != want[2] {
		t.Error("Group returned different bytes for the same arguments")
	}
}

func TestHeads(t *testing.T) {
	f := threeGroups(t)
	at := []int64{0, 2, 3, 6}
	records := []int64{0, 2, 4, 7}
	for k, h := range f.heads[1:] {
		want := manifest.Head{Digest: canon.Sum(f.group(k)), GroupAt: f.heads[k].Bytes, Bytes: f.heads[k].Bytes +
			int64(len(f.group(k))),
			Next: at[k+1], NextRecord: records[k+1]}
		if h != want || h.IsZero() {
			t.Errorf("after %d groups: got %+v, want %+v", k+1, h, want)
		}
	}
	if !f.heads[0].IsZero() {
		t.Error("the empty log has a head")
	}
}

func TestEncodeSegment(t *testing.T) {
	good := plan(5, event.RunCancelRequested{Reason: "a"}, node(1, snap(1)))
	seg, err := manifest.EncodeSegment(log, good)
	if err != nil || seg.Name() != "00000005-00000006.jsonl" || strings.Count(string(seg.Bytes), "\n") != 2 {
		t.Fatalf("got %s, %v", seg.Name(), err)
	}
	back, err := manifest.DecodeSegment(log, 5, 6, seg.Bytes)
	if err != nil || len(back.Events) != 2 || back.Name() != seg.Name() {
		t.Fatalf("decoded to %+v, %v", back, err)
	}
	other := event.New(id.NewSession(id.Seed{9}).String(), 5, event.Scope{}, engine, 0, event.SessionCreated{})
	last := plan(limits.EventIndexMax, event.RunCancelRequested{Reason: "a"})
	if _, err := manifest.EncodeSegment(log, last); err != nil {
		t.Errorf("the last event that a log holds: %v", err)
	}
	for name, tt := range map[string]struct {
		events []event.Event
		want   string
	}{
		"no events": {nil, "manifest: a plan without events"},
		"a gap": {[]event.Event{good[0], good[0]}, "manifest: event 5 of " + log.Owner + " is planned as event 6 of " +
			log.Owner},
		"of another owner": {[]event.Event{other}, "manifest: event 5 of " + other.Owner +
			" is planned as event 5 of " +
			log.Owner},
		"bad data": {plan(0, event.RunCancelRequested{}),
			"event 0 (run_cancel_requested): reason of 0 bytes: want 1 to 512"},
		"zero digest": {plan(0, node(1, canon.Digest{})),
			"event 0 (node_created): snapshotRef: canon: zero digest"},
		"too many events": {plan(limits.EventIndexMax+1, event.RunCancelRequested{Reason: "a"}),
			"manifest: a log holds at most 100000000 events"},
	} {
		if _, err := manifest.EncodeSegment(log, tt.events); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

func TestDecodeSegmentRefuses(t *testing.T) {
	seg, err := manifest.EncodeSegment(log, plan(5, event.RunCancelRequested{Reason: "a"}, node(1, snap(1))))
	if err != nil {
		t.Fatal(err)
	}
	text := string(seg.Bytes)
	line, _, _ := strings.Cut(text, "\n")
	for name, tt := range map[string]struct {
		first, last int64
		data, want  string
	}{
		"shorter than its name": {5, 7, text, "2 events where the name says 3"},
		"longer than its name":  {5, 5, text, "2 events where the name says 1"},
		"of another place":      {6, 7, text, "stands where event 6 of"},
		"out of order": {5, 6, strings.Replace(text, `"eventIndex":6`, `"eventIndex":5`, 1),
			"stands where event 6 of"},
		"of another session": {5, 6, strings.ReplaceAll(text, session.String(), "sess_x"),
			"event 5 of sess_x stands where event"},
		"without newline":        {5, 6, strings.TrimSuffix(text, "\n"), "event 6: line without an end"},
		"with an empty line":     {5, 6, text + "\n", "event 7: not an event"},
		"of no JSON":             {5, 6, "x" + text, "event 5: not an event"},
		"empty":                  {0, 0, "", "0 bytes cannot hold events 0 to 0"},
		"named for the universe": {0, 1 << 50, text, "bytes cannot hold events 0 to 1125899906842624"},
		"of an endless line": {5, 5, line + strings.Repeat(" ", limits.LineBytesMax) + "\n",
			"event 5: line without an end"},
	} {
		if _, err := manifest.DecodeSegment(log, tt.first, tt.last, []byte(tt.data)); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

func TestSegmentNames(t *testing.T) {
	for name, want := range map[string][2]int64{
		"00000000-00000000.jsonl": {0, 0}, "00000007-00000019.jsonl": {7, 19},
		"99999999-100000000.jsonl": {99999999, 100000000},
	} {
		first, last, ok := manifest.ParseSegmentName(name)
		if !ok || [2]int64{first, last} != want || manifest.SegmentName(first, last) != name {
			t.Errorf("%s: got %d, %d, %v", name, first, last, ok)
		}
	}
	for _, name := range []string{"", "00000000.jsonl", "0-0.jsonl", "00000001-00000000.jsonl",
		"000000000-000000000.jsonl",
		"00000000-00000000.jsonl.tmp", ".tmp-00000000-00000000.jsonl", "../00000000-00000000.jsonl",
		"00000000-00000000.jsonl\n",
		"-0000001-00000000.jsonl", "+0000000-00000000.jsonl", "00000000-99999999999999999.jsonl",
		"٠٠٠٠٠٠٠٠-٠٠٠٠٠٠٠٠.jsonl"} {
		if first, last, ok := manifest.ParseSegmentName(name); ok {
			t.Errorf("%q is the segment of %d to %d", name, first, last)
		}
	}
}

func TestObjectNames(t *testing.T) {
	o := manifest.Object{Kind: manifest.Snapshot, Bytes: []byte{1}}
	hex := strings.TrimPrefix(snap(1).String(), "sha256:")
	for kind, want := range map[manifest.ObjectKind]string{
		manifest.Snapshot: "snapshots/sha256_" + hex + ".json",
		manifest.Artifact: "artifacts/sha256_" + hex,
		manifest.Workflow: "workflows/pinned/sha256_" + hex + ".json",
	} {
		if got := manifest.ObjectDir(kind) + "/" + manifest.ObjectName(kind, o.Ref()); got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
}

// SeverityOf returns the pinned severity of every code.
func TestSeverities(t *testing.T) {
	want := map[manifest.Severity]string{
		manifest.SeverityWarn: "uncommitted_tail orphan_segment unknown_version permissions unknown_file " +
			"orphan_object suspect",
		manifest.SeverityError: "manifest_damaged segment_missing segment_damaged lost_tail object_missing " +
			"object_damaged " +
			"duplicate_dedupe_key broken_reference control_damaged a_code_of_tomorrow",
	}
	for severity, codes := range want {
		for code := range strings.FieldsSeq(codes) {
			f := manifest.NewFinding(manifest.FindingCode(code), "p", "n is %d", 1)
			if f.Severity != severity || f.Message != "n is 1" || f.Path != "p" {
				t.Errorf("%s: got %+v, want %s", code, f, severity)
			}
		}
	}
}
