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
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = w.value(v.Item(i), w.below(pointer, strconv.Itoa(i)), named)
		}
		out = canon.OfList(items...)
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

// object redacts the members and their names. Where names become equal, or differ only in case,
// the later ones get a number: no member is lost, and the document stays strict JSON.
func (w walk) object(v canon.Value, pointer string, named bool) canon.Value {
	members := make([]canon.Member, v.Len())
	// Whether a member is a secret depends on its redacted name, so that a second redaction
	// decides the same.
	changed, pair := false, namesSecret(v)
	for i := range members {
		name := Text(v.Key(i), nil)
		at := w.below(pointer, name)
		if name != v.Key(i) {
			w.text(at, v.Key(i))
		}
		changed = changed || name != v.Key(i)
		secret := named || SecretName(name) || pair && valueNames[strings.ToLower(name)]
		members[i] = canon.Member{Name: name, Value: w.value(v.Item(i), at, secret)}
	}
	if !changed { // the names were distinct before, and still are
		return canon.OfMembers(members...)
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
	return canon.OfMembers(members...)
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
