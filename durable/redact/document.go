package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact/words"
)

// Value returns v with every string and every member name redacted by Text, and with every string
// and number below a secret name, at any depth, replaced as a whole. {"name":"token","value":"…"}
// is treated like {"token":"…"}. true, false and null are not secrets. Lines are kept.
func Value(v canon.Value, c Counts) canon.Value { return walk{counts: c}.value(v, nil, false) }

// walk is one pass over a document. It counts, or records places, or both.
type walk struct {
	counts Counts
	found  *Findings // nil: places are not kept
}

// place is a place in a document. Its pointer is built for a finding only: a name is as long as its document
// permits, and a list below it may have as many items.
type place struct {
	up   *place
	base string // the pointer of the document, of the first place
	name string
}

// nameShownMax bounds a name in a pointer.
const nameShownMax = 256

// pointer returns the pointer of a place; names over nameShownMax are cut.
func (p *place) pointer() string {
	if p == nil {
		return ""
	}
	if p.up == nil {
		return p.base
	}
	name := canon.EscapePointer(p.name[:min(len(p.name), nameShownMax+utf8.UTFMax)])
	return p.up.pointer() + "/" + reason.Clip(name, nameShownMax)
}

// text redacts a text at a pointer.
func (w walk) text(at *place, s string) string {
	if w.found == nil {
		return Text(s, w.counts)
	}
	counts := Counts{}
	out := Text(s, counts)
	w.found.record(at, counts)
	for rule, n := range counts {
		w.counts.add(Rule(rule), n)
	}
	return out
}

// named counts a value that is a secret by the name of its member.
func (w walk) named(at *place) {
	w.counts.add(NamedSecret, 1)
	if w.found != nil {
		w.found.record(at, Counts{string(NamedSecret): 1})
	}
}

// below returns the place of a member or an item; nil where places are not kept.
func (w walk) below(at *place, name string) *place {
	if w.found == nil {
		return nil
	}
	return &place{up: at, name: name}
}

// value is Value; named states that v is below a secret name.
func (w walk) value(v canon.Value, at *place, named bool) canon.Value {
	var out canon.Value
	switch kind := v.Kind(); {
	case kind == canon.Array:
		return w.items(v, at, func(item canon.Value, at *place) canon.Value { return w.value(item, at, named) })
	case kind == canon.Object:
		out = w.object(v, at, named)
	case kind == canon.String && !named:
		out = canon.OfString(w.text(at, v.Text()))
	case kind == canon.Number && named, kind == canon.String && v.Text() != "" && marker(v.Text()) < len(v.Text()):
		w.named(at)
		out = canon.OfString(Marker(NamedSecret))
	default: // redacted before, empty, or no secret
		return v
	}
	return out.AtLine(v.Line())
}

// items redacts the items of a list, each with a function that gets its place.
func (w walk) items(v canon.Value, at *place, item func(canon.Value, *place) canon.Value) canon.Value {
	items := make([]canon.Value, v.Len())
	for i := range items {
		items[i] = item(v.Item(i), w.below(at, strconv.Itoa(i)))
	}
	return canon.OfList(items...).AtLine(v.Line())
}

// object redacts an object. named states that it is below a secret name.
func (w walk) object(v canon.Value, at *place, named bool) canon.Value {
	pair, webKey := namesSecret(v), isWebKey(v)
	return w.members(v, at, func(name string, item canon.Value, at *place) canon.Value {
		return w.member(name, item, at, named || webKey && webKeyMembers.Has(name), pair)
	})
}

// members redacts the members of an object, each with a function that gets its redacted name and its
// place, and their names. Where names become equal, or differ only in case, the later ones get a
// number: no member is lost, and the document stays strict JSON.
func (w walk) members(v canon.Value, at *place, member func(string, canon.Value, *place) canon.Value) canon.Value {
	members := make([]canon.Member, v.Len())
	// Whether a member is a secret depends on its redacted name, so that a second redaction
	// decides the same.
	changed := false
	for i := range members {
		name := Text(v.Key(i), nil)
		own := w.below(at, name)
		if name != v.Key(i) {
			w.text(own, v.Key(i))
		}
		changed = changed || name != v.Key(i)
		members[i] = canon.Member{Name: name, Value: member(name, v.Item(i), own)}
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
func (w walk) member(name string, v canon.Value, at *place, named, pair bool) canon.Value {
	lower := strings.ToLower(name)
	switch {
	case named || SecretName(name) || pair && valueNames.Has(lower):
		return w.value(v, at, true)
	case schemaMaps.Has(name) && v.Kind() == canon.Object:
		return w.schemas(v, at)
	case v.Kind() == canon.String && keyValue(name, v.Text()):
		return w.value(v, at, true)
	case (lower == "cookie" || lower == "set-cookie") && v.Kind() == canon.String:
		// The header decides what the text means.
		const header = ": "
		return canon.OfString(strings.TrimPrefix(w.text(at, name+header+v.Text()), name+header)).AtLine(v.Line())
	}
	return w.value(v, at, false)
}

// namesSecret reports an object with a member that names a secret which another member holds. A
// name that contains a marker is not a secret name, so a redacted object stays unchanged.
func namesSecret(v canon.Value) bool {
	for i := range v.Len() {
		if pairNames.Has(strings.ToLower(v.Key(i))) && v.Item(i).Kind() == canon.String && SecretName(v.Item(i).Text()) {
			return true
		}
	}
	return false
}

// webKeyMembers are the members of a JSON web key that are private.
var webKeyMembers = words.Set("d p q dp dq qi oth k")

// isWebKey reports a JSON web key, which has a type and a member that is private.
func isWebKey(v canon.Value) bool {
	typed, private := false, false
	for i := range v.Len() {
		name, text := v.Key(i), v.Item(i).Kind() == canon.String
		typed = typed || name == "kty" && text
		private = private || webKeyMembers.Has(name) && text
	}
	return typed && private
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
