package proposal

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
)

// Redaction says where something was taken out of a file, and by which rules.
type Redaction struct {
	Pointer string        `json:"pointer"` // RFC 6901, from the root of the file
	Rules   []redact.Rule `json:"rules"`
}

// redactions finds where a document differs from what the redaction left of it. The
// redaction itself counts what it took out; somebody has to find the place in their file.
func redactions(was, now canon.Value) []Redaction {
	var f redactionFinder
	f.compare(was, now, "")
	return f.found
}

type redactionFinder struct{ found []Redaction }

func (f *redactionFinder) compare(was, now canon.Value, pointer string) {
	switch {
	case was.Equal(now):
	case was.Kind() == canon.Array && now.Kind() == canon.Array && was.Len() == now.Len():
		for i := range was.Len() {
			f.compare(was.Item(i), now.Item(i), pointer+"/"+strconv.Itoa(i))
		}
	case was.Kind() == canon.Object && now.Kind() == canon.Object:
		for i := range now.Len() {
			name := now.Key(i)
			at := pointer + "/" + canon.EscapePointer(name)
			if before, ok := was.Get(name); ok {
				f.compare(before, now.Item(i), at)
				continue
			}
			// The name itself held a secret: the pointer tells what is left of it, and the
			// member it was is not looked for.
			f.add(at, "", name+string(now.Item(i).JCS()))
		}
	default:
		f.add(pointer, string(was.JCS()), string(now.JCS()))
	}
}

// add names the rules whose marks stand in a text more often than they did.
func (f *redactionFinder) add(pointer, was, now string) {
	marks := map[redact.Rule]bool{}
	for _, rule := range redact.Rules() {
		if mark := redact.Marker(rule); strings.Count(now, mark) > strings.Count(was, mark) {
			marks[rule] = true
		}
	}
	f.found = append(f.found, Redaction{Pointer: pointer, Rules: slices.Sorted(maps.Keys(marks))})
}
