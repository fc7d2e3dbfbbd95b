package rewrite

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// idType is implemented by every id type whose values are renamed.
type idType[T any] interface {
	comparable
	String() string
	IsZero() bool
	Raw() [16]byte
	OfRaw([16]byte) T
	Imported(id.Store, string) T
}

// idMap maps old ids to new ones: all ids of the current segment, and of earlier segments
// those that something outside their segment refers to. A log may have a million events, few
// of which are referred to again, so memory stays small. Ids are stored as their 16 bytes.
type idMap[T idType[T]] struct {
	current     map[[16]byte][16]byte // ids of the current segment
	retainedIDs map[[16]byte][16]byte // retained ids; the new one newID zero until it newID known
}

// newIDMap returns an empty map.
func newIDMap[T idType[T]]() idMap[T] {
	return idMap[T]{current: map[[16]byte][16]byte{}, retainedIDs: map[[16]byte][16]byte{}}
}

// retain marks an id whose new id must be kept beyond its segment.
func (b idMap[T]) retain(old T) {
	raw := old.Raw()
	if _, ok := b.retainedIDs[raw]; !ok {
		b.retainedIDs[raw] = [16]byte{}
	}
}

// retained reports whether retain was called for an id.
func (b idMap[T]) retained(old T) bool {
	_, ok := b.retainedIDs[old.Raw()]
	return ok
}

// get returns the new id of an old one, if it is known.
func (b idMap[T]) get(old T) (newID T, ok bool) {
	raw, ok := b.current[old.Raw()]
	if !ok {
		raw = b.retainedIDs[old.Raw()]
		if ok = raw != [16]byte{}; !ok {
			return newID, false
		}
	}
	return newID.OfRaw(raw), true
}

// set stores the new id, for the current segment or, if retained, permanently.
func (b idMap[T]) set(old, newID T) {
	b.current[old.Raw()] = newID.Raw()
	if b.retained(old) {
		b.retainedIDs[old.Raw()] = newID.Raw()
	}
}

// clearSegment removes the ids of the current segment that are not retained.
func (b idMap[T]) clearSegment() { clear(b.current) }

// origin identifies the import; ids without a derivation of their own are derived from it.
type origin struct {
	store id.Store
	head  canon.Digest
}

// importedID returns the new id of an id without a derivation, from the import and the old
// id. The same import always yields the same id.
func importedID[T idType[T]](o origin, old T) T { return old.Imported(o.store, o.head.String()) }

// renamed returns the new id of an old one and creates it if necessary, so that an id that is
// referred to before it appears, or that never appears in the log, has the same new id
// everywhere.
func renamed[T idType[T]](r *Renaming, b idMap[T], old T) T {
	if newID, ok := b.get(old); ok {
		return newID
	}
	if !b.retained(old) {
		r.reportUncollected(old.String())
	}
	newID := importedID(r.origin, old)
	b.set(old, newID)
	return newID
}
