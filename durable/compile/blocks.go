package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow"
)

// resolveBlocks makes text of every part of a structured prompt.
func resolveBlocks(p workflow.PromptBlocks) *PromptBlocks {
	return &PromptBlocks{
		Goal:           resolveText(p.Goal),
		Constraints:    resolveTexts(p.Constraints),
		Procedure:      resolveTexts(p.Procedure),
		OutputRequired: p.OutputRequired,
		Verify:         resolveTexts(p.Verify),
	}
}

// resolveTexts keeps empty texts: numbers of a procedure must not shift.
func resolveTexts(values []canon.Value) []string {
	var out []string
	for _, v := range values {
		out = append(out, resolveText(v))
	}
	return out
}

// resolveText joins the text parts of a prompt value as they stand.
func resolveText(v canon.Value) string {
	if v.Kind() != canon.Array {
		return v.Text()
	}
	var b strings.Builder
	for i := range v.Len() {
		part, _ := v.Item(i).Get("text")
		b.WriteString(part.Text())
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
