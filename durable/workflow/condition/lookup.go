package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Lookup returns the value at a dotted path: a.b.c descends into objects, and digits index
// arrays from 0. A top-level key equal to the whole path takes precedence, because a
// context key may itself contain dots (docs/design.md#requirements-on-the-caller). False
// if the path leads to no value.
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

// member resolves one name of a path. Array indexes have one spelling: "01" and "+1" name
// no item, as in a JSON pointer.
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

// validPath reports whether path can be the var of a condition: names joined by dots, none
// of them empty or surrounded by white space.
func validPath(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "."), func(name string) bool {
		return name == "" || strings.TrimSpace(name) != name
	})
}
