// Package choices decides which values the inputs of a step accept (docs/design.md#typed-answers):
// the choices that a workflow lists, or those of an earlier step's result.
//
// It reads nothing: a caller finds the result, and Of takes the list from it. Values of results are
// untrusted; texts about them are JSON in one line, with invisible characters escaped, and bounded.
// Start with Of and Needed.
package choices

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// List are the choices of an input, or why there are none. The zero List accepts any value.
type List struct {
	Values []canon.Value // texts, numbers and booleans, no two with the same text
	Why    string        // clause that names the step and the place, "" for a list that is usable
}

// Any reports that every value is accepted.
func (l List) Any() bool { return l.Values == nil && l.Why == "" }

// Of returns the list at a place of a step's result.
func Of(result canon.Value, from source.ChoicesFrom) List {
	at := result.At(from.Pointer)
	switch {
	case at.Kind() != canon.Array:
		return None(from, "it is "+kind(at)+", not a list")
	case at.Len() == 0:
		return None(from, "it is empty")
	case at.Len() > limits.ChoicesMax:
		return None(from, fmt.Sprintf("it has %d entries, at most %d are allowed", at.Len(), limits.ChoicesMax))
	}
	var out List
	first := map[string]int{}
	for i := range at.Len() {
		text, ok := Text(at.Item(i))
		earlier, twice := first[text]
		switch {
		case !ok:
			return None(from, fmt.Sprintf("entry %d is %s", i, kind(at.Item(i))))
		case strings.TrimSpace(text) == "":
			return None(from, fmt.Sprintf("entry %d is empty", i))
		case len(text) > limits.ChoiceBytesMax:
			return None(from, fmt.Sprintf("entry %d has %d bytes, at most %d are allowed", i, len(text), limits.ChoiceBytesMax))
		case twice:
			return None(from, fmt.Sprintf("entry %d has the same text as entry %d", i, earlier))
		}
		first[text] = i
		out.Values = append(out.Values, at.Item(i).AtLine(0))
	}
	return out
}

// None is the list of an input whose choices cannot be taken from a result. why is a clause.
func None(from source.ChoicesFrom, why string) List {
	const most = limits.WarningValueBytesMax
	return List{Why: fmt.Sprintf("the result of step %q has no usable list at %q: %s", reason.Clip(from.Step, most),
		reason.Clip(from.Pointer, most), why)}
}

// fixed is the list of the choices in a workflow.
func fixed(texts []string) List {
	var out List
	for _, text := range texts {
		out.Values = append(out.Values, canon.OfString(text))
	}
	return out
}

// kind names what a value is.
func kind(v canon.Value) string {
	switch v.Kind() {
	case canon.Null:
		return "absent or null"
	case canon.Object, canon.Array:
		return "an " + v.Kind().String()
	}
	return "a " + v.Kind().String()
}

// Text is the text of a value by which it is compared with a choice: a string itself, a number or a
// boolean as JSON. ok is false for other values, which are never a choice.
func Text(v canon.Value) (text string, ok bool) {
	switch v.Kind() {
	case canon.String:
		return v.Text(), true
	case canon.Number, canon.Bool:
		return string(v.JCS()), true
	}
	return "", false
}

// Find returns the choice whose text is that of a value.
func (l List) Find(v canon.Value) (choice canon.Value, ok bool) {
	text, ok := Text(v)
	for _, c := range l.Values {
		if have, _ := Text(c); ok && have == text {
			return c, true
		}
	}
	return canon.Value{}, false
}

// Texts are the texts of the choices.
func (l List) Texts() []string {
	out := make([]string, len(l.Values))
	for i, v := range l.Values {
		out[i], _ = Text(v)
	}
	return out
}

// Shown names the first choices as JSON in one line, at most limits.ChoicesShownMax and about budget
// bytes of them, and counts the rest.
func (l List) Shown(budget int) string {
	var out []string
	for _, v := range l.Values[:min(len(l.Values), limits.ChoicesShownMax)] {
		text := string(invisible.EscapeJSON(v.JCS()))
		if budget -= len(text) + len(", "); budget < 0 {
			break
		}
		out = append(out, text)
	}
	text, more := strings.Join(out, ", "), len(l.Values)-len(out)
	switch {
	case more == 0:
		return text
	case text == "":
		return fmt.Sprintf("%d choices", more)
	}
	return fmt.Sprintf("%s and %d more", text, more)
}

// Input is an input for which a step still needs a value.
type Input struct {
	source.Input
	Accepts List
	Wrong   canon.Value // the value that is none of the choices; null if there is no value
}

// Value names the wrong value as JSON in one line, cut to limits.WarningValueBytesMax. That of a
// secret is not shown.
func (in Input) Value() string {
	if in.Reason == reason.NeedsSecret.Detail {
		return "a secret"
	}
	text := string(invisible.EscapeJSON(in.Wrong.JCS()))
	if len(text) > limits.WarningValueBytesMax {
		return reason.Clip(text, limits.WarningValueBytesMax) + "…"
	}
	return text
}

// Needed returns the inputs of a step, and of its workflow, that vars does not contain or, in form 2,
// for which it has a value that is none of their choices; those of the workflow first, each key once.
// taken has the list of each input with choicesFrom, by context key; one without list has no choices.
func Needed(c compile.Compiled, s compile.Step, vars canon.Value, taken map[string]List) []Input {
	var out []Input
	for _, in := range c.InputsOf(s) {
		accepts := fixed(in.Choices)
		if in.ChoicesFrom != nil {
			l, known := taken[in.ContextKey]
			if accepts = l; !known || l.Any() {
				accepts = None(*in.ChoicesFrom, "it was not read")
			}
		}
		v, _ := vars.Get(in.ContextKey)
		_, matches := accepts.Find(v)
		switch {
		case v.IsNull():
			out = append(out, Input{in, accepts, v})
		case c.Form2() && !accepts.Any() && !matches:
			out = append(out, Input{in, accepts, v})
		}
	}
	return out
}
