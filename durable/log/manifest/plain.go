package manifest

import (
	"bytes"
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// plain looks for a group as the locks alone have it, without pins and prev:
// other programs write such, and pin a snapshot only when it is new. It is good
// when spelling it from its segment gives the same bytes.
func (r *reader) plain(candidates []candidate) (candidate, bool, error) {
	for _, c := range candidates {
		if r.pinned == nil {
			r.pinned = map[canon.Digest]bool{}
		}
		pins := r.newPins(c.seg)
		group := r.plainGroup(c.seg, pins)
		have, err := r.peek(len(group))
		if err != nil {
			return candidate{}, false, err
		}
		ok := bytes.Equal(have, group)
		if !ok && r.in.Foreign {
			if group, ok, err = r.lenient(c.seg, pins); err != nil {
				return candidate{}, false, err
			}
		}
		if ok {
			for _, p := range pins {
				r.pinned[p.ref] = true
			}
			return candidate{c.seg, group}, true, nil
		}
	}
	if !r.in.From.IsZero() && r.closesPlainly(candidates) {
		return candidate{}, false, ErrNotOnChain
	}
	return candidate{}, false, nil
}

// closesPlainly reports a plain group with fewer pins than its segment has: only
// a reading from the start knows whether the others were pinned before.
func (r *reader) closesPlainly(candidates []candidate) bool {
	line, err := r.peekLine()
	return err == nil && slices.ContainsFunc(candidates, func(c candidate) bool {
		closed, ok := r.attests(line, c.seg)
		_, counted := closed.Get("pins")
		_, chained := closed.Get("prev")
		return ok && !counted && !chained
	})
}

// newPins leaves out what an earlier plain group of this reading has pinned.
func (r *reader) newPins(seg Segment) []pin {
	var out []pin
	fresh := map[canon.Digest]bool{}
	for _, p := range seg.pins() {
		if !r.pinned[p.ref] && !fresh[p.ref] {
			fresh[p.ref] = true
			out = append(out, p)
		}
	}
	return out
}

func (r *reader) plainGroup(seg Segment, pins []pin) []byte {
	sum := canon.Sum(seg.Bytes)
	// A plain group may also pin again what is pinned; both spellings are tried.
	all := appendGroup(r.in.Log, r.v.Head, seg, sum, seg.pins(), false)
	if have, err := r.peek(len(all)); err == nil && bytes.Equal(have, all) {
		return all
	}
	return appendGroup(r.in.Log, r.v.Head, seg, sum, pins, false)
}

// lenient reads a group of another program, with members we do not know. Bounds,
// digest, pins and, where they are given, their number and the chain must hold
// all the same; the log is then of unknown version.
func (r *reader) lenient(seg Segment, pins []pin) ([]byte, bool, error) {
	line, err := r.peekLine()
	if err != nil {
		return nil, false, err
	}
	closed, ok := r.attests(line, seg)
	if !ok {
		return nil, false, nil
	}
	group := bytes.Clone(line)
	missing := map[canon.Digest]bool{}
	for _, p := range pins {
		missing[p.ref] = true
	}
	found := 0
	for ; ; found++ {
		have, err := r.peek(len(group) + 4096)
		if err != nil {
			return nil, false, err
		}
		next, _, whole := bytes.Cut(have[min(len(group), len(have)):], []byte{'\n'})
		ref, isPin := pinOf(next)
		if !whole || !isPin {
			break
		}
		delete(missing, ref)
		group = append(append(group, next...), '\n')
	}
	if count, ok := closed.Get("pins"); len(missing) > 0 || ok && count.Float() != float64(found) {
		return nil, false, nil
	}
	if r.v.Health != UnknownVersion {
		r.v.Health = UnknownVersion
		r.v.Findings = append(r.v.Findings,
			NewFinding(UnknownEvents, r.in.Log.Root,
				"the manifest has members that this version does not know, from byte %d on", r.v.Head.Bytes))
	}
	return group, true, nil
}

// attests reports whether a line closes seg behind the head, whatever else it
// says; a chained one must name the group before.
func (r *reader) attests(line []byte, seg Segment) (closed canon.Value, ok bool) {
	v, err := canon.Parse(line)
	if err != nil {
		return v, false
	}
	text := func(name string) string { m, _ := v.Get(name); return m.Text() }
	number := func(name string) float64 { m, _ := v.Get(name); return m.Float() }
	_, chained := v.Get("prev")
	return v, text("kind") == KindSegmentClosed && text("sha256") == canon.Sum(seg.Bytes).String() &&
		number("bytes") == float64(len(seg.Bytes)) &&
		number("firstEventIndex") == float64(seg.First) && number("lastEventIndex") == float64(seg.Last) &&
		(!chained || text("prev") == r.v.Head.Digest.String())
}

func pinOf(line []byte) (canon.Digest, bool) {
	v, err := canon.Parse(line)
	if err != nil {
		return canon.Digest{}, false
	}
	kind, _ := v.Get("kind")
	ref, _ := v.Get("snapshotRef")
	d, err := canon.ParseDigest(ref.Text())
	return d, err == nil && kind.Text() == KindSnapshotPinned
}
