// Package faults removes secrets from errors before they are printed (docs/design.md#redaction). Messages
// quote what the caller sent: arguments, names, parts of files. Each door at which an error becomes text or
// JSON calls Redact once, so that no message has to do it by itself.
//
// It does not redact causes, which only the diagnostics show: they are redacted where they are written.
package faults

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/redact"
)

// Redact returns a fault without the secrets of its message, suggestion and details. f is not modified; a
// suggestion that has one becomes plain text, so commands in it are adapted to the caller before.
func Redact(f *fault.Fault) *fault.Fault {
	out := *f
	out.Message = text(f.Message)
	if shown := f.Suggestion.String(); text(shown) != shown {
		out.Suggestion = fault.Suggestion{Format: "%s", Args: []any{text(shown)}}
	}
	if f.Details == nil {
		return &out
	}
	out.Details = make(map[string]any, len(f.Details))
	for name, detail := range f.Details {
		// The names are the program's own, except for those that a document of the caller has.
		out.Details[text(name)] = value(detail)
	}
	return &out
}

// text redacts a text. A pointer in it has names of the caller's with escapes, behind which no rule finds a
// secret: a text that has one without them is shown without them.
func text(s string) string {
	out := redact.Text(s, nil)
	if strings.Contains(out, "~") {
		if plain := unescaped.Replace(out); redact.Text(plain, nil) != plain {
			return redact.Text(plain, nil)
		}
	}
	return out
}

// unescaped replaces the escapes of RFC 6901.
var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// value redacts a detail. One that has no JSON form is returned as it is: the caller leaves it out.
func value(detail any) any {
	switch d := detail.(type) {
	case string:
		return text(d)
	case []string:
		out := slices.Clone(d)
		for i := range out {
			out[i] = text(out[i])
		}
		return out
	case []problem.Problem:
		return Problems(d)
	}
	v, err := canon.ValueOf(detail)
	if err != nil {
		return detail
	}
	if clean := redact.Value(v, nil); !clean.Equal(v) {
		return clean
	}
	return detail
}

// Problems returns problems of a file without the secrets that they quote. all is not modified.
func Problems(all []problem.Problem) []problem.Problem {
	out := slices.Clone(all)
	for i := range out {
		p := &out[i]
		p.Pointer, p.Message, p.Fix = text(p.Pointer), text(p.Message), text(p.Fix)
	}
	return out
}
