package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Written is what a command that succeeded wrote: stdout, and the file that WAYBILL_OUTPUT names.
type Written struct {
	Stdout      []byte // all of it, or nothing if it is longer than what is kept
	StdoutBytes int64
	File        []byte
	Unread      string // why the file was not read, as a clause without a subject; "" if it was
}

// Yield returns the values of the outputs that a step declares (docs/design.md#results-of-commands),
// by context key; why others have none; and the members of the file's object that no output names.
func Yield(outputs map[string]string, w Written) (values canon.Value, unset []UnsetOutput, undeclared []string) {
	values = canon.OfMembers()
	doc, problem := w.object()
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		v, why := w.text()
		if pointer, ok := strings.CutPrefix(outputs[key], source.OutputJSONPrefix); ok {
			v, why = at(doc, pointer)
			if problem != "" {
				why = problem
			}
		}
		if n := len(v.JCS()); why == "" && n > limits.OutputValueBytesMax {
			why = fmt.Sprintf("its value has %d bytes, at most %d are allowed", n, limits.OutputValueBytesMax)
		}
		if why != "" {
			unset = append(unset, UnsetOutput{key, why})
			continue
		}
		values = values.With(key, v)
	}
	return values, unset, undeclaredIn(doc, outputs)
}

// text is stdout without the blanks around it.
func (w Written) text() (v canon.Value, why string) {
	text := strings.TrimSpace(string(w.Stdout))
	switch {
	case int64(len(w.Stdout)) != w.StdoutBytes:
		return v, fmt.Sprintf("stdout has %d bytes, at most %d are allowed", w.StdoutBytes, limits.OutputValueBytesMax)
	case !utf8.Valid(w.Stdout):
		return v, "stdout is not valid UTF-8"
	case text == "":
		return v, "stdout is empty"
	}
	return canon.OfString(text), ""
}

// object is the content of the file, a JSON object. Nothing of the content is part of why.
func (w Written) object() (doc canon.Value, why string) {
	const file = "the file in WAYBILL_OUTPUT "
	switch {
	case w.Unread != "":
		return doc, file + w.Unread
	case len(w.File) == 0:
		return doc, file + "is empty"
	}
	doc, err := canon.Parse(w.File)
	var wrong *canon.ParseError
	switch {
	case errors.As(err, &wrong):
		return canon.Value{}, file + fmt.Sprintf("is not strict JSON: line %d", wrong.Line)
	case err != nil:
		return canon.Value{}, file + "is not strict JSON"
	case doc.Kind() != canon.Object:
		return canon.Value{}, file + "holds no JSON object"
	}
	return doc, ""
}

// at returns the value at a JSON pointer (RFC 6901). null counts as no value, since it removes a
// key from the context.
func at(doc canon.Value, pointer string) (v canon.Value, why string) {
	doc = doc.At(pointer)
	if doc.IsNull() {
		return doc, fmt.Sprintf("the file in WAYBILL_OUTPUT has no value at %q", reason.Clip(pointer, limits.WarningValueBytesMax))
	}
	return doc.AtLine(0), ""
}

// undeclaredIn returns the members of an object that no output names, at most
// limits.UndeclaredShownMax.
func undeclaredIn(doc canon.Value, outputs map[string]string) (out []string) {
	declared := map[string]bool{}
	for _, place := range outputs {
		pointer, ok := strings.CutPrefix(place, source.OutputJSONPrefix)
		if ok && pointer == "" {
			return nil // the whole object
		}
		if path := canon.PointerTokens(pointer); ok {
			declared[path[0]] = true
		}
	}
	for i := range doc.Len() {
		if name := doc.Key(i); !declared[name] && len(out) < limits.UndeclaredShownMax {
			out = append(out, reason.Clip(name, limits.WarningValueBytesMax))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
