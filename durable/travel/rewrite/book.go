package rewrite

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// named is any of the id types.
type named[T any] interface {
	comparable
	String() string
	IsZero() bool
	Raw() [16]byte
	OfRaw([16]byte) T
	Imported(id.Store, string) T
}

// book is which new id stands for which old one: of the segment at hand every one, of
// all others those alone that something elsewhere names. A log may have a million
// events, nearly all of which nobody names again. Ids are kept whole, as their bytes.
type book[T named[T]] struct {
	here map[[16]byte][16]byte
	kept map[[16]byte][16]byte // what was foreseen; all zeros until it is known
}

func newBook[T named[T]]() book[T] {
	return book[T]{here: map[[16]byte][16]byte{}, kept: map[[16]byte][16]byte{}}
}

// foresee keeps what becomes of an id, beyond its segment.
func (b book[T]) foresee(old T) {
	raw := old.Raw()
	if _, ok := b.kept[raw]; !ok {
		b.kept[raw] = [16]byte{}
	}
}

func (b book[T]) foreseen(old T) bool {
	_, ok := b.kept[old.Raw()]
	return ok
}

func (b book[T]) get(old T) (is T, ok bool) {
	raw, ok := b.here[old.Raw()]
	if !ok {
		raw = b.kept[old.Raw()]
		if ok = raw != [16]byte{}; !ok {
			return is, false
		}
	}
	return is.OfRaw(raw), true
}

func (b book[T]) set(old, is T) {
	b.here[old.Raw()] = is.Raw()
	if b.foreseen(old) {
		b.kept[old.Raw()] = is.Raw()
	}
}

// turn forgets the segment at hand.
func (b book[T]) turn() { clear(b.here) }

// origin is what the import's own ids come from.
type origin struct {
	store id.Store
	head  canon.Digest
}

// elsewise is the new id of one that follows no recipe.
func elsewise[T named[T]](o origin, old T) T { return old.Imported(o.store, o.head.String()) }

// known is the new id of an old one, which is given one where it has none yet: what
// names a thing before it is there, or what nothing in the log ever was, stays the same
// wherever it is named.
func known[T named[T]](r *Renaming, b book[T], old T) T {
	if is, ok := b.get(old); ok {
		return is
	}
	if !b.foreseen(old) {
		r.missed(old.String())
	}
	is := elsewise(r.origin, old)
	b.set(old, is)
	return is
}
