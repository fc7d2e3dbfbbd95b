package manifest_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

var (
	session = id.NewSession(id.Seed{1})
	run     = id.NewRun(id.Seed{2})
	root    = id.RootNode(run)
	log     = manifest.SessionEvents(session)
	engine  = event.Actor{Kind: event.Engine}
	atRun   = event.Scope{RunID: run}
)

// snap returns the n-th snapshot reference.
func snap(n byte) canon.Digest { return canon.Sum([]byte{n}) }

// node returns an event that creates a node with a snapshot.
func node(n int, ref canon.Digest) event.Payload {
	return event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root, SnapshotRef: ref, WorkflowHash: snap(255)}
}

// plan returns payloads as events with indices from first. Each node_created has the scope of its
// own node, every other event that of the run.
func plan(first int64, data ...event.Payload) []event.Event {
	var out []event.Event
	for i, p := range data {
		at := first + int64(i)
		scope := atRun
		switch p.(type) {
		case event.SessionCreated:
			scope = event.Scope{}
		case event.NodeCreated:
			scope.NodeID = id.ChildNode(root, id.NextAttempt(root, id.OpAck, int(at)), id.OpAck)
		}
		out = append(out, event.New(log.Owner, at, scope, engine, 1, p))
	}
	return out
}

// files is a log as stored on disk, with its expected segments and heads.
type files struct {
	log      manifest.Log
	manifest []byte
	segments map[string][]byte
	segs     []manifest.Segment
	heads    []manifest.Head // heads[k] is the head after k groups
	foreign  bool
}

// write commits plans with chained groups.
func write(t testing.TB, log manifest.Log, plans ...[]event.Event) *files {
	t.Helper()
	f := &files{log: log, segments: map[string][]byte{}, heads: []manifest.Head{{}}}
	for _, p := range plans {
		f.commit(t, p)
	}
	return f
}

func (f *files) commit(t testing.TB, p []event.Event) {
	t.Helper()
	seg, err := manifest.EncodeSegment(f.log, p)
	if err != nil {
		t.Fatal(err)
	}
	head := f.heads[len(f.heads)-1]
	f.commitAs(seg, manifest.Group(f.log, head, seg))
}

// commitAs commits seg with the given group.
func (f *files) commitAs(seg manifest.Segment, group []byte) {
	f.segments[seg.Name()] = seg.Bytes
	f.manifest = append(f.manifest, group...)
	f.segs = append(f.segs, seg)
	f.heads = append(f.heads, f.heads[len(f.heads)-1].After(group, seg))
}

// group returns the bytes of the k-th group.
func (f *files) group(k int) []byte { return f.manifest[f.heads[k].Bytes:f.heads[k+1].Bytes] }

// with returns a copy with another manifest.
func (f *files) with(manifest []byte) *files {
	c := *f
	c.manifest, c.segments = manifest, maps.Clone(f.segments)
	return &c
}

// reading is the result of reading a log.
type reading struct {
	manifest.Verdict
	events []event.Event
	err    error
}

func (f *files) read(t testing.TB) reading { t.Helper(); return f.readFrom(t, manifest.Head{}) }

func (f *files) readFrom(t testing.TB, from manifest.Head) reading {
	t.Helper()
	var r reading
	start := min(max(from.GroupAt, 0), int64(len(f.manifest)))
	next := from.Next
	r.Verdict, r.err = manifest.Read(manifest.Input{
		Log: f.log, From: from, Manifest: bytes.NewReader(f.manifest[start:]), Foreign: f.foreign,
		Names: func() ([]string, error) { return slices.Sorted(maps.Keys(f.segments)), nil },
		Open: func(name string) ([]byte, bool, error) {
			data, ok := f.segments[name]
			return data, ok, nil
		},
	}, func(seg manifest.Segment, head manifest.Head) error {
		for _, e := range seg.Events {
			if e.Index != next {
				t.Fatalf("event %d is visited in place of event %d", e.Index, next)
			}
			next++
		}
		if head.Next != next {
			t.Fatalf("head.Next is %d after event %d", head.Next, next-1)
		}
		r.events = append(r.events, seg.Events...)
		return nil
	})
	if r.err == nil && r.Head.Next != next {
		t.Fatalf("the verdict's head is at %d, visited up to %d", r.Head.Next, next)
	}
	return r
}

func (r reading) codes() (out []manifest.FindingCode) {
	for _, f := range r.Findings {
		out = append(out, f.Code)
	}
	return out
}

// isPrefix checks that exactly the first k segments of f were visited, as written.
func (r reading) isPrefix(t testing.TB, f *files, k int) {
	t.Helper()
	if r.err != nil || r.Head != f.heads[k] {
		t.Fatalf("head %+v, want %+v after %d groups; %v", r.Head, f.heads[k], k, r.err)
	}
	var got, want []byte
	for _, seg := range f.segs[:k] {
		want = append(want, seg.Bytes...)
	}
	for _, e := range r.events {
		var err error
		if got, err = f.log.Table.AppendLine(got, e); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("visited\n%swant\n%s", got, want)
	}
}

// expect checks a verdict: the number of committed groups, the health, and all findings.
func (r reading) expect(t testing.TB, f *files, k int, health manifest.Health, codes ...manifest.FindingCode) {
	t.Helper()
	r.isPrefix(t, f, k)
	if r.Health != health || !slices.Equal(r.codes(), codes) {
		t.Fatalf("%s %v, want %s %v", r.Health, r.Findings, health, codes)
	}
}

// threeGroups returns a small log: a start, an advance, and a group that repeats a pin.
func threeGroups(t testing.TB) *files {
	closed := event.RunCancelRequested{Reason: "x"}
	return write(t, log,
		plan(0, event.SessionCreated{}, node(1, snap(1))),
		plan(2, node(2, snap(2))),
		plan(3, closed, node(4, snap(1)), node(5, snap(3))))
}
