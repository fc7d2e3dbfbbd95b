package compile

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/source"
)

// blocks resolves every part of a structured prompt to text. It also returns the references
// that it inserted, in the order in which they appear.
func (u *unit) blocks(p source.PromptBlocks, at problem.SourceValue) (*PromptBlocks, []Injection) {
	var refs []Injection
	one := func(at problem.SourceValue) string { return u.promptValue(at, &refs) }
	// Empty texts are kept, so that the numbers of procedure steps do not change.
	each := func(list problem.SourceValue) []string {
		var out []string
		for _, item := range list.Items() {
			out = append(out, one(item))
		}
		return out
	}
	out := &PromptBlocks{
		Goal:        one(at.Member("goal")),
		Constraints: each(at.Member("constraints")),
		Procedure:   each(at.Member("procedure")),
		Verify:      each(at.Member("verify")),
	}
	// A nil map stays nil, so that the member is left out of the document.
	for key, text := range p.OutputRequired {
		if out.OutputRequired == nil {
			out.OutputRequired = map[string]string{}
		}
		out.OutputRequired[key] = u.text(text)
	}
	return out, refs
}

// promptValue resolves a prompt value: a string, or a list of text and reference parts,
// which are concatenated without separators.
func (u *unit) promptValue(at problem.SourceValue, refs *[]Injection) string {
	if at.Value.Kind() != canon.Array {
		return u.text(at.Value.Text())
	}
	var b strings.Builder
	for _, part := range at.Items() {
		if part.Has("refId") {
			b.WriteString(u.ref(part.Member("refId"), refs))
			continue
		}
		b.WriteString(u.text(part.Member("text").Value.Text()))
	}
	return b.String()
}

// text renders the blocks in the order of the published format: goal, constraints,
// procedure, required output, verification. Empty parts have no heading. outputs are the names
// of the required output in the author's order, which the document keeps in this text alone: the
// members of its own object have none (docs/design.md#compilation). The result is part of the
// workflow hash: the headings must not change.
func (p PromptBlocks) text(outputs []string) string {
	var sections []string
	section := func(heading string, lines []string) {
		if len(lines) > 0 {
			sections = append(sections, "## "+heading+"\n\n"+strings.Join(lines, "\n"))
		}
	}
	if p.Goal != "" {
		section("Goal", []string{p.Goal})
	}
	section("Constraints", bullets(p.Constraints))
	var procedure []string
	for i, s := range p.Procedure {
		procedure = append(procedure, fmt.Sprintf("%d. %s", i+1, s))
	}
	section("Procedure", procedure)
	var output []string
	for _, key := range outputs {
		output = append(output, key+": "+p.OutputRequired[key])
	}
	section("Required output", bullets(output))
	section("Verify", bullets(p.Verify))
	return strings.Join(sections, "\n\n")
}

// bullets renders items as lines of a Markdown list.
func bullets(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}
