package manifest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// matchPlain reports whether the group of c is next in the manifest without the members pins and
// prev. Other programs write such groups, and pin a snapshot only when it is new
// (docs/decisions/0006-unknown-manifest-members-are-damage.md). The group is valid if
// encoding it from its segment gives the same bytes, or, with Input.Foreign, if matchLenient accepts it.
func (r *reader) matchPlain(c candidate) (group []byte, ok bool, err error) {
	pins := r.newPins(c.seg)
	// Some programs repeat pins of earlier groups.
	for _, written := range [][]pin{c.pins, pins} {
		group = appendGroup(nil, r.in.Log, r.v.Head, c.attestation, written, false)
		have, err := r.peek(len(group))
		if err != nil {
			return nil, false, err
		}
		if ok = bytes.Equal(have, group); ok {
			break
		}
	}
	if !ok && r.in.Foreign {
		if group, ok, err = r.matchLenient(c.attestation, pins); err != nil {
			return nil, false, err
		}
	}
	if ok {
		for _, p := range pins {
			r.pinned[p.ref] = true
		}
	}
	return group, ok, nil
}

// attestsPlain reports that the next group is a plain one that attests a candidate, although its
// pins do not match. Only a reading from the start knows which snapshots earlier groups pinned.
func (r *reader) attestsPlain(candidates []candidate) bool {
	line, err := r.peekLine(0)
	rec := recordOf(line)
	plain := !rec.has("pins") && !rec.has("prev")
	return err == nil && plain &&
		slices.ContainsFunc(candidates, func(c candidate) bool { return r.attests(rec, c.attestation) })
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

// matchLenient reads a group of another program that has unknown members. Its event bounds,
// digest and pins must be correct, and so must the number of pins and the chain where the group
// states them. The health of the log becomes UnknownVersion, so that nothing is written to it.
func (r *reader) matchLenient(a attestation, pins []pin) ([]byte, bool, error) {
	line, err := r.peekLine(0)
	rec := recordOf(line)
	if err != nil || !r.attests(rec, a) {
		return nil, false, err
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
		pinned := recordOf(next)
		ref, err := canon.ParseDigest(pinned.text("snapshotRef"))
		if !whole || err != nil || pinned.text("kind") != KindSnapshotPinned {
			break
		}
		delete(missing, ref)
		group = append(append(group, next...), '\n')
	}
	if len(missing) > 0 || rec.has("pins") && rec.number("pins") != float64(found) {
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

// attests reports whether a record closes the segment of a after the head, ignoring its other
// members. A record with prev must name the preceding group.
func (r *reader) attests(rec record, a attestation) bool {
	return rec.text("kind") == KindSegmentClosed && rec.text("sha256") == a.sum.String() &&
		rec.number("bytes") == float64(a.bytes) &&
		rec.number("firstEventIndex") == float64(a.first) && rec.number("lastEventIndex") == float64(a.last) &&
		(!rec.has("prev") || rec.text("prev") == r.v.Head.Digest.String())
}

// record is a line of the manifest as any program may have written it.
type record struct{ members canon.Value }

// recordOf parses a line; one that is not JSON gives a record without members.
func recordOf(line []byte) record {
	v, err := canon.Parse(line)
	if err != nil {
		return record{}
	}
	return record{v}
}

// text returns a member that is a string, "" for any other.
func (r record) text(name string) string { m, _ := r.members.Get(name); return m.Text() }

// number returns a member that is a number, 0 for any other.
func (r record) number(name string) float64 { m, _ := r.members.Get(name); return m.Float() }

func (r record) has(name string) bool { _, ok := r.members.Get(name); return ok }

// segment returns the file name of the segment that the record names, "" for none.
func (r record) segment() string {
	name, ok := strings.CutPrefix(r.text("segmentRelPath"), SegmentDir+"/")
	if !ok {
		return ""
	}
	return name
}
