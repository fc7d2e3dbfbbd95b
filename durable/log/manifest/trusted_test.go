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
)

// trustedLog has six groups, one of them with two pins.
func trustedLog(t *testing.T) *files {
	t.Helper()
	plans := [][]event.Event{plan(0, event.SessionCreated{})}
	for i := range 5 {
		first := int64(len(plans)*2 - 1)
		plans = append(plans, plan(first, node(i, snap(byte(2*i))), node(i, snap(byte(2*i+1)))))
	}
	return write(t, log, plans...)
}

// passedSegment is a segment without its events, as text, and the head behind it.
type passedSegment struct {
	first, last  int64
	bytes, group string
	decoded      bool
	head         manifest.Head
	sum          canon.Digest
	size         int64
}

func (f *files) passed(in manifest.Input) (all []passedSegment, v manifest.Verdict, err error) {
	all, _, v, err = f.passedEvents(in)
	return all, v, err
}

// passedEvents is passed with the events of the segments.
func (f *files) passedEvents(in manifest.Input) (all []passedSegment, events []event.Event, v manifest.Verdict, err error) {
	v, err = manifest.Read(in, func(seg manifest.Segment, head manifest.Head) error {
		events = append(events, seg.Events...)
		all = append(all, passedSegment{seg.First, seg.Last, string(seg.Bytes), string(seg.Group), seg.Events != nil, head, seg.Sum, seg.Size})
		return nil
	})
	return all, events, v, err
}

// TestTrustedSegmentsAreNotDecoded: up to a trusted head the segments are the same but for their events, whether they
// are read ahead or not; the verdict is the same.
func TestTrustedSegmentsAreNotDecoded(t *testing.T) {
	f := trustedLog(t)
	want, wantV, err := f.passed(f.input(0))
	if err != nil {
		t.Fatal(err)
	}
	for k, trusted := range f.heads {
		in := f.input(1 << 20)
		in.Trusted = trusted
		got, v, err := f.passed(in)
		if err != nil || !reflect.DeepEqual(v, wantV) || len(got) != len(want) {
			t.Fatalf("trusted up to group %d: %d segments, %+v, %v", k, len(got), v, err)
		}
		for i := range got {
			// The last group of a log has no next one that attests its pins.
			if decoded := i >= k || i == len(got)-1; got[i].decoded != decoded {
				t.Errorf("trusted up to group %d: segment %d decoded is %v", k, i, got[i].decoded)
			}
			if got[i].decoded = true; got[i] != want[i] {
				t.Errorf("trusted up to group %d: segment %d differs:\n%+v\n%+v", k, i, got[i], want[i])
			}
		}
	}
}

// TestTrustedEventsAreTheSame: events of trusted segments are those of a reading that checks them, on one goroutine and on
// several, and do not share the memory that is released, nor do those of other segments; none has bytes. A segment of which
// OpenTrusted returns a part is read by Open.
func TestTrustedEventsAreTheSame(t *testing.T) {
	f := trustedLog(t)
	want, wantEvents, wantV, err := f.passedEvents(f.input(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, prefetch := range []int64{0, 1 << 20} {
		for k, trusted := range f.heads {
			in := f.input(prefetch)
			in.Trusted, in.TrustedEvents = trusted, true
			open, part := in.Open, manifest.SegmentName(want[1].first, want[1].last)
			in.Open = func(name string) ([]byte, bool, error) {
				data, ok, err := open(name)
				return bytes.Clone(data), ok, err
			}
			in.OpenTrusted = func(name string) ([]byte, bool, error) {
				data, ok, err := open(name)
				if name == part {
					data = data[:len(data)-1]
				}
				return bytes.Clone(data), ok, err
			}
			released := 0
			in.Release = func(data []byte) { clear(data); released++ }
			got, events, v, err := f.passedEvents(in)
			if err != nil {
				t.Fatal(err)
			}
			if again := k > 1; released < len(got) || (released > len(got)) != again {
				t.Errorf("trusted up to group %d: %d buffers are released for %d segments", k, released, len(got))
			}
			for i := range got {
				if got[i].bytes != "" || canon.Sum([]byte(want[i].bytes)) != got[i].sum || int64(len(want[i].bytes)) != got[i].size {
					t.Errorf("trusted up to group %d: segment %d: %+v", k, i, got[i])
				}
				got[i].bytes = want[i].bytes
			}
			if !reflect.DeepEqual(v, wantV) || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(events, wantEvents) {
				t.Errorf("trusted up to group %d: %d segments, %d events, %+v", k, len(got), len(events), v)
			}
		}
	}
}

// TestTrustIsCheckedAgainstTheChain: a reading that trusts a head which the log does not have says so.
func TestTrustIsCheckedAgainstTheChain(t *testing.T) {
	f := trustedLog(t)
	for k := 1; k < len(f.heads); k++ {
		for _, change := range []func(h *manifest.Head){
			func(h *manifest.Head) { h.Digest = canon.Sum(nil) },
			func(h *manifest.Head) { h.Next++ },
			func(h *manifest.Head) { h.Next += 100 },
			func(h *manifest.Head) { h.Bytes++ },
		} {
			in := f.input(0)
			in.Trusted = f.heads[k]
			change(&in.Trusted)
			if _, _, err := f.passed(in); !errors.Is(err, manifest.ErrNotOnChain) {
				t.Errorf("a changed head of group %d: %v", k, err)
			}
		}
	}
}

// TestTrustHidesNoDamage: with any changed byte a reading that trusts a head has the verdict of one that does not, or
// reports that it cannot tell.
func TestTrustHidesNoDamage(t *testing.T) {
	f := trustedLog(t)
	for k, trusted := range f.heads {
		check := func(what string, i int) {
			want, wantV, err := f.passed(f.input(0))
			if err != nil {
				t.Fatal(err)
			}
			in := f.input(0)
			in.Trusted, in.TrustedEvents = trusted, i%2 == 0
			got, v, err := f.passed(in)
			if errors.Is(err, manifest.ErrNotOnChain) && wantV.Head.Next < trusted.Next {
				return
			}
			if err != nil || !reflect.DeepEqual(v, wantV) || len(got) != len(want) {
				t.Fatalf("group %d, byte %d of %s: %+v where it is %+v, %v", k, i, what, v, wantV, err)
			}
		}
		flip := func(what string, data []byte) {
			for i := k % 31; i < len(data); i += 31 {
				data[i] ^= 0x20
				check(what, i)
				data[i] ^= 0x20
			}
		}
		flip("the manifest", f.manifest)
		for _, name := range slices.Sorted(maps.Keys(f.segments)) {
			f.segments[name] = bytes.Clone(f.segments[name])
			flip(name, f.segments[name])
		}
	}
}

// TestEventsOfSegmentAreValidUntilNextIsPassed: their memory is used for those of a later one, of which a fold keeps none.
func TestEventsOfSegmentAreValidUntilNextIsPassed(t *testing.T) {
	f := long(t)
	_, _, want := f.decoded(t, 0)
	in := f.input(1 << 20)
	in.Trusted, in.TrustedEvents = f.heads[len(f.heads)-1], true
	lists, seen := map[*event.Event]bool{}, 0
	var before []event.Event
	_, err := manifest.Read(in, func(seg manifest.Segment, _ manifest.Head) error {
		if !reflect.DeepEqual(seg.Events, want[seen].Events) {
			t.Errorf("the events of segment %d are not those of the log", seen)
		}
		if seen > 0 && !reflect.DeepEqual(before, want[seen-1].Events) {
			t.Errorf("the events of segment %d changed while the next one was passed", seen-1)
		}
		before = seg.Events
		lists[&seg.Events[0]] = true
		seen++
		return nil
	})
	if err != nil || seen != len(f.segs) {
		t.Fatal(seen, err)
	}
	if !reflect.DeepEqual(before, want[seen-1].Events) {
		t.Error("the events of the last segment changed")
	}
	if len(lists) > seen*9/10 {
		t.Errorf("%d lists of events for %d segments", len(lists), seen)
	}
}
