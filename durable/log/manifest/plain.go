package manifest

import (
	"bytes"
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// matchPlain returns the candidate whose group is next in the manifest without the members pins and
// prev. Other programs write such groups, and pin a snapshot only when it is new
// (docs/decisions/0006-unknown-manifest-members-are-damage.md). The group is valid if
// encoding it from its segment gives the same bytes, or, with Input.Foreign, if matchLenient accepts it.
func (r *reader) matchPlain(candidates []candidate) (candidate, bool, error) {
	for _, c := range candidates {
		if r.pinned == nil {
			r.pinned = map[canon.Digest]bool{}
		}
		pins := r.newPins(c.seg)
		group := r.plainGroupOf(c.seg, pins)
		have, err := r.peek(len(group))
		if err != nil {
			return candidate{}, false, err
		}
		ok := bytes.Equal(have, group)
		if !ok && r.in.Foreign {
			if group, ok, err = r.matchLenient(c.seg, pins); err != nil {
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
	if !r.in.From.IsZero() && r.attestsPlain(candidates) {
		return candidate{}, false, ErrNotOnChain
	}
	return candidate{}, false, nil
}

// attestsPlain reports that the next group is a plain one that attests a candidate, although its
// pins do not match. Only a reading from the start knows which snapshots earlier groups pinned.
func (r *reader) attestsPlain(candidates []candidate) bool {
	line, err := r.peekLine()
	return err == nil && slices.ContainsFunc(candidates, func(c candidate) bool {
		closed, ok := r.attests(line, c.seg)
		_, counted := closed.Get("pins")
		_, chained := closed.Get("prev")
		return ok && !counted && !chained
	})
}

// newPins returns the pins of seg without repetitions, and without those that an earlier plain
// group of this reading has.
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

// plainGroupOf returns the plain group of seg after the head: with all its pins if the manifest has
// those, else with the given ones.
func (r *reader) plainGroupOf(seg Segment, pins []pin) []byte {
	sum := canon.Sum(seg.Bytes)
	// Some programs repeat pins of earlier groups.
	all := appendGroup(r.in.Log, r.v.Head, seg, sum, seg.pins(), false)
	if have, err := r.peek(len(all)); err == nil && bytes.Equal(have, all) {
		return all
	}
	return appendGroup(r.in.Log, r.v.Head, seg, sum, pins, false)
}

// matchLenient reads a group of another program that has unknown members. Its event bounds,
// digest and pins must be correct, and so must the number of pins and the chain where the group
// states them. The health of the log becomes UnknownVersion, so that nothing is written to it.
func (r *reader) matchLenient(seg Segment, pins []pin) ([]byte, bool, error) {
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

// attests reports whether a line closes seg after the head, ignoring its other members. A line with
// prev must name the preceding group. closed is the parsed line.
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

// pinOf returns the snapshot of a line that looks like a snapshot_pinned record.
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
