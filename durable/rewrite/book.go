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

// book is which new id stands for which old one. A log may have a million events, so
// ids are kept as their bytes: 32 for each pair.
type book[T named[T]] map[[16]byte][16]byte

func (b book[T]) get(old T) (is T, ok bool) {
	raw, ok := b[old.Raw()]
	if !ok {
		return is, false
	}
	return is.OfRaw(raw), true
}

func (b book[T]) set(old, is T) { b[old.Raw()] = is.Raw() }

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
func known[T named[T]](b book[T], o origin, old T) T {
	if is, ok := b.get(old); ok {
		return is
	}
	is := elsewise(o, old)
	b.set(old, is)
	return is
}
