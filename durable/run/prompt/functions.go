package prompt

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// functions renders the definitions of functions below a heading, in their order; an agent in
// a new conversation has no other source for them. Over most bytes the text is truncated, and a
// note counts the definitions that are incomplete or missing.
func functions(heading string, list []compile.Function, f *filler, most int) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## " + heading + "\n")
	var ends []int // end of each definition in the text
	for _, fn := range list {
		if b.Len() <= most {
			b.WriteString("\n" + strings.Join(function(fn, f), "\n"))
		}
		ends = append(ends, b.Len())
	}
	text := b.String()
	if len(text) <= most {
		return text
	}
	const omission = "\n\nOmitted %d function definitions."
	// The digits leave space for the largest possible count.
	budget := most - len(omission) - len("9999")
	omitted := 0
	for _, end := range ends {
		// A definition is complete if it ends before the marker.
		if end > budget-len(limits.TruncationMarker) {
			omitted++
		}
	}
	return reason.Truncate(text, budget) + fmt.Sprintf(omission, omitted)
}

// function renders one definition: its signature, its parameters, and the calls that the step
// requires.
func function(fn compile.Function, f *filler) []string {
	var names []string
	for _, p := range fn.Parameters {
		// The signature lists names only; types and defaults follow in the parameters' own
		// lines.
		names = append(names, p.Name)
	}
	out := []string{fmt.Sprintf("- %s(%s): %s", fn.Name, strings.Join(names, ", "), f.fill(fn.Definition))}
	for _, p := range fn.Parameters {
		out = append(out, "  - "+parameter(p))
	}
	for _, args := range fn.Calls {
		// Calls are the arguments of the step's functionCalls, in the order of the source.
		out = append(out, "  - follow it with "+string(args.JCS()))
	}
	return out
}

// parameter renders one parameter in one line.
func parameter(p source.Parameter) string {
	s := p.Name + ": " + p.Type
	if p.Required {
		s += ", required"
	}
	if len(p.Enum) > 0 {
		s += ", one of " + string(canon.OfList(p.Enum...).JCS())
	}
	if !p.Default.IsNull() {
		s += ", else " + string(p.Default.JCS())
	}
	if p.Description != "" {
		s += ". " + p.Description
	}
	return s
}
