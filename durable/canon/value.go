package canon

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is what a Value is in JSON.
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

// String is the word that error messages use.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is one strict JSON value: no duplicate keys, valid UTF-8, only numbers
// that are exactly a double. A Value is immutable; sharing one is safe.
type Value struct {
	kind Kind
	line int32
	num  float64
	str  string
	keys []string // object: keys[i] names list[i], in JCS order
	list []Value
}

// Constructors for values that do not come from text.

// OfString is a JSON string. Invalid UTF-8 is a caller's bug, refused when written:
// Parse and the YAML reader refuse it before.
func OfString(s string) Value { return Value{kind: String, str: s} }

// OfBool is a JSON boolean.
func OfBool(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.num = 1
	}
	return v
}

// OfInt is a JSON number; |n| is at most 2^53 wherever Waybill counts.
func OfInt(n int64) Value { return Value{kind: Number, num: float64(n)} }

// OfFloat is a JSON number; NaN and infinities are refused when written.
func OfFloat(f float64) Value { return Value{kind: Number, num: f} }

// OfList is a JSON array.
func OfList(items ...Value) Value { return Value{kind: Array, list: items} }

// Member is a key and its value, to build objects from.
type Member struct {
	Name  string
	Value Value
}

// OfMembers is a JSON object; of two members with one name the later counts.
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

// AtLine returns v with the 1-based source line it came from.
func (v Value) AtLine(line int) Value { v.line = int32(line); return v }

// Line is the 1-based line of the source text, 0 when there is none.
func (v Value) Line() int { return int(v.line) }

// Kind tells what v is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports JSON null, which also is what an absent member reads as.
func (v Value) IsNull() bool { return v.kind == Null }

// IsZero reports null without a source line: a Value nobody set.
func (v Value) IsZero() bool { return v.kind == Null && v.line == 0 }

// Text is the string of a String, else "".
func (v Value) Text() string {
	if v.kind == String {
		return v.str
	}
	return ""
}

// Float is the number of a Number, else 0.
func (v Value) Float() float64 {
	if v.kind == Number {
		return v.num
	}
	return 0
}

// True reports JSON true.
func (v Value) True() bool { return v.kind == Bool && v.num == 1 }

// Len counts the items of an array or the members of an object.
func (v Value) Len() int { return len(v.list) }

// Item is the i-th item of an array or the i-th member's value in JCS order.
func (v Value) Item(i int) Value { return v.list[i] }

// Key is the name of the i-th member of an object, in JCS order.
func (v Value) Key(i int) string { return v.keys[i] }

// Get finds a member of an object.
func (v Value) Get(name string) (Value, bool) {
	if v.kind != Object {
		return Value{}, false
	}
	i, ok := v.find(name)
	if !ok {
		return Value{}, false
	}
	return v.list[i], true
}

// With is v with one member set; v itself is unchanged. On anything but an
// object it starts a new one.
func (v Value) With(name string, m Value) Value {
	if v.kind != Object {
		v = Value{kind: Object, line: v.line}
	}
	i, ok := v.find(name)
	if ok {
		v.list = slices.Clone(v.list)
		v.list[i] = m
		return v
	}
	keys := make([]string, 0, len(v.keys)+1)
	list := make([]Value, 0, len(v.list)+1)
	v.keys = append(append(append(keys, v.keys[:i]...), name), v.keys[i:]...)
	v.list = append(append(append(list, v.list[:i]...), m), v.list[i:]...)
	return v
}

// Without is v less one member.
func (v Value) Without(name string) Value {
	i, ok := v.find(name)
	if v.kind != Object || !ok {
		return v
	}
	v.keys = slices.Delete(slices.Clone(v.keys), i, i+1)
	v.list = slices.Delete(slices.Clone(v.list), i, i+1)
	return v
}

func (v Value) find(name string) (int, bool) {
	i := sort.Search(len(v.keys), func(i int) bool { return CompareKeys(v.keys[i], name) >= 0 })
	return i, i < len(v.keys) && v.keys[i] == name
}

// Equal compares as JSON does: numbers by value, objects without order.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind || v.num != w.num || v.str != w.str {
		return false
	}
	return slices.Equal(v.keys, w.keys) && slices.EqualFunc(v.list, w.list, Value.Equal)
}

// Strict refuses a Value that was built, not parsed, where Parse would refuse its
// text: keys that differ only in case, or more than depth enclosing levels. What
// it accepts may stand inside another document that has the rest of the levels.
func (v Value) Strict(depth int) error { return v.strict(nil, depth) }

func (v Value) strict(path trail, depth int) error {
	if v.kind != Array && v.kind != Object {
		return nil
	}
	if len(path) == depth {
		return &ParseError{path.pointer(), v.Line(), fmt.Sprintf("nested deeper than %d levels", depth)}
	}
	if i, j, ok := twins(v.keys); ok {
		return &ParseError{path.pointer(), v.Line(), fmt.Sprintf("keys %q and %q differ only in case", v.keys[i],
			v.keys[j])}
	}
	for i, item := range v.list {
		where := turn{item: i}
		if v.kind == Object {
			where = turn{v.keys[i], noItem}
		}
		if err := item.strict(append(path, where), depth); err != nil {
			return err
		}
	}
	return nil
}

// CompareKeys orders object keys as RFC 8785 wants: by UTF-16 code units. It
// differs from the order of UTF-8 bytes only where one side leaves the basic plane.
func CompareKeys(a, b string) int {
	for a != "" && b != "" {
		if a[0] < utf8.RuneSelf && b[0] < utf8.RuneSelf {
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			return compareUnits(ra, rb)
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

func compareUnits(a, b rune) int {
	ha, la := units(a)
	hb, lb := units(b)
	if ha != hb {
		return int(ha) - int(hb)
	}
	return int(la) - int(lb)
}

func units(r rune) (high, low rune) {
	if r < 0x10000 {
		return r, 0
	}
	return utf16.EncodeRune(r)
}
