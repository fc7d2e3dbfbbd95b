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

// integrityMembers are the members of "integrity", all required.
var integrityMembers = []member{{name: "entries"}, {name: "kind"}}

// integrity reads one member of "integrity".
func (o *opener) integrity(name string) {
	if name == "entries" {
		o.array(o.entry)
		return
	}
	// Another kind of integrity could have any entries: report the kind first.
	at := o.at()
	if kind := o.text(nameBytesMax); string(kind) != IntegrityKind {
		o.stop(otherKind(kind, at))
	}
}

// entry states the digest and length of one value.
type entry struct {
	Bytes  int64        `json:"bytes"`
	Path   string       `json:"path"`
	SHA256 canon.Digest `json:"sha256"`
}

// entryBytesMax is more than a path, a digest and a length require.
const entryBytesMax = 1024

// entry reads one entry of integrity. Entries are as numerous as objects and need not be
// canonical, so they are decoded in place; the strict decoder runs only on invalid ones, for
// its error.
func (o *opener) entry(int64) {
	// No other watched element is hashed less strictly: only entries may have any member
	// order.
	o.parts.AnyOrder = true
	p := o.element(entryBytesMax, objectDepth, entryWatch)
	o.parts.AnyOrder = false
	path, okPath := o.parts.string(pathSlot)
	text, _ := o.parts.string(sumSlot)
	sum, okSum := parseReference(text)
	n, okBytes := o.parts.count(bytesSlot)
	switch {
	case o.err != nil:
	// The three watched members and no other.
	case o.parts.Members == 3 && okPath && okSum && okBytes:
		o.checkEntry(path, listDigest{true, sum, n}, p.at)
	default:
		var e entry
		if err := canon.Unmarshal(p.line, &e); err != nil {
			// The strict decoder names the unknown or missing member.
			o.refused(err, p.at)
		}
		o.fail(fault.BundleInvalidFormat, p.at, "bytes is %d: want a count", e.Bytes)
	}
}

// checkEntry finds the value that an entry names and compares or stores the statement.
func (o *opener) checkEntry(path []byte, stated listDigest, at int64) {
	// All paths are below session/.
	rest, ok := bytes.CutPrefix(path, []byte("session/"))
	section, name, _ := bytes.Cut(rest, []byte{'/'})
	l := o.b.own
	switch ref, isRef := parseReference(name); {
	case !ok:
		o.noValue(path, at)
		return
	case isRef:
		for _, t := range o.b.tables {
			if string(section) == t.name {
				o.checkObjectEntry(t, ref, stated, at)
				return
			}
		}
	case string(section) == logsName:
		// Integrity may precede session, so the log may be unknown yet.
		name, rest, _ = bytes.Cut(name, []byte{'/'})
		if l, ok = o.log(string(name)); !ok {
			return
		}
	}
	switch string(rest) {
	case eventsName:
		o.checkListEntry(&l.events, stated, at)
	case manifestName:
		o.checkListEntry(&l.records, stated, at)
	default:
		o.noValue(path, at)
	}
}

// noValue stops with the fault for an entry without a value.
func (o *opener) noValue(path []byte, at int64) {
	o.fail(fault.BundleIntegrityFailed, at, "an entry for %q, which is not in the bundle", path)
}

// twice stops with the fault for a repeated entry.
func (o *opener) twice(path string, at int64) {
	o.fail(fault.BundleIntegrityFailed, at, "a second entry for %s", path)
}

// checkListEntry stores the statement about a list; compare compares it later.
func (o *opener) checkListEntry(l *list, stated listDigest, at int64) {
	if l.entry.found {
		o.twice(l.path, at)
	}
	l.entry = stated
}

// checkObjectEntry compares the entry of an object with its value, or stores the statement if
// the value has not been read yet.
func (o *opener) checkObjectEntry(t *table, ref reference, stated listDigest, at int64) {
	r, i := t.get(ref)
	// Two statements about one object could differ.
	if r.is(listed) {
		o.twice(objectPath(t.kind, ref), at)
	}
	// The name of a snapshot or workflow is the digest of its canonical JSON: it need not be
	// stored again.
	wrong := stated.bytes > limits.BundleBytesMax || t.kind != manifest.Artifact && stated.sum != ref
	// The value was read before: compare. Otherwise keep the statement for embed.
	if r.is(embedded) {
		wrong = wrong || int64(r.bytes) != stated.bytes || t.kind == manifest.Artifact && t.sums[i] != stated.sum
	} else {
		r.bytes = uint32(stated.bytes)
		if t.kind == manifest.Artifact {
			t.sums[i] = stated.sum
		}
	}
	if wrong {
		o.fail(fault.BundleIntegrityFailed, at, "the entry for %s has another digest or length than the value",
			objectPath(t.kind, ref))
	}
	r.marks |= listed
}

// finish compares everything found with everything stated and referenced, after the whole
// document was read. Digest errors take precedence over the deferred errors about order and
// completeness.
func (o *opener) finish() error {
	logs := []*log{o.b.own}
	// Sorted, so that the same bundle always has the same fault.
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
	for _, t := range o.b.tables {
		if err := o.compareTable(t); err != nil {
			return err
		}
	}
	for _, l := range logs {
		o.checkOrder(l)
	}
	if !o.hasArtifacts {
		o.deferred[missingArtifact] = nil // other programs embed artifacts in their events
	}
	// In the order of the reasons, which is their precedence.
	for _, err := range o.deferred {
		if err != nil {
			return err
		}
	}
	return nil
}

// compare compares a list's content with its entry.
func (l *list) compare() error {
	const code = fault.BundleIntegrityFailed
	switch {
	case !l.value.found:
		return failAt(code, "/integrity/entries", 0, "an entry for %s, which is not in the bundle", l.path)
	case !l.entry.found:
		return failAt(code, "/"+l.path, l.start, "integrity has no entry for %s", l.path)
	case l.value != l.entry:
		return failAt(code, "/"+l.path, l.start, "%s has %d bytes of JCS and the digest %s; integrity states %d and %s",
			l.path,
			l.value.bytes, canon.DigestOf(l.value.sum), l.entry.bytes, canon.DigestOf(l.entry.sum))
	}
	return nil
}

// compareTable compares the objects of a kind with their entries, and defers an error for
// each object that is referenced and missing.
func (o *opener) compareTable(t *table) error {
	for i := range t.n {
		r := t.row(i)
		switch {
		// A value without a statement would be unverified.
		case r.is(embedded) && !r.is(listed):
			return failAt(fault.BundleIntegrityFailed, objectPointer(t.kind, r.ref), int64(r.at),
				"integrity has no entry for %s", objectPath(t.kind, r.ref))
		// A statement without a value: something was removed.
		case r.is(listed) && !r.is(embedded):
			return failAt(fault.BundleIntegrityFailed, "/integrity/entries", 0,
				"an entry for %s, which is not in the bundle", objectPath(t.kind, r.ref))
		// Neither: the log refers to an object that the bundle does not contain.
		case !r.is(embedded):
			path := o.b.own.events.path
			if r.is(byRecord) {
				path = o.b.own.records.path
			}
			o.deferError(
				t.missing,
				fmt.Sprintf("/%s/%d", path, r.raw),
				int64(r.at),
				"the %s %s is referenced and not embedded",
				t.kind,
				canon.DigestOf(r.ref),
			)
		}
	}
	t.sortEmbedded()
	return nil
}

// checkOrder checks what is known about a log's order only at its end: its owner, and that
// its records cover its events.
func (o *opener) checkOrder(l *log) {
	session := o.b.env.SessionID
	for why, half := range map[reason]*list{eventOrder: &l.events, manifestOrder: &l.records} {
		// sessionId may follow the lists in a document, so it is compared here.
		if half.count > 0 && half.owner != session {
			o.deferError(why, "/"+half.path+"/0", half.start, "sessionId is %.80q: want %q", half.owner, session)
		}
	}
	if l.records.next != l.events.count {
		o.deferError(manifestOrder, "/"+l.records.path, l.records.start,
			"the records cover %d events, and the log has %d", l.records.next, l.events.count)
	}
}
