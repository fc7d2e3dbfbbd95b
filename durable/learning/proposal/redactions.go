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

// redactions compares the values at a pointer before and after redaction: it descends to the
// smallest ones that differ. redact only counts replacements; authors need the places in their file.
func redactions(before, after canon.Value, pointer string) (found []Redaction) {
	switch {
	case before.Equal(after):
	case before.Kind() == canon.Array && after.Kind() == canon.Array && before.Len() == after.Len():
		for i := range before.Len() {
			found = append(found, redactions(before.Item(i), after.Item(i), pointer+"/"+strconv.Itoa(i))...)
		}
	case before.Kind() == canon.Object && after.Kind() == canon.Object:
		for i := range after.Len() {
			name := after.Key(i)
			at := pointer + "/" + canon.EscapePointer(name)
			if value, ok := before.Get(name); ok {
				found = append(found, redactions(value, after.Item(i), at)...)
				continue
			}
			// The member name itself contained a secret. The pointer holds its redacted form;
			// the original member is not searched for.
			found = append(found, redactionAt(at, "", name+string(after.Item(i).JCS())))
		}
	default:
		found = append(found, redactionAt(pointer, string(before.JCS()), string(after.JCS())))
	}
	return found
}

// redactionAt returns the redaction of the rules whose markers occur more often after it than before.
func redactionAt(pointer, before, after string) Redaction {
	marks := map[redact.Rule]bool{}
	for _, rule := range redact.Rules() {
		if mark := redact.Marker(rule); strings.Count(after, mark) > strings.Count(before, mark) {
			marks[rule] = true
		}
	}
	return Redaction{Pointer: pointer, Rules: slices.Sorted(maps.Keys(marks))}
}
