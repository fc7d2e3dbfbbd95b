package manifest_test

import (
	"errors"
	"testing"

	"github.com/waybill/waybill/durable/log/manifest"
)

// For any bytes, Read does not panic, visits events in order, and returns a head from which it can
// continue. readFrom checks that visited events are contiguous and agree with the verdict's head.
func FuzzRead(f *testing.F) {
	base := threeGroups(f)
	plain := plainLog(f, pinnedOnce)
	add := func(m []byte, foreign bool) {
		f.Add(m, base.segs[0].Bytes, base.segs[1].Bytes, base.segs[2].Bytes, foreign)
	}
	add(base.manifest, false)
	add(base.manifest[:len(base.manifest)-3], true)
	add(plain.manifest, false)
	add(plain.manifest, true)
	add(tear(base.manifest, 0, len(base.manifest), 2), false)
	seg := foreignSegment(f, 2, snap(1), "")
	f.Add(base.manifest, base.segs[0].Bytes, seg.Bytes, []byte{}, true)
	f.Fuzz(func(t *testing.T, m, one, two, three []byte, foreign bool) {
		c := &files{log: log, manifest: m, foreign: foreign, segments: map[string][]byte{
			base.segs[0].Name(): one, base.segs[1].Name(): two, base.segs[2].Name(): three,
			"00000002-00000003.jsonl": three,
		}}
		r := c.read(t)
		if r.err != nil {
			t.Fatal(r.err)
		}
		if r.TailBytes > 0 && (r.Damaged() || r.Head.Bytes+r.TailBytes != int64(len(m))) {
			t.Fatalf("tail of %d bytes behind %d of %d, %s", r.TailBytes, r.Head.Bytes, len(m), r.Health)
		}
		if r.Health == manifest.Healthy && r.TailBytes == 0 && r.Head.Bytes != int64(len(m)) {
			t.Fatalf("healthy with %d of %d bytes read", r.Head.Bytes, len(m))
		}
		again := c.readFrom(t, r.Head)
		if errors.Is(again.err, manifest.ErrNotOnChain) && r.Damaged() {
			return // a plain group without its pins: only a reading from the start can judge it
		}
		if again.err != nil || again.Head != r.Head || len(again.events) > 0 {
			t.Fatalf("from its own head: %+v, %v", again.Verdict, again.err)
		}
	})
}
