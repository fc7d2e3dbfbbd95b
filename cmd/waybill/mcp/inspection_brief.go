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

// promptShownMax is how many bytes of a prompt an agent sees before a run:
// enough to tell what a step is about. With the step itself it gets the whole
// prompt; fifty whole ones would take the context that its work needs.
const promptShownMax = 1000

// briefInspection is the inspection with every long prompt cut, and a sentence
// that says so and where the whole prompts are.
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

// briefSteps copies steps and cuts their prompts; n is how many were cut. The
// entry of the catalog is shared and stays as it is.
func briefSteps(steps []compile.Step) (out []compile.Step, n int) {
	out = slices.Clone(steps)
	for i := range out {
		if briefStep(&out[i]) {
			n++
		}
	}
	return out, n
}

// briefStep cuts the prompt of a step and the texts that are inserted into it.
// It reports whether one was too long.
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
