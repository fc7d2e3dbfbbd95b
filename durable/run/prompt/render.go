// Package prompt renders what an agent or a person is shown for a pending step:
// the compiled prompt with the run's context put in, and everything that will be
// asked of the answer, so that nothing is checked that was not announced.
//
// It is a pure function of a compiled workflow and a context: a replay renders the
// same bytes. It decides nothing, and shortens only what the locks bound: definitions of
// functions and lists of criteria.
package prompt

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Render is the text for a pending step over the context of its node, and a warning
// for each {{path}} that the context does not hold. vars has the variables of the
// loops around the step laid over that context. The parts stand in one order: role,
// prompt, the fragments that hold, guidance, functions, files, command, inputs still
// missing, output requirements; what a step does not have leaves no trace.
func Render(c compile.Compiled, step compile.Step, vars canon.Value) (text string, warnings []string) {
	f := filler{vars: vars}
	var p page
	if role := step.AgentRole; role != "" {
		p.add("Role: " + f.fill(role))
	} else if c.AgentRole != "" {
		p.add("Role: " + f.fill(c.AgentRole))
	}
	p.add(f.fill(step.Prompt))
	for _, fragment := range step.PromptFragments {
		if fragment.Holds(vars) {
			p.add(f.fill(fragment.Text))
		}
	}
	p.section("Guidance", bullets(f.fillAll(step.Guidance)))
	p.add(functions(step.Functions, &f))
	if step.AskForFiles {
		p.section("Files", []string{"Ask for the files that this step needs before you begin."})
	}
	if step.Action != nil {
		p.section("Command", describe(*step.Action))
	}
	// Last of the body, next to the requirements: what stops the step from being left.
	p.section("Needed before this step can be left", inputs(c.MissingInputs(step, vars)))
	return p.text() + requirements(c, step, &f), f.warnings
}

// page collects parts with one empty line between them.
type page struct{ parts []string }

// add drops parts that say nothing, so that no step shows an empty heading.
func (p *page) add(part string) {
	if part = strings.TrimRight(part, " \t\n"); part != "" {
		p.parts = append(p.parts, part)
	}
}

// section is a heading and lines, or nothing.
func (p *page) section(heading string, lines []string) {
	if len(lines) > 0 {
		p.add("## " + heading + "\n\n" + strings.Join(lines, "\n"))
	}
}

func (p *page) text() string { return strings.Join(p.parts, "\n\n") }

// bullets are a list in Markdown.
func bullets(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}

// inputs name the context key, since that is what has to be set.
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
