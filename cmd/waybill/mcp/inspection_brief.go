package mcp

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// promptShownMax is how many bytes of a prompt an agent is shown before a run: enough
// to tell what a step is about. It is given the whole one with the step itself, and
// fifty whole ones would take the room that its work needs.
const promptShownMax = 1000

// briefInspection is InspectionOf with every long prompt cut, which it then says.
func briefInspection(e catalog.Entry) document.Inspection {
	doc := document.InspectionOf(e)
	var n int
	doc.Steps, n = briefSteps(doc.Steps)
	doc.Loops = slices.Clone(doc.Loops)
	for i := range doc.Loops {
		var more int
		doc.Loops[i].Body, more = briefSteps(doc.Loops[i].Body)
		n += more
	}
	if n > 0 {
		doc.Truncated = fmt.Sprintf(
			"The prompts of %s are cut at %d bytes here; 'waybill workflows compile %s' has them whole.",
			page.Plural(n, "step"), promptShownMax, doc.WorkflowID)
	}
	return doc
}

// briefSteps is a copy of steps, and how many of them are cut.
func briefSteps(steps []compile.Step) (out []compile.Step, n int) {
	out = slices.Clone(steps)
	for i := range out {
		if briefStep(&out[i]) {
			n++
		}
	}
	return out, n
}

// briefStep cuts the prompt, and what is written into it once it is shown. It
// reports whether it did.
func briefStep(s *compile.Step) bool {
	cut := false
	shorten := func(text string) string {
		short := reason.Truncate(text, promptShownMax)
		cut = cut || short != text
		return short
	}
	if s.Prompt = shorten(s.Prompt); cut {
		s.PromptBlocks = nil // the same text once more
	}
	s.PromptFragments = slices.Clone(s.PromptFragments)
	for i := range s.PromptFragments {
		s.PromptFragments[i].Text = shorten(s.PromptFragments[i].Text)
	}
	s.Functions = slices.Clone(s.Functions)
	for i := range s.Functions {
		s.Functions[i].Definition = shorten(s.Functions[i].Definition)
	}
	return cut
}
