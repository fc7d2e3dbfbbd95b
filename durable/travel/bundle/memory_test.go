package bundle_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// size is how large a generated bundle is.
type size struct{ events, snapshots, segments int }

// generate writes a bundle in which every fifth event is a node with a snapshot of its own,
// as in long sessions.
func (s size) generate(t testing.TB, out io.Writer) {
	t.Helper()
	w, err := bundle.NewWriter(out, envelope())
	if err != nil {
		t.Fatal(err)
	}
	snap := func(i int) []byte {
		return fmt.Appendf(nil,
			`{"completed":["step-%d"],"enginePayload":{"engineState":{"kind":"running","pending":"%s"}}}`, i,
			strings.Repeat("p", 300))
	}
	flow := []byte(`{"steps":[]}`)
	refs := make([][32]byte, s.snapshots)
	order := make([]int, s.snapshots)
	for i := range refs {
		refs[i], order[i] = sha256.Sum256(snap(i)), i
	}
	text := func(i int) string { return "sha256:" + hex.EncodeToString(refs[i][:]) }
	notes := strings.Repeat("notes with an é and \\n. ", 20)
	for i := range s.events {
		data := fmt.Sprintf(`{"notesMarkdown":"%s"}`, notes)
		kind := "context_set"
		if n := i * s.snapshots / s.events; i*s.snapshots%s.events == 0 {
			kind, data = "node_created", fmt.Sprintf(`{"nodeKind":"step","snapshotRef":%q,"workflowHash":"%s"}`,
				text(n), canon.Sum(flow))
		}
		line := fmt.Appendf(nil,
			`{"actor":{"kind":"agent"},"data":%s,"dedupeKey":"context_set:%s:%d","eventId":"evt_%026d","eventIndex":%d,"kind":%q,"scope":{"nodeId":"node_%026d","runId":"run_%026d"},"sessionId":%q,"timestampMs":1790000000000,"v":1}`,
			data, session, i, i, i, kind, i, i, session)
		if err := w.Event(line); err != nil {
			t.Fatal(err)
		}
	}
	record := 0
	for k := range s.segments {
		first, last := k*s.events/s.segments, (k+1)*s.events/s.segments-1
		err := w.Record(fmt.Appendf(nil,
			`{"bytes":1,"firstEventIndex":%d,"kind":"segment_closed","lastEventIndex":%d,"manifestIndex":%d,"pins":1,"prev":"%s","segmentRelPath":"events/%08d-%08d.jsonl","sessionId":%q,"sha256":"%s","v":1}`,
			first, last, record, canon.Sum(flow), first, last, session, canon.Sum(flow)))
		if err != nil {
			t.Fatal(err)
		}
		record++
		for i := first; i <= last; i++ {
			if i*s.snapshots%s.events != 0 {
				continue
			}
			err := w.Record(fmt.Appendf(nil,
				`{"createdByEventId":"evt_%026d","eventIndex":%d,"kind":"snapshot_pinned","manifestIndex":%d,"sessionId":%q,"snapshotRef":%q,"v":1}`,
				i, i, record, session, text(i*s.snapshots/s.events)))
			if err != nil {
				t.Fatal(err)
			}
			record++
		}
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(refs[a][:], refs[b][:]) })
	for _, i := range order {
		if err := w.Object(manifest.Snapshot, canon.DigestOf(refs[i]), -1, bytes.NewReader(snap(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Object(manifest.Workflow, canon.Sum(flow), -1, bytes.NewReader(flow)); err != nil {
		t.Fatal(err)
	}
	artifact := bytes.Repeat([]byte("artifact "), 1<<20)
	if err := w.Object(manifest.Artifact, canon.Sum(artifact), -1, bytes.NewReader(artifact)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// file returns a generated bundle on disk, so that it does not count as memory.
func (s size) file(t testing.TB) (*os.File, int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "bundle.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	out := bufio.NewWriterSize(f, 1<<20)
	s.generate(t, out)
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info.Size()
}

func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory: a session of a million events (a tenth of them by default) is opened and read in
// a few megabytes: a row for each object, nothing for each event.
func TestMemory(t *testing.T) {
	events, most := 100_000, int64(3<<20) // of 100 MB
	if sample.Exhaustive() {
		events, most = 1_000_000, 25<<20 // of 1 GB
	}
	f, length := size{events, events / 5, events / 10}.file(t)
	before := live()
	var peak int64
	var next uint64
	b, err := bundle.Open(context.Background(), f, length, bundle.Options{Progress: func(done, total int64) {
		if uint64(done) >= next {
			next += uint64(total) / 40
			peak = max(peak, live())
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	held := live()
	t.Logf("%d MB opened; at most %.1f MB live, %.1f MB held", length>>20, mb(peak-before), mb(held-before))
	if peak-before > most || held-before > most {
		t.Errorf("want at most %d MB", most>>20)
	}
	lines := b.Events("")
	n := 0
	for ; ; n++ {
		if _, err := lines.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for ref := range b.Each(manifest.Snapshot) {
		if _, _, ok := b.Object(manifest.Snapshot, ref); !ok {
			t.Fatal(ref)
		}
	}
	if now := live(); n != events || now-before > most {
		t.Errorf("%d events; %.1f MB", n, mb(now-before))
	}
}

func mb(n int64) float64 { return float64(n) / (1 << 20) }

// TestAllocations: opening allocates nothing for an element, except four times for a
// segment's name.
func TestAllocations(t *testing.T) {
	var out bytes.Buffer
	size{20_000, 4_000, 2_000}.generate(t, &out)
	n := testing.AllocsPerRun(1, func() {
		if _, err := open(out.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
	if n > 4*2_000+500 {
		t.Errorf("%.0f allocations for 20,000 events, 4,000 snapshots and 2,000 segments", n)
	}
}

func BenchmarkOpen(b *testing.B) {
	var out bytes.Buffer
	size{100_000, 20_000, 10_000}.generate(b, &out)
	b.SetBytes(int64(out.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := open(out.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
