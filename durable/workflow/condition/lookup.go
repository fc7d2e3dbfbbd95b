package condition

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Lookup finds what a dotted path names: a.b.c descends objects, digits index
// arrays from 0. A top-level key that is spelled like the whole path is found
// first, because a context key may itself contain dots (R20).
func Lookup(vars canon.Value, path string) (canon.Value, bool) {
	if v, ok := vars.Get(path); ok {
		return v, true
	}
	v := vars
	for name := range strings.SplitSeq(path, ".") {
		var ok bool
		if v, ok = member(v, name); !ok {
			return canon.Value{}, false
		}
	}
	return v, true
}

// member takes one step of a path. An index has one spelling: "01" and "+1" name
// nothing, as they would in a JSON pointer.
func member(v canon.Value, name string) (canon.Value, bool) {
	if v.Kind() != canon.Array {
		return v.Get(name)
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= v.Len() || strconv.Itoa(i) != name {
		return canon.Value{}, false
	}
	return v.Item(i), true
}

// validPath reports whether a condition's var can name anything.
func validPath(path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		if name == "" || strings.TrimSpace(name) != name {
			return false
		}
	}
	return true
}
