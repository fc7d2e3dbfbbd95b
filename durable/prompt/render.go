// Package prompt renders what an agent or a person is shown for a pending step:
// the compiled prompt with the run's context put in, and everything that will be
// asked of the answer, so that nothing is checked that was not announced.
//
// It is a pure function of a compiled workflow and a context: a replay renders the
// same bytes. It decides nothing and shortens nothing.
package prompt

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow"
)

// Render is the text for a pending step over the context of its node, and a warning
// for each {{path}} that the context does not hold. The parts stand in one order:
// role, prompt, guidance, functions, files, command, inputs still missing, output
// requirements; what a step does not have leaves no trace.
func Render(c compile.Compiled, step compile.Step, vars canon.Value) (text string, warnings []string) {
	f := filler{vars: vars}
	var p page
	if role := step.AgentRole; role != "" {
		p.add("Role: " + f.fill(role))
	} else if c.AgentRole != "" {
		p.add("Role: " + f.fill(c.AgentRole))
	}
	p.add(f.fill(step.Prompt))
	p.section("Guidance", bullets(f.fillAll(step.Guidance)))
	p.section("Functions", functions(step.Functions, &f))
	if step.AskForFiles {
		p.section("Files", []string{"Ask for the files that this step needs before you begin."})
	}
	if step.Action != nil {
		p.section("Command", describe(*step.Action))
	}
	// Last of the body, next to the requirements: what stops the step from being left.
	p.section("Needed before this step can be left", inputs(c.MissingInputs(step, vars)))
	return p.text() + requirements(step, vars), f.warnings
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

// functions are written out in the prompt: whoever takes up a run in a new chat has
// no other way to know what a name means (locks section 5).
func functions(list []compile.Function, f *filler) []string {
	var out []string
	for _, fn := range list {
		var names []string
		for _, p := range fn.Parameters {
			names = append(names, p.Name)
		}
		out = append(out, fmt.Sprintf("- %s(%s): %s", fn.Name, strings.Join(names, ", "), f.fill(fn.Definition)))
		for _, p := range fn.Parameters {
			out = append(out, "  - "+parameter(p))
		}
		for _, args := range fn.Calls {
			out = append(out, "  - follow it with "+string(args.JCS()))
		}
	}
	return out
}

// parameter says in one line what a caller may pass.
func parameter(p workflow.Parameter) string {
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

// inputs name the context key, since that is what has to be set.
func inputs(missing []workflow.Input) []string {
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

// requirements is the section of the locks (18.3): at most five lines, the rest
// counted, behind a rule so that it cannot be taken for a part of the prompt.
func requirements(step compile.Step, vars canon.Value) string {
	var all []string
	if step.NotesRequired {
		all = append(all, "Notes are required")
	}
	all = append(all, step.Criteria().Requirements(vars)...)
	if len(all) == 0 {
		return ""
	}
	if more := len(all) - limits.RequirementsShownMax; more > 0 {
		all = append(bullets(all[:limits.RequirementsShownMax]), fmt.Sprintf("…and %d more", more))
	} else {
		all = bullets(all)
	}
	return "\n\n---\nOUTPUT REQUIREMENTS:\n" + strings.Join(all, "\n")
}
