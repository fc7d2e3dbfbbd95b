package canon

import (
	"unsafe"

	"github.com/waybill/waybill/durable/limits"
)

// Outcome is what a Checker concludes about bytes.
type Outcome uint8

// The outcomes of a check.
const (
	Canonical Outcome = iota // one value in canonical form
	Short                    // the bytes end before the value
	Other                    // another form, or invalid: Parse decides
)

// Checker examines JSON text in place and reports whether it is canonical already, as nearly all
// stored text is. It allocates nothing and gives up early: Canonical means strict, canonical JSON
// (docs/design.md#json-from-outside); everything else is for Parse. A Checker is for one goroutine.
type Checker struct {
	p     parser
	text  []byte
	spans [slotsMax]span

	// Members is the number of members of the value, which was an object.
	Members int
	// AnyOrder accepts members in any order and skips the search for keys that are equal or
	// differ only in case: for text that was parsed before, and where the caller knows all keys.
	AnyOrder bool
}

// Watch names a member to be located, and the members inside it. A nil Watch locates nothing.
type Watch struct {
	Name string
	Slot uint8 // where the Checker keeps the position, below 16; several may share one
	In   []Watch
}

const slotsMax = 16

// span is a range of the text.
type span struct{ from, to int }

// find returns the watched member of this name, nil if there is none.
func (w *Watch) find(name string) *Watch {
	if w == nil {
		return nil
	}
	for i := range w.In {
		// The lists are short; a map would take longer.
		if w.In[i].Name == name {
			return &w.In[i]
		}
	}
	return nil
}

// Value examines the value at the start of text, of at most depth levels, and locates the members
// that w lists. n is the length of the value if it is Canonical.
func (c *Checker) Value(text []byte, depth int, w *Watch) (n int, o Outcome) {
	c.text, c.spans = text, [slotsMax]span{}
	p := &c.p
	// p refers to text during the call only, and the caller does not change it meanwhile.
	*p = parser{text: unsafe.String(unsafe.SliceData(text), len(text)), path: p.path[:0], names: p.names[:0],
		exact: true, checker: c, watch: w, anyOrder: c.AnyOrder}
	p.value(limits.JSONDepthMax - depth)
	// Nothing refers to the caller's text after the call.
	clear(p.names[:cap(p.names)])
	clear(p.path[:cap(p.path)])
	p.text = ""
	switch {
	case p.err == nil:
		return p.pos, Canonical
	case p.ended:
		return 0, Short
	}
	return 0, Other
}

// Raw returns the text of the member that was located for a slot, nil if the value has none. It is
// valid as long as the text.
func (c *Checker) Raw(slot uint8) []byte {
	where := c.spans[slot]
	return c.text[where.from:where.to]
}

// SharedText returns bytes that never change any more as a string, without a copy.
func SharedText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
