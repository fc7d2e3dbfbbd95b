package manifest_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// tornLogs returns logs whose last group spans at least four sectors, at several offsets inside a
// sector: a crash loses whole sectors of the file, not of the group.
func tornLogs(t testing.TB) (out []*files) {
	offsets := map[int64]bool{}
	for before := 0; len(out) < 4; before++ {
		f := write(t, log, plan(0, event.SessionCreated{}))
		next := int64(1)
		for i := range before {
			f.commit(t, plan(next, slices.Repeat([]event.Payload{node(i, snap(byte(i)))}, i%2+1)...))
			next = f.heads[len(f.heads)-1].Next
		}
		f.commit(t, plan(next, node(1, snap(1)), node(2, snap(2)), node(3, snap(1)), node(4, snap(4)),
			node(5, snap(5))))
		at := f.heads[len(f.heads)-2].Bytes % manifest.SectorBytes
		// Quarters of a sector, so that first and last parts have all sizes.
		if quarter := at / 128; !offsets[quarter] {
			offsets[quarter] = true
			out = append(out, f)
		}
	}
	return out
}

// sectors returns the bounds of the parts of a group that are in one sector each, up to length n;
// at is the file offset of the group.
func sectors(at int64, n int) (out [][2]int) {
	for start := 0; start < n; {
		end := min(n, start+manifest.SectorBytes-int((at+int64(start))%manifest.SectorBytes))
		out = append(out, [2]int{start, end})
		start = end
	}
	return out
}

// tear returns the first n bytes of group, with the parts zeroed that are set in mask.
func tear(group []byte, at int64, n int, mask uint) []byte {
	have := bytes.Clone(group[:n])
	for i, part := range sectors(at, n) {
		if mask&(1<<i) != 0 {
			clear(have[part[0]:part[1]])
		}
	}
	return have
}

// readTail reads a log whose last group is replaced by tail, from the head before it.
func (f *files) readTail(t testing.TB, tail []byte) reading {
	t.Helper()
	head := f.heads[len(f.heads)-2]
	return f.with(append(bytes.Clone(f.manifest[:head.Bytes]), tail...)).readFrom(t, head)
}

// The last group after a crash, of any length and with any whole sectors lost, is an uncommitted
// tail and no other finding: it was never acknowledged.
func TestEveryTornLastGroup(t *testing.T) {
	for _, f := range tornLogs(t) {
		k := len(f.segs) - 1
		group, at := f.group(k), f.heads[k].Bytes
		if n := len(sectors(at, len(group))); n < 4 {
			t.Fatalf("the group spans %d sectors", n)
		}
		for _, n := range tornLengths(group, at) {
			for mask := range uint(1) << len(sectors(at, n)) {
				tail := tear(group, at, n, mask)
				r := f.readTail(t, tail)
				if bytes.Equal(tail, group) {
					if r.Health != manifest.Healthy || r.Head != f.heads[k+1] || len(r.Findings) > 0 {
						t.Fatalf("offset %d: the whole group is %s %v", at, r.Health, r.Findings)
					}
					continue
				}
				if r.err != nil || r.Health != manifest.Healthy || r.Head != f.heads[k] || r.TailBytes != int64(n) ||
					len(r.events) > 0 ||
					!slices.Contains(r.codes(), manifest.UncommittedTail) || r.Findings[0].At != at {
					t.Fatalf("offset %d, %d bytes, sectors %b lost: %s %v, tail of %d bytes, %v", at, n, mask, r.Health,
						r.Findings, r.TailBytes, r.err)
				}
			}
		}
	}
}

// tornLengths returns all lengths around the bounds of sectors and lines, and some between.
// torn_internal_test.go tests every length.
func tornLengths(group []byte, at int64) (out []int) {
	bounds := []int{1, len(group)}
	for _, part := range sectors(at, len(group)) {
		bounds = append(bounds, part[1])
	}
	for i, b := range group {
		if b == '\n' {
			bounds = append(bounds, i)
		}
	}
	for _, b := range bounds {
		for n := b - 1; n <= b+1; n++ {
			if n > 0 && n <= len(group) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A torn group with one byte that a crash cannot leave is damage: it may have been acknowledged,
// and must not be truncated.
func TestFlippedByteInTornGroupIsDamage(t *testing.T) {
	f := tornLogs(t)[1]
	k := len(f.segs) - 1
	group, at := f.group(k), f.heads[k].Bytes
	cases := sample.OneIn(t, 4)
	for _, n := range []int{len(group), len(group) - 1, 700} {
		for _, mask := range []uint{0, 5} {
			tail := tear(group, at, n, mask)
			for i := range cases.Of(len(tail)) {
				flipped := bytes.Clone(tail)
				flipped[i] ^= 0x20
				if couldBeTorn(flipped, group, at) {
					continue // the flip restored a sector, or zeroed one of a single byte
				}
				r := f.readTail(t, flipped)
				if r.err != nil || r.Health != manifest.CorruptTail || r.TailBytes != 0 || r.Head != f.heads[k] ||
					len(r.events) > 0 {
					t.Fatalf("%d bytes, sectors %b lost, byte %d flipped: %s %v", n, mask, i, r.Health, r.Findings)
				}
			}
		}
	}
}

// Bytes beyond the length of the last group are damage: one append is one group.
func TestBytesBeyondTornGroupAreDamage(t *testing.T) {
	f := tornLogs(t)[0]
	k := len(f.segs) - 1
	group := f.group(k)
	for _, extra := range []string{"\n", "\x00", "{}\n"} {
		torn := append(tear(group, f.heads[k].Bytes, len(group), 1), extra...)
		if r := f.readTail(t, torn); r.Health != manifest.CorruptTail {
			t.Errorf("torn group and %q: %s %v", extra, r.Health, r.Findings)
		}
		whole := append(bytes.Clone(group), extra...)
		r := f.readTail(t, whole)
		if r.Health != manifest.CorruptTail || r.Head != f.heads[k+1] {
			t.Errorf("whole group and %q: %s %v", extra, r.Health, r.Findings)
		}
	}
}

// A session whose first append was torn is unborn.
func TestTornFirstGroup(t *testing.T) {
	f := write(t, log, plan(0, event.SessionCreated{}, node(1, snap(1))))
	for n := 1; n < len(f.manifest); n++ {
		for mask := range uint(1) << len(sectors(0, n)) {
			r := f.with(tear(f.manifest, 0, n, mask)).read(t)
			r.expect(t, f, 0, manifest.Healthy, manifest.UncommittedTail, manifest.OrphanSegment)
			if !r.Unborn() || r.TailBytes != int64(n) {
				t.Fatalf("%d bytes: unborn %v, tail of %d bytes", n, r.Unborn(), r.TailBytes)
			}
		}
	}
}
