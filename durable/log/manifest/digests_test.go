package manifest_test

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/sample"
	"pgregory.net/rapid"
)

// input returns the files of the log; ahead is Input.PrefetchBytes.
func (f *files) input(ahead int64) manifest.Input {
	return manifest.Input{
		Log: f.log, Manifest: bytes.NewReader(f.manifest), Foreign: f.foreign, PrefetchBytes: ahead,
		Names: func() ([]string, error) { return slices.Sorted(maps.Keys(f.segments)), nil },
		Open:  func(name string) ([]byte, bool, error) { data, ok := f.segments[name]; return data, ok, nil },
		Hash: func(name string) (canon.Digest, int64, bool, error) {
			data, ok := f.segments[name]
			return canon.Sum(data), int64(len(data)), ok, nil
		},
	}
}

// pinned is the head after a group, and the snapshots that the group pins.
type pinned struct {
	head manifest.Head
	pins []canon.Digest
}

func (f *files) decoded(t testing.TB, ahead int64) (v manifest.Verdict, groups []pinned, segs []manifest.Segment) {
	t.Helper()
	v, err := manifest.Read(f.input(ahead), func(seg manifest.Segment, head manifest.Head) error {
		var pins []canon.Digest
		for _, e := range seg.Events {
			if p, ok := e.Data.(event.Pinner); ok {
				pins = append(pins, p.Pin())
			}
		}
		groups, segs = append(groups, pinned{head, pins}), append(segs, seg)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v, groups, segs
}

// checkDigestsAgree checks that Digests and Read have equal verdicts and groups.
func (f *files) checkDigestsAgree(t testing.TB, what string, i int) {
	t.Helper()
	want, groups, _ := f.decoded(t, 0)
	var got []pinned
	v, err := manifest.Digests(f.input(0), func(pins []canon.Digest, head manifest.Head) error {
		got = append(got, pinned{head, slices.Clone(pins)})
		return nil
	})
	if err == nil && v.Damaged() && want.Damaged() && v.Head.Next >= want.Head.Next && len(got) <= len(groups)+1 {
		return // Digests finds a changed pin at the next group
	}
	if err != nil || !reflect.DeepEqual(v, want) || !reflect.DeepEqual(got, groups) {
		t.Fatalf("%s %d: by digests %+v %+v, %v\ndecoded %+v %+v", what, i, v, got, err, want, groups)
	}
}

// Digests and Read agree on every truncation and every flipped bit of a small log.
func TestDigestsAgreesWithRead(t *testing.T) {
	f := threeGroups(t)
	f.checkDigestsAgree(t, "as it is", 0)
	cases := sample.OneIn(t, 4)
	for i := range cases.Of(len(f.manifest)) {
		f.with(f.manifest[:i]).checkDigestsAgree(t, "manifest cut at", i)
		for _, bit := range []byte{1, 0x80} {
			have := bytes.Clone(f.manifest)
			have[i] ^= bit
			f.with(have).checkDigestsAgree(t, "manifest flipped at", i)
		}
	}
	for k, seg := range f.segs {
		for i := range cases.Of(len(seg.Bytes)) {
			for _, changed := range [][]byte{seg.Bytes[:i], slices.Concat(seg.Bytes[:i], []byte{seg.Bytes[i] ^ 1},
				seg.Bytes[i+1:])} {
				c := f.with(f.manifest)
				c.segments[seg.Name()] = changed
				c.checkDigestsAgree(t, "segment", k*100_000+i)
			}
		}
	}
	for _, form := range []*files{plainLog(t, pinnedOnce), f.with(nil)} {
		form.checkDigestsAgree(t, "form", 0)
	}
}

// long returns a log that is large enough for prefetching, with some segments that are large enough
// to be decoded in parallel.
func long(t testing.TB) *files {
	f := &files{log: log, segments: map[string][]byte{}, heads: []manifest.Head{{}}}
	next := int64(0)
	for k := range 160 {
		n := 3 + k%5
		if k%40 == 39 {
			n = 900
		}
		p := plan(next)
		for i := range n {
			p = append(p, plan(next+int64(i), node(1, snap(byte(k))))...)
		}
		f.commit(t, p)
		next += int64(n)
	}
	return f
}

// The result of a reading does not depend on prefetching.
func TestPrefetchDoesNotChangeResult(t *testing.T) {
	whole := long(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := whole.with(bytes.Clone(whole.manifest))
		switch k := rapid.IntRange(0, len(f.segs)-1).Draw(rt, "segment"); rapid.IntRange(0, 6).Draw(rt, "damage") {
		case 1:
			delete(f.segments, f.segs[k].Name())
		case 2:
			f.segments[f.segs[k].Name()] = f.segs[k].Bytes[:len(f.segs[k].Bytes)/2]
		case 3:
			b := bytes.Clone(f.segs[k].Bytes)
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "byte")] ^= 4
			f.segments[f.segs[k].Name()] = b
		case 4:
			f.manifest[rapid.IntRange(0, len(f.manifest)-1).Draw(rt, "byte")] ^= 4
		case 5:
			f.manifest = f.manifest[:rapid.IntRange(0, len(f.manifest)).Draw(rt, "length")]
		case 6: // a line that states a size below that of its segment
			f.manifest = bytes.Replace(f.manifest, []byte(`{"bytes":`), []byte(`{"bytes":0,"x":`), k)
		}
		f.foreign = rapid.Bool().Draw(rt, "foreign")
		want, groups, segs := f.decoded(t, 0)
		got, same, ahead := f.decoded(t, rapid.SampledFrom([]int64{1, 1 << 12, 1 << 20}).Draw(rt, "ahead"))
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(same, groups) || !reflect.DeepEqual(ahead, segs) {
			rt.Fatalf("ahead %+v\nin order %+v", got, want)
		}
	})
}

// No file is opened after Read has returned, and errors of Input are returned in order.
func TestPrefetchEndsWithRead(t *testing.T) {
	f := long(t)
	broken := errors.New("input/output error")
	bad := f.segs[100].Name()
	in := f.input(1 << 20)
	open := in.Open
	in.Open = func(name string) ([]byte, bool, error) {
		if name >= bad {
			return nil, false, broken
		}
		return open(name)
	}
	visited := 0
	_, err := manifest.Read(in, func(manifest.Segment, manifest.Head) error { visited++; return nil })
	if !errors.Is(err, broken) || visited != 100 {
		t.Errorf("%d segments visited, %v", visited, err)
	}
	stop := errors.New("enough")
	visited = 0
	_, err = manifest.Read(f.input(1<<20), func(manifest.Segment, manifest.Head) error {
		if visited++; visited == 110 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || visited != 110 {
		t.Errorf("%d segments visited, %v", visited, err)
	}
}

// The groups that appendGroup writes by hand have the bytes of their encoded records.
func TestGroupMatchesEncodedRecords(t *testing.T) {
	f := threeGroups(t)
	for k := range f.segs {
		for _, line := range bytes.SplitAfter(f.group(k), []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			line = line[:len(line)-1]
			var closed manifest.SegmentClosed
			var pin manifest.SnapshotPinned
			if canon.UnmarshalExact(line, &closed) != nil && canon.UnmarshalExact(line, &pin) != nil {
				t.Errorf("no record is encoded as %s", line)
			}
		}
	}
}
