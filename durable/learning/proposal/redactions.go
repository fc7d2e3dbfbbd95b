package proposal

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
)

// Redaction is the place of a redaction in a file, with the rules that matched there.
type Redaction struct {
	Pointer string        `json:"pointer"` // RFC 6901, from the root of the file
	Rules   []redact.Rule `json:"rules"`
}

// redactions compares a document before and after redaction. redact only counts replacements;
// authors need the places in their file.
func redactions(before, after canon.Value) []Redaction {
	var f redactionFinder
	f.compare(before, after, "")
	return f.found
}

// redactionFinder collects redactions during one comparison.
type redactionFinder struct{ found []Redaction }

// compare descends to the smallest values that differ and adds one redaction for each.
func (f *redactionFinder) compare(before, after canon.Value, pointer string) {
	switch {
	case before.Equal(after):
	case before.Kind() == canon.Array && after.Kind() == canon.Array && before.Len() == after.Len():
		for i := range before.Len() {
			f.compare(before.Item(i), after.Item(i), pointer+"/"+strconv.Itoa(i))
		}
	case before.Kind() == canon.Object && after.Kind() == canon.Object:
		for i := range after.Len() {
			name := after.Key(i)
			at := pointer + "/" + canon.EscapePointer(name)
			if value, ok := before.Get(name); ok {
				f.compare(value, after.Item(i), at)
				continue
			}
			// The member name itself contained a secret. The pointer holds its redacted form;
			// the original member is not searched for.
			f.add(at, "", name+string(after.Item(i).JCS()))
		}
	default:
		f.add(pointer, string(before.JCS()), string(after.JCS()))
	}
}

// add records the rules whose markers occur more often after redaction than before.
func (f *redactionFinder) add(pointer, before, after string) {
	marks := map[redact.Rule]bool{}
	for _, rule := range redact.Rules() {
		if mark := redact.Marker(rule); strings.Count(after, mark) > strings.Count(before, mark) {
			marks[rule] = true
		}
	}
	f.found = append(f.found, Redaction{Pointer: pointer, Rules: slices.Sorted(maps.Keys(marks))})
}
