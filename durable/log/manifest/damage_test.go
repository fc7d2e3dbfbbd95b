package manifest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// judge computes the expected verdict independently (docs/design.md#log-tail), from the original
// groups of f: how many groups the manifest have still commits, and what the rest is, while all
// segments are unchanged.
func judge(f *files, have []byte) (k int, health manifest.Health, codes []manifest.FindingCode) {
	for k < len(f.segs) && bytes.HasPrefix(have, f.manifest[:f.heads[k+1].Bytes]) {
		k++
	}
	rest := have[f.heads[k].Bytes:]
	health = manifest.CorruptTail
	if k == 0 {
		health = manifest.CorruptHead
	}
	if k == len(f.segs) && len(rest) == 0 {
		return k, manifest.Healthy, nil
	}
	if k == len(f.segs) || !couldBeTorn(rest, f.group(k), f.heads[k].Bytes) {
		return k, health, []manifest.FindingCode{manifest.ManifestDamaged}
	}
	if len(rest) > 0 {
		codes = append(codes, manifest.UncommittedTail)
	}
	if len(rest) > 0 || k == 0 {
		codes = append(codes, manifest.OrphanSegment)
	} else { // the loss of exactly one group, which a crash can cause as well
		codes = append(codes, manifest.UncommittedTail)
	}
	if k < len(f.segs)-1 { // a later segment proves that more was committed
		return k, health, append(codes, manifest.LostTail)
	}
	return k, manifest.Healthy, codes
}

// couldBeTorn reports whether each byte is that of the group, or is in a sector that is zero from
// the group's start to the end of the file.
func couldBeTorn(rest, group []byte, at int64) bool {
	if len(rest) > len(group) {
		return false
	}
	zero := map[int64]bool{}
	for i := range rest {
		sector := (at + int64(i)) / manifest.SectorBytes
		if _, seen := zero[sector]; !seen {
			zero[sector] = true
		}
		zero[sector] = zero[sector] && rest[i] == 0
	}
	for i := range rest {
		if rest[i] != group[i] && !zero[(at+int64(i))/manifest.SectorBytes] {
			return false
		}
	}
	return true
}

func (f *files) expectJudged(t testing.TB, have []byte, what string, i int) {
	t.Helper()
	k, health, codes := judge(f, have)
	r := f.with(have).read(t)
	r.isPrefix(t, f, k)
	got := r.codes()
	if len(got) == 1 && (got[0] == manifest.SegmentMissing || got[0] == manifest.SegmentDamaged) {
		got[0] = manifest.ManifestDamaged // a flipped byte in a segment's name, or in its digest
	}
	if r.Health != health || !slices.Equal(got, codes) {
		t.Fatalf("%s %d: got %s %v, want %s %v", what, i, r.Health, r.Findings, health, codes)
	}
	tail := int64(0)
	if health == manifest.Healthy {
		tail = int64(len(have)) - f.heads[k].Bytes
	}
	if r.TailBytes != tail {
		t.Fatalf("%s %d: tail of %d bytes, want %d", what, i, r.TailBytes, tail)
	}
}

func TestEveryTruncationOfTheManifest(t *testing.T) {
	f := threeGroups(t)
	for n := range len(f.manifest) + 1 {
		f.expectJudged(t, f.manifest[:n], "truncated to", n)
	}
}

// Three changes of every byte: its lowest bit, its highest, and all of it to zero, which in a
// sector of one byte a crash can cause as well.
func TestEveryFlippedByteOfTheManifest(t *testing.T) {
	f := threeGroups(t)
	changes := map[string]func(byte) byte{
		"lowest bit of": func(b byte) byte { return b ^ 1 }, "highest bit of": func(b byte) byte { return b ^ 0x80 },
		"zero at": func(byte) byte { return 0 },
	}
	for name, change := range changes {
		for i, b := range f.manifest {
			have := bytes.Clone(f.manifest)
			have[i] = change(b)
			f.expectJudged(t, have, name, i)
		}
	}
}

// A segment that does not have the attested digest is damage from there on; the groups before it
// are valid.
func TestEveryDamageToSegments(t *testing.T) {
	f := threeGroups(t)
	expect := func(k int, change func([]byte) []byte) {
		t.Helper()
		c := f.with(f.manifest)
		c.segments[f.segs[k].Name()] = change(bytes.Clone(f.segs[k].Bytes))
		r := c.read(t)
		r.isPrefix(t, f, k)
		want := manifest.CorruptTail
		if k == 0 {
			want = manifest.CorruptHead
		}
		if r.Health != want || len(r.Findings) != 1 || r.Findings[0].Severity != manifest.SeverityError ||
			r.TailBytes != 0 {
			t.Fatalf("segment %d: %s %v, want %s", k, r.Health, r.Findings, want)
		}
	}
	for k, seg := range f.segs {
		for i := range seg.Bytes {
			expect(k, func(b []byte) []byte { b[i] ^= 1; return b })
			expect(k, func(b []byte) []byte { return b[:i] })
		}
		expect(k, func(b []byte) []byte { return append(b, ' ') })
		expect(k, func(b []byte) []byte { return append(b, '\n') })
		expect(k, func(b []byte) []byte { return append(b, b...) })
	}
}

func TestMissingSegments(t *testing.T) {
	f := threeGroups(t)
	for k, health := range []manifest.Health{manifest.CorruptHead, manifest.CorruptTail, manifest.CorruptTail} {
		c := f.with(f.manifest)
		delete(c.segments, f.segs[k].Name())
		c.read(t).expect(t, f, k, health, manifest.SegmentMissing)
	}
	c := f.with(f.manifest)
	clear(c.segments)
	c.read(t).expect(t, f, 0, manifest.CorruptHead, manifest.SegmentMissing)
}

// A group behind a group of another history with the same sizes is damage, by the chain of digests.
func TestGroupsOfAnotherHistory(t *testing.T) {
	f := threeGroups(t)
	other := write(t, log, plan(0, event.SessionCreated{}, node(1, snap(9))), plan(2, node(2, snap(2))))
	if len(other.group(0)) != len(f.group(0)) {
		t.Fatal("the groups of the two histories differ in size")
	}
	mixed := f.with(slices.Concat(f.group(0), other.group(1)))
	mixed.read(t).expect(t, f, 1, manifest.CorruptTail, manifest.ManifestDamaged)
	swapped := f.with(slices.Concat(f.group(0), f.group(2), f.group(1)))
	swapped.read(t).expect(t, f, 1, manifest.CorruptTail, manifest.ManifestDamaged)
	twice := f.with(slices.Concat(f.manifest, f.group(2)))
	twice.read(t).expect(t, f, 3, manifest.CorruptTail, manifest.ManifestDamaged)
}

// Groups must be contiguous: a group commits nothing if its segment begins at another index, before
// or beyond the next one.
func TestGroupsThatAreNotContiguous(t *testing.T) {
	f := threeGroups(t)
	again := f.with(slices.Concat(f.manifest, manifest.Group(log, f.heads[3], f.segs[2])))
	again.read(t).expect(t, f, 3, manifest.CorruptTail, manifest.ManifestDamaged)

	gap := orphan(t, plan(f.heads[3].Next+1, cancel("x")))
	beyond := f.with(slices.Concat(f.manifest, manifest.Group(log, f.heads[3], gap)))
	beyond.segments[gap.Name()] = gap.Bytes
	beyond.read(t).expect(t, f, 3, manifest.CorruptTail, manifest.ManifestDamaged)
}

// A group with a changed, missing or additional member commits nothing.
func TestChangedMembers(t *testing.T) {
	f := threeGroups(t)
	for _, tt := range []struct{ name, old, new string }{
		{"session", session.String(), "sess_x"},
		{"version", `"v":1`, `"v":2`},
		{"unknown member", `"v":1`, `"v":1,"w":1`},
		{"no count of pins", `"pins":2,`, ``},
		{"another count of pins", `"pins":2`, `"pins":1`},
		{"spelling", `"pins":2`, `"pins": 2`},
		{"path with a directory", `"events/`, `"events/x/`},
		{"path outside", `"events/`, `"../events/`},
	} {
		last := strings.ReplaceAll(string(f.group(2)), tt.old, tt.new)
		if last == string(f.group(2)) {
			t.Fatalf("%s: nothing was changed", tt.name)
		}
		c := f.with(append(bytes.Clone(f.manifest[:f.heads[2].Bytes]), last...))
		r := c.read(t)
		r.expect(t, f, 2, manifest.CorruptTail, manifest.ManifestDamaged)
		if at := r.Findings[0].At; at != f.heads[2].Bytes {
			t.Errorf("%s: damage at %d, want %d", tt.name, at, f.heads[2].Bytes)
		}
	}
}

func TestGarbageManifests(t *testing.T) {
	f := threeGroups(t)
	for name, have := range map[string][]byte{
		"zeros": make([]byte, 2000), "newlines": bytes.Repeat([]byte("\n"), 50), "text": []byte("hello\n"),
		"no newline in 3 MiB": bytes.Repeat([]byte("x"), 3<<20), "arrays": []byte("[]\n[]\n"),
		"deep": bytes.Repeat([]byte("["), 5000),
	} {
		r := f.with(have).read(t)
		r.isPrefix(t, f, 0)
		// Zeros shorter than the first group could result from a crash of the first append, if
		// there were not two segments beyond it.
		if r.Health != manifest.CorruptHead {
			t.Errorf("%s: %s %v", name, r.Health, r.Findings)
		}
	}
}

func TestUnborn(t *testing.T) {
	f := threeGroups(t)
	none := &files{log: log, segments: map[string][]byte{}, heads: []manifest.Head{{}}}
	r := none.read(t)
	r.expect(t, none, 0, manifest.Healthy)
	if !r.Unborn() || r.Damaged() {
		t.Error("an empty log is not unborn")
	}
	none.segments[f.segs[0].Name()] = f.segs[0].Bytes
	r = none.read(t)
	r.expect(t, none, 0, manifest.Healthy, manifest.OrphanSegment)
	if !r.Unborn() || !slices.Equal(r.Orphans, []string{f.segs[0].Name()}) {
		t.Errorf("unborn %v, orphans %v", r.Unborn(), r.Orphans)
	}
	if r := f.read(t); r.Unborn() || r.Damaged() {
		t.Error("a healthy log is unborn or damaged")
	}
}
