package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

var integrityMembers = []member{{name: "entries"}, {name: "kind"}}

func (o *opener) integrity(name string) error {
	if name == "entries" {
		return o.array(o.entry)
	}
	at := o.at()
	kind, err := o.text(nameBytesMax)
	if err == nil && string(kind) != IntegrityKind {
		err = otherKind(kind, at)
	}
	return err
}

// entry is what integrity states about one value.
type entry struct {
	Bytes  int64        `json:"bytes"`
	Path   string       `json:"path"`
	SHA256 canon.Digest `json:"sha256"`
}

// entryBytesMax is more than a path, a digest and a length take.
const entryBytesMax = 1024

// entry reads one entry. Entries are as many as objects and in no one spelling, so
// they are read where they lie; only what is strange there is decoded.
func (o *opener) entry(int64) error {
	o.spell.loose = true
	p, err := o.element(entryBytesMax, objectDepth, entryWatch)
	o.spell.loose = false
	if err != nil {
		return err
	}
	path, okPath := o.spell.string(pathSlot)
	text, _ := o.spell.string(sumSlot)
	sum, okSum := parseReference(text)
	n, okBytes := o.spell.count(bytesSlot)
	if o.spell.members != 3 || !okPath || !okSum || !okBytes {
		var e entry
		if err := canon.Unmarshal(p.line, &e); err != nil {
			return o.refused(err, p.at)
		}
		return o.fail(fault.BundleInvalidFormat, p.at, "bytes is %d: want a count", e.Bytes)
	}
	return o.attest(path, sum, n, p.at)
}

// attest finds the value that an entry is about.
func (o *opener) attest(path []byte, sum reference, n, at int64) error {
	rest, ok := bytes.CutPrefix(path, []byte("session/"))
	if !ok {
		return o.noValue(path, at)
	}
	switch string(rest) {
	case eventsName:
		return o.attestList(&o.b.own.events, sum, n, at)
	case manifestName:
		return o.attestList(&o.b.own.records, sum, n, at)
	}
	section, name, _ := bytes.Cut(rest, []byte{'/'})
	if string(section) == logsName {
		return o.attestLog(path, name, sum, n, at)
	}
	for _, t := range []*table{o.b.snapshots, o.b.workflows, o.b.artifacts} {
		if ref, ok := parseReference(name); ok && string(section) == sectionOf(t.kind) {
			return o.attestObject(t, ref, sum, n, at)
		}
	}
	return o.noValue(path, at)
}

func (o *opener) noValue(path []byte, at int64) error {
	return o.fail(fault.BundleIntegrityFailed, at, "an entry for %q, which the bundle does not hold,", path)
}

func (o *opener) twice(path string, at int64) error {
	return o.fail(fault.BundleIntegrityFailed, at, "a second entry for %s", path)
}

func (o *opener) attestList(l *list, sum reference, n, at int64) error {
	if l.entry.found {
		return o.twice(l.path, at)
	}
	l.entry = attested{true, sum, n}
	return nil
}

func (o *opener) attestLog(path, rest []byte, sum reference, n, at int64) error {
	name, which, _ := bytes.Cut(rest, []byte{'/'})
	l, err := o.log(string(name))
	switch {
	case err != nil:
		return err
	case string(which) == eventsName:
		return o.attestList(&l.events, sum, n, at)
	case string(which) == manifestName:
		return o.attestList(&l.records, sum, n, at)
	}
	return o.noValue(path, at)
}

func (o *opener) attestObject(t *table, ref, sum reference, n, at int64) error {
	r, i := t.get(ref)
	if r.is(listed) {
		return o.twice(objectPath(t.kind, ref), at)
	}
	// A snapshot's digest over its JCS is its name: nothing needs to be kept of it.
	wrong := n > limits.BundleBytesMax || t.kind != manifest.Artifact && sum != ref
	if r.is(embedded) {
		wrong = wrong || int64(r.bytes) != n || t.kind == manifest.Artifact && t.sums[i] != sum
	} else {
		r.bytes = uint32(n)
		if t.kind == manifest.Artifact {
			t.sums[i] = sum
		}
	}
	if wrong {
		return o.fail(fault.BundleIntegrityFailed, at, "the entry for %s has another digest or length than the value",
			objectPath(t.kind, ref))
	}
	r.marks |= listed
	return nil
}

// settle compares what was found with what was stated and needed, and raises what
// waited.
func (o *opener) settle() error {
	logs := []*log{o.b.own}
	for _, name := range slices.Sorted(maps.Keys(o.b.logs)) {
		logs = append(logs, o.b.logs[name])
	}
	for _, l := range logs {
		for _, half := range []*list{&l.events, &l.records} {
			if err := half.compare(); err != nil {
				return err
			}
		}
	}
	for _, t := range []*table{o.b.snapshots, o.b.workflows, o.b.artifacts} {
		if err := o.settleTable(t); err != nil {
			return err
		}
	}
	for _, l := range logs {
		o.settleOrder(l)
	}
	if !o.hasArtifacts {
		o.waiting[missingArtifact] = nil // other programs keep artifacts inside their events
	}
	for _, err := range o.waiting {
		if err != nil {
			return err
		}
	}
	return nil
}

// compare is the integrity of a list.
func (l *list) compare() error {
	const code = fault.BundleIntegrityFailed
	switch {
	case !l.value.found:
		return failAt(code, "/integrity/entries", 0, "an entry for %s, which the bundle does not hold,", l.path)
	case !l.entry.found:
		return failAt(code, "/"+l.path, l.start, "integrity has no entry for %s", l.path)
	case l.value != l.entry:
		return failAt(code, "/"+l.path, l.start, "%s has %d bytes of JCS and the digest %s, integrity states %d and %s",
			l.path,
			l.value.bytes, canon.DigestOf(l.value.sum), l.entry.bytes, canon.DigestOf(l.entry.sum))
	}
	return nil
}

// settleTable is the integrity of objects, and notes those that are missing.
func (o *opener) settleTable(t *table) error {
	why := map[manifest.ObjectKind]reason{
		manifest.Snapshot: missingSnapshot, manifest.Workflow: missingWorkflow, manifest.Artifact: missingArtifact,
	}[t.kind]
	for i := range t.n {
		r := t.row(i)
		switch {
		case r.is(embedded) && !r.is(listed):
			return failAt(fault.BundleIntegrityFailed, objectPointer(t.kind, r.ref), int64(r.at),
				"integrity has no entry for %s", objectPath(t.kind, r.ref))
		case r.is(listed) && !r.is(embedded):
			return failAt(fault.BundleIntegrityFailed, "/integrity/entries", 0,
				"an entry for %s, which the bundle does not hold,", objectPath(t.kind, r.ref))
		case !r.is(embedded):
			path := o.b.own.events.path
			if r.is(byRecord) {
				path = o.b.own.records.path
			}
			o.wait(why, fmt.Sprintf("/%s/%d", path, r.raw), int64(r.at), "the %s %s is named and not embedded", t.kind,
				canon.DigestOf(r.ref))
		}
	}
	t.settle()
	return nil
}

// settleOrder is what can be told of a log's order once all of it was read.
func (o *opener) settleOrder(l *log) {
	session := o.b.env.SessionID
	for why, half := range map[reason]*list{eventOrder: &l.events, manifestOrder: &l.records} {
		if half.count > 0 && half.owner != session {
			o.wait(why, "/"+half.path+"/0", half.start, "sessionId is %.80q: want %q", half.owner, session)
		}
	}
	if l.records.next != l.events.count {
		o.wait(manifestOrder, "/"+l.records.path, l.records.start,
			"the records cover %d events, and the log has %d", l.records.next, l.events.count)
	}
}
