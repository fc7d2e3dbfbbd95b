package redact

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Value returns v with every string and every member name redacted by Text, and with every string
// and number below a secret name, at any depth, replaced as a whole. {"name":"token","value":"…"}
// is treated like {"token":"…"}. true, false and null are not secrets. Lines are kept.
func Value(v canon.Value, c Counts) canon.Value { return walk{counts: c}.value(v, "", false) }

// walk is one pass over a document. It counts, or records places, or both.
type walk struct {
	counts Counts
	found  *Findings // nil: pointers are not built
}

// text redacts a text at a pointer.
func (w walk) text(pointer, s string) string {
	if w.found == nil {
		return Text(s, w.counts)
	}
	counts := Counts{}
	out := Text(s, counts)
	w.found.record(pointer, counts)
	for rule, n := range counts {
		w.counts.add(Rule(rule), n)
	}
	return out
}

// named counts a value that is a secret by the name of its member.
func (w walk) named(pointer string) {
	w.counts.add(NamedSecret, 1)
	if w.found != nil {
		w.found.record(pointer, Counts{string(NamedSecret): 1})
	}
}

// below returns the pointer of a member or an item.
func (w walk) below(pointer, name string) string {
	if w.found == nil {
		return ""
	}
	return pointer + "/" + canon.EscapePointer(name)
}

// value is Value; named states that v is below a secret name.
func (w walk) value(v canon.Value, pointer string, named bool) canon.Value {
	var out canon.Value
	switch kind := v.Kind(); {
	case kind == canon.Array:
		return w.items(v, pointer, func(item canon.Value, at string) canon.Value { return w.value(item, at, named) })
	case kind == canon.Object:
		out = w.object(v, pointer, named)
	case kind == canon.String && !named:
		out = canon.OfString(w.text(pointer, v.Text()))
	case kind == canon.Number && named, kind == canon.String && v.Text() != "" && marker(v.Text()) < len(v.Text()):
		w.named(pointer)
		out = canon.OfString(Marker(NamedSecret))
	default: // redacted before, empty, or no secret
		return v
	}
	return out.AtLine(v.Line())
}

// items redacts the items of a list, each with a function that gets its pointer.
func (w walk) items(v canon.Value, pointer string, item func(canon.Value, string) canon.Value) canon.Value {
	items := make([]canon.Value, v.Len())
	for i := range items {
		items[i] = item(v.Item(i), w.below(pointer, strconv.Itoa(i)))
	}
	return canon.OfList(items...).AtLine(v.Line())
}

// object redacts an object. named states that it is below a secret name.
func (w walk) object(v canon.Value, pointer string, named bool) canon.Value {
	pair := namesSecret(v)
	return w.members(v, pointer, func(name string, item canon.Value, at string) canon.Value {
		return w.member(name, item, at, named, pair)
	})
}

// members redacts the members of an object, each with a function that gets its redacted name and its
// pointer, and their names. Where names become equal, or differ only in case, the later ones get a
// number: no member is lost, and the document stays strict JSON.
func (w walk) members(v canon.Value, pointer string, member func(string, canon.Value, string) canon.Value) canon.Value {
	members := make([]canon.Member, v.Len())
	// Whether a member is a secret depends on its redacted name, so that a second redaction
	// decides the same.
	changed := false
	for i := range members {
		name := Text(v.Key(i), nil)
		at := w.below(pointer, name)
		if name != v.Key(i) {
			w.text(at, v.Key(i))
		}
		changed = changed || name != v.Key(i)
		members[i] = canon.Member{Name: name, Value: member(name, v.Item(i), at)}
	}
	if !changed { // the names were distinct before, and still are
		return canon.OfMembers(members...).AtLine(v.Line())
	}
	taken := map[string]int{}
	for i := range members {
		if members[i].Name == v.Key(i) {
			taken[strings.ToLower(v.Key(i))] = 1 // unchanged names have precedence
		}
	}
	for i := range members {
		if members[i].Name != v.Key(i) {
			members[i].Name = uniqueName(members[i].Name, taken)
		}
	}
	return canon.OfMembers(members...).AtLine(v.Line())
}

// member redacts the value of a member. named states that it is below a secret name, pair that
// another member names what this object holds.
func (w walk) member(name string, v canon.Value, pointer string, named, pair bool) canon.Value {
	lower := strings.ToLower(name)
	switch {
	case named || SecretName(name) || pair && valueNames[lower]:
		return w.value(v, pointer, true)
	case schemaMaps[name] && v.Kind() == canon.Object:
		return w.schemas(v, pointer)
	case (lower == "cookie" || lower == "set-cookie") && v.Kind() == canon.String:
		// The header decides what the text means.
		const header = ": "
		return canon.OfString(strings.TrimPrefix(w.text(pointer, name+header+v.Text()), name+header)).AtLine(v.Line())
	}
	return w.value(v, pointer, false)
}

// namesSecret reports an object with a member that names a secret which another member holds. A
// name that contains a marker is not a secret name, so a redacted object stays unchanged.
func namesSecret(v canon.Value) bool {
	for i := range v.Len() {
		if pairNames[strings.ToLower(v.Key(i))] && v.Item(i).Kind() == canon.String && SecretName(v.Item(i).Text()) {
			return true
		}
	}
	return false
}

// uniqueName returns name, or name with the first number that no other member has, and records it
// in taken.
func uniqueName(name string, taken map[string]int) string {
	low := strings.ToLower(name)
	// taken[low] is the last number in use for this name; a numbered name may be taken too.
	out := name
	for n := taken[low] + 1; taken[strings.ToLower(out)] > 0; n++ {
		out = name + "#" + strconv.Itoa(n)
		taken[low] = n
	}
	taken[strings.ToLower(out)] = 1
	return out
}
