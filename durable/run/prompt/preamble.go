package prompt

import (
	"strings"

	"github.com/waybill/waybill/durable/workflow/compile"
)

// Preamble renders the text that a workflow shows with its first step: preconditions, questions,
// guidance and references; "" if it has none. References are listed, not read.
func Preamble(c compile.Compiled) string {
	var p page
	p.section("Before you begin, this must be so", bullets(c.Preconditions))
	p.section("Ask first, where it is not clear", bullets(c.ClarificationPrompts))
	p.section("In every step", bullets(c.MetaGuidance))
	p.section("References", references(c))
	return p.text()
}

// Rules renders the part of the preamble that holds for every step, for a caller that resumes a
// run and has not seen the first step: guidance, that of features included, and references; "" if
// the workflow has none.
func Rules(c compile.Compiled) string {
	lines := bullets(c.MetaGuidance)
	if refs := references(c); len(refs) > 0 {
		lines = append(lines, append([]string{"", "References:", ""}, refs...)...)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// references lists the references of a workflow.
func references(c compile.Compiled) []string {
	var refs []string
	for _, r := range c.References {
		s := r.Title + " (" + r.Source
		if r.ResolveFrom == "package" {
			s += ", beside the workflow file"
		}
		s += "): " + r.Purpose
		// Authoritative: to be followed strictly, as the author marked it.
		if r.Authoritative {
			s += " [authoritative]"
		}
		refs = append(refs, s)
	}
	return bullets(refs)
}
