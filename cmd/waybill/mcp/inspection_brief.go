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

// promptShownMax bounds each prompt of an inspection, in bytes, enough to understand the purpose
// of a step. The pending step contains the complete prompt; the complete prompts of a long
// workflow would use up the context of an agent.
const promptShownMax = 1000

// briefInspection returns the inspection with long prompts truncated. If any was, the member
// truncated states that and names the command that prints the complete prompts.
func briefInspection(e catalog.Entry) document.Inspection {
	doc := document.InspectionOf(e)
	for i := range doc.Uses { // the prompts have the texts
		doc.Uses[i].Text = ""
	}
	n := 0
	doc.Steps = briefSteps(doc.Steps, &n)
	// Loop bodies contain steps with prompts as well.
	doc.Loops = slices.Clone(doc.Loops)
	for i := range doc.Loops {
		doc.Loops[i].Body = briefSteps(doc.Loops[i].Body, &n)
	}
	if n > 0 {
		doc.Truncated = fmt.Sprintf(
			"The prompts of %s are truncated to %d bytes; 'waybill workflows compile %s' prints them completely.",
			page.Plural(n, "step"), promptShownMax, doc.WorkflowID)
	}
	return doc
}

// briefSteps returns copies of the steps with truncated prompts, and adds the number of steps that
// were truncated to n. It does not modify the steps, which the catalog shares.
func briefSteps(steps []compile.Step, n *int) []compile.Step {
	out := slices.Clone(steps)
	for i := range out {
		if briefStep(&out[i]) {
			*n++
		}
	}
	return out
}

// briefStep truncates the prompt of a step, its fragments and its functions. It reports whether
// one of them was too long.
func briefStep(s *compile.Step) bool {
	cut := false
	shorten := func(text string) string {
		short := reason.Truncate(text, promptShownMax)
		cut = cut || short != text
		return short
	}
	if s.Prompt = shorten(s.Prompt); cut {
		s.PromptBlocks = nil // the same text in another form
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
