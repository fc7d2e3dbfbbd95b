package problem

import (
	"fmt"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
)

// Place is a value and where it stands in its source.
type Place struct {
	Value   canon.Value
	Pointer string // RFC 6901, from the root of the source
}

// Member is the place of an object's member, of null when there is none.
func (p Place) Member(name string) Place {
	v, ok := p.Value.Get(name)
	if !ok {
		v = v.AtLine(p.Value.Line())
	}
	return Place{v, p.Pointer + "/" + canon.EscapePointer(name)}
}

// Item is the place of a list's i-th item.
func (p Place) Item(i int) Place {
	return Place{p.Value.Item(i), p.Pointer + "/" + strconv.Itoa(i)}
}

// Items are the places of a list's items; none when p is no list.
func (p Place) Items() []Place {
	if p.Value.Kind() != canon.Array {
		return nil
	}
	out := make([]Place, p.Value.Len())
	for i := range out {
		out[i] = p.Item(i)
	}
	return out
}

// Names are the names of an object's members; none when p is no object.
func (p Place) Names() []string {
	if p.Value.Kind() != canon.Object {
		return nil
	}
	out := make([]string, p.Value.Len())
	for i := range out {
		out[i] = p.Value.Key(i)
	}
	return out
}

// Has reports whether p is an object with such a member.
func (p Place) Has(name string) bool {
	_, ok := p.Value.Get(name)
	return ok
}

// Report takes problems. Whoever reports goes on, so that all are found at once.
type Report func(Problem)

// Error reports that what stands at p cannot be used, and what to type instead.
func (r Report) Error(p Place, fix, format string, args ...any) {
	r(Problem{p.Pointer, p.Value.Line(), Error, fmt.Sprintf(format, args...), fix})
}

// Warn reports what works, but hardly as meant.
func (r Report) Warn(p Place, fix, format string, args ...any) {
	r(Problem{p.Pointer, p.Value.Line(), Warning, fmt.Sprintf(format, args...), fix})
}
