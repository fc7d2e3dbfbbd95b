// Package prompt renders the text that an agent or person is shown for a pending step: the
// compiled prompt with values of the run's context, and all requirements on the output, so
// that nothing is checked that was not announced (docs/design.md#output-requirements).
//
// It is a pure function of a compiled workflow and a context: rendering again gives the same
// bytes. It decides nothing, and shortens only bounded parts: definitions of functions, lists
// of criteria, and recovery texts (docs/design.md#limits). The rendered sentences are part of
// the product and covered by golden tests. Start with Render and Recap.
package prompt

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Render returns the text for a pending step and a warning for each {{path}} that the context
// does not contain. vars is the node's context with the variables of the loops around the
// step (interpreter.Variables). The parts have a fixed order: role, prompt, applicable
// fragments, guidance, functions, files, command, missing inputs, output requirements. Parts
// that the step does not have are omitted.
func Render(c compile.Compiled, step compile.Step, vars canon.Value) (text string, warnings []string) {
	f := filler{vars: vars}
	var p page
	// The step's role replaces the workflow's.
	if role := cmp.Or(step.AgentRole, c.AgentRole); role != "" {
		p.add("Role: " + f.fill(role))
	}
	p.add(f.fill(step.Prompt))
	for _, fragment := range step.PromptFragments {
		// Conditions of fragments read the same variables as placeholders.
		if fragment.Holds(vars) {
			p.add(f.fill(fragment.Text))
		}
	}
	p.section("Guidance", bullets(f.fillAll(step.Guidance)))
	p.add(functions("Functions", step.Functions, &f, limits.FunctionsBytesMax))
	if step.AskForFiles {
		p.section("Files", []string{"Ask for the files that this step needs before you begin."})
	}
	if step.Action != nil {
		p.section("Command", describe(*step.Action))
	}
	// Last in the body, next to the requirements: these inputs block the step.
	p.section("Needed before this step can be left", inputs(c.MissingInputs(step, vars)))
	return p.text() + requirements(c, step, &f), f.warnings
}

// page joins parts with one empty line between them.
type page struct{ parts []string }

// add skips empty parts, so that no heading appears without text.
func (p *page) add(part string) {
	if part = strings.TrimRight(part, " \t\n"); part != "" {
		p.parts = append(p.parts, part)
	}
}

// section adds a heading with lines, or nothing if there are no lines.
func (p *page) section(heading string, lines []string) {
	if len(lines) > 0 {
		p.add("## " + heading + "\n\n" + strings.Join(lines, "\n"))
	}
}

// text returns the page without a final newline.
func (p *page) text() string { return strings.Join(p.parts, "\n\n") }

// bullets formats items as a Markdown list.
func bullets(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}

// inputs lists missing inputs by context key, which is what a caller sets.
func inputs(missing []source.Input) []string {
	var out []string
	for _, in := range missing {
		s := fmt.Sprintf("- %s (context key %s", in.Description, in.ContextKey)
		if len(in.Choices) > 0 {
			s += "; one of " + strings.Join(in.Choices, ", ")
		}
		out = append(out, s+")")
	}
	return out
}
