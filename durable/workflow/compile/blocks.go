package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/source"
)

// blocks makes text of every part of a structured prompt and says which references
// it put in, in the order in which they are shown.
func (u *unit) blocks(p source.PromptBlocks, at problem.Place) (*PromptBlocks, []Injection) {
	var refs []Injection
	one := func(at problem.Place) string { return u.promptValue(at, &refs) }
	// Empty texts are kept: numbers of a procedure must not shift.
	each := func(list problem.Place) []string {
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
	for key, text := range p.OutputRequired {
		if out.OutputRequired == nil {
			out.OutputRequired = map[string]string{}
		}
		out.OutputRequired[key] = u.text(text)
	}
	return out, refs
}

// promptValue joins the parts of a prompt value as they stand.
func (u *unit) promptValue(at problem.Place, refs *[]Injection) string {
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

// text renders the blocks in the one order of the published format: goal,
// constraints, procedure, required output, verification. What an author leaves out
// leaves no heading.
func (p PromptBlocks) text() string {
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
	for _, key := range slices.Sorted(maps.Keys(p.OutputRequired)) {
		output = append(output, key+": "+p.OutputRequired[key])
	}
	section("Required output", bullets(output))
	section("Verify", bullets(p.Verify))
	return strings.Join(sections, "\n\n")
}

// bullets are a list in Markdown, which agents and terminals both read.
func bullets(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}
