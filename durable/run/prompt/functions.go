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

// functions is the part of a prompt that explains the functions it names: whoever
// takes up a run in a new chat has no other way to know what a name means (locks
// section 5). They come nearest scope first; over the budget the text is cut, and the
// note counts the definitions that are not there in full.
func functions(list []compile.Function, f *filler) string {
	if len(list) == 0 {
		return ""
	}
	text := "## Functions\n"
	var ends []int // where each definition ends in text
	for _, fn := range list {
		text += "\n" + strings.Join(function(fn, f), "\n")
		ends = append(ends, len(text))
	}
	if len(text) <= limits.FunctionsBytesMax {
		return text
	}
	const omission = "\n\nOmitted %d function definitions."
	room := limits.FunctionsBytesMax - len(omission) - len("9999")
	omitted := 0
	for _, end := range ends {
		if end > room-len(limits.TruncationMarker) {
			omitted++
		}
	}
	return reason.Truncate(text, room) + fmt.Sprintf(omission, omitted)
}

// function is one definition in lines, with what may be passed and what is.
func function(fn compile.Function, f *filler) []string {
	var names []string
	for _, p := range fn.Parameters {
		names = append(names, p.Name)
	}
	out := []string{fmt.Sprintf("- %s(%s): %s", fn.Name, strings.Join(names, ", "), f.fill(fn.Definition))}
	for _, p := range fn.Parameters {
		out = append(out, "  - "+parameter(p))
	}
	for _, args := range fn.Calls {
		out = append(out, "  - follow it with "+string(args.JCS()))
	}
	return out
}

// parameter says in one line what a caller may pass.
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
