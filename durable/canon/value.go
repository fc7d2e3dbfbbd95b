package canon

import (
	"fmt"
	"slices"
)

// Kind is the JSON type of a Value.
type Kind uint8

// The six kinds of JSON value. Null is the zero Value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the word for k that error messages use.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is one JSON value. A parsed Value has no duplicate keys, only valid UTF-8 and only
// numbers that are exactly a double. Values are immutable and may be shared between goroutines.
// They are not comparable with ==; use Equal. The zero Value is null.
type Value struct {
	kind Kind
	// rank is the place of a member of a parsed object in the text, from 0, at most rankMax; 0 for
	// all members of an object that was in JCS order. It takes no memory: line is aligned.
	rank uint16
	line int32
	num  float64
	str  string
	keys []string // object: keys[i] is the name of list[i], in JCS order
	list []Value  // items of an array, values of an object
}

// Constructors for values that do not come from text.

// OfString returns a JSON string. Invalid UTF-8 is a bug of the caller that only encoding
// reports: Parse and the YAML reader refuse such input.
func OfString(s string) Value { return Value{kind: String, str: s} }

// OfBool returns a JSON boolean.
func OfBool(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.num = 1
	}
	return v
}

// OfInt returns a JSON number. |n| must be at most 2^53, else n is rounded.
func OfInt(n int64) Value { return Value{kind: Number, num: float64(n)} }

// OfFloat returns a JSON number. Encoding returns an error for NaN and infinities.
func OfFloat(f float64) Value { return Value{kind: Number, num: f} }

// OfList returns a JSON array. The items slice must not be changed afterwards.
func OfList(items ...Value) Value { return Value{kind: Array, list: items} }

// Member is a key and its value, the argument of OfMembers.
type Member struct {
	Name  string
	Value Value
}

// OfMembers returns a JSON object. Of several members with one name the last is used. Keys that
// differ only in case are not refused here; see CheckStrict.
func OfMembers(members ...Member) Value {
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b Member) int { return CompareKeys(a.Name, b.Name) })
	v := Value{kind: Object, keys: make([]string, 0, len(sorted)), list: make([]Value, 0, len(sorted))}
	for _, m := range sorted {
		if last := len(v.keys) - 1; last >= 0 && v.keys[last] == m.Name {
			v.list[last] = m.Value
			continue
		}
		v.keys, v.list = append(v.keys, m.Name), append(v.list, m.Value)
	}
	return v
}

// AtLine returns v with a 1-based source line, for error messages about v.
func (v Value) AtLine(line int) Value { v.line = int32(line); return v }

// Line returns the 1-based line of the source text, 0 for a value that was built.
func (v Value) Line() int { return int(v.line) }

// Kind returns the JSON type of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports JSON null. Get returns null for an absent member as well.
func (v Value) IsNull() bool { return v.kind == Null }

// IsZero reports a null without a source line: the zero Value, which omitzero leaves out.
func (v Value) IsZero() bool { return v.kind == Null && v.line == 0 }

// Text returns the string of a String, "" for any other kind.
func (v Value) Text() string { return v.str }

// Float returns the number of a Number, 0 for any other kind.
func (v Value) Float() float64 {
	if v.kind == Number {
		return v.num
	}
	return 0
}

// True reports JSON true.
func (v Value) True() bool { return v.kind == Bool && v.num == 1 }

// Len returns the number of items of an array or members of an object, 0 for other kinds.
func (v Value) Len() int { return len(v.list) }

// Item returns the i-th item of an array, or the value of the i-th member in JCS order. It
// panics where i is not below Len.
func (v Value) Item(i int) Value { return v.list[i] }

// Key returns the name of the i-th member of an object, in JCS order.
func (v Value) Key(i int) string { return v.keys[i] }

// rankMax is the last place that rank tells from others.
const rankMax = 1<<16 - 1

// SourceKeys returns the names of the members of a parsed object in the order of the text, nil
// for other kinds. Members have no order in JSON: this is for texts that show them as their
// author wrote them, and is lost when a Value is encoded.
func (v Value) SourceKeys() []string {
	order := make([]int, len(v.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(v.list[a].rank) - int(v.list[b].rank) })
	var out []string
	for _, i := range order {
		out = append(out, v.keys[i])
	}
	return out
}

// Get returns the member of an object with this name; ok is false where v has none.
func (v Value) Get(name string) (Value, bool) {
	i, ok := v.find(name)
	if !ok {
		return Value{}, false
	}
	return v.list[i], true
}

// With returns v with one member set; v itself is unchanged. For anything but an object it
// returns a new object with that member. It copies the lists of v: build large objects with
// OfMembers.
func (v Value) With(name string, m Value) Value {
	if v.kind != Object {
		v = Value{kind: Object, line: v.line}
	}
	// New lists, never a change in place: other Values may share the old ones.
	i, ok := v.find(name)
	v.keys, v.list = slices.Clone(v.keys), slices.Clone(v.list)
	if ok {
		v.list[i] = m
		return v
	}
	v.keys, v.list = slices.Insert(v.keys, i, name), slices.Insert(v.list, i, m)
	return v
}

// Without returns v without one member; v itself is unchanged.
func (v Value) Without(name string) Value {
	i, ok := v.find(name)
	if !ok {
		return v
	}
	v.keys = slices.Delete(slices.Clone(v.keys), i, i+1)
	v.list = slices.Delete(slices.Clone(v.list), i, i+1)
	return v
}

// Merged returns an object with the members of v and of delta. Those of delta replace those of v; a member that is null is
// left out. What is no object has no members.
func (v Value) Merged(delta Value) Value {
	n := len(v.keys)
	for _, key := range delta.keys {
		if _, has := v.find(key); !has {
			n++
		}
	}
	out := Value{kind: Object, keys: make([]string, 0, n), list: make([]Value, 0, n)}
	for i, j := 0, 0; i < len(v.keys) || j < len(delta.keys); {
		order := -1
		if i == len(v.keys) {
			order = 1
		} else if j < len(delta.keys) {
			order = CompareKeys(v.keys[i], delta.keys[j])
		}
		from, at := v, i
		if order >= 0 {
			from, at, j = delta, j, j+1
		}
		if order <= 0 {
			i++
		}
		if !from.list[at].IsNull() {
			out.keys, out.list = append(out.keys, from.keys[at]), append(out.list, from.list[at])
		}
	}
	return out
}

// find returns the index of a member, or the index at which it would be inserted. Only objects
// have keys.
func (v Value) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v.keys, name, CompareKeys)
}

// Equal reports whether v and w are the same JSON value. Source lines are ignored; members are
// in JCS order in both, so their original order does not matter.
func (v Value) Equal(w Value) bool {
	// Parse and the constructors leave the fields of other kinds zero, so all are compared.
	if v.kind != w.kind || v.num != w.num || v.str != w.str {
		return false
	}
	return slices.Equal(v.keys, w.keys) && slices.EqualFunc(v.list, w.list, Value.Equal)
}

// CheckStrict returns the error that Parse would return for the text of a Value that was built: for
// keys that differ only in case, or nesting deeper than depth levels. A caller that puts v into
// another document passes limits.JSONDepthMax less the levels around v.
func (v Value) CheckStrict(depth int) error { return v.strict(nil, depth) }

// strict is CheckStrict with the path of v, for the pointer of an error.
func (v Value) strict(path valuePath, depth int) error {
	if v.kind != Array && v.kind != Object {
		return nil
	}
	if len(path) == depth {
		return &ParseError{Pointer: path.pointer(), Line: v.Line(), Reason: fmt.Sprintf("nested deeper than %d levels", depth)}
	}
	if i, j, ok := caseCollision(v.keys); ok {
		return &ParseError{Pointer: path.pointer(), Line: v.Line(), Reason: fmt.Sprintf("keys %q and %q differ only in case",
			v.keys[i], v.keys[j])}
	}
	for i, item := range v.list {
		where := pathStep{item: i}
		if v.kind == Object {
			where = pathStep{v.keys[i], noItem}
		}
		if err := item.strict(append(path, where), depth); err != nil {
			return err
		}
	}
	return nil
}

// CompareKeys compares object keys by UTF-16 code units, the order of RFC 8785, section 3.2.3.
// The result is negative, 0 or positive.
func CompareKeys(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	// The order of UTF-8 bytes differs in one case only: a character beyond the basic multilingual
	// plane, whose first byte is at least 0xF0, comes before one from U+E000 on, which has 0xEE or 0xEF.
	if x, y := a[i] >= 0xF0, b[i] >= 0xF0; x != y && a[i] >= 0xEE && b[i] >= 0xEE {
		return int(b[i]) - int(a[i])
	}
	return int(a[i]) - int(b[i])
}
