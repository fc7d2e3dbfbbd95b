package prompt

import "github.com/waybill/waybill/durable/workflow/compile"

// Preamble renders the text that a workflow shows with its first step and when a run is
// resumed: preconditions, questions, guidance and references; "" if it has none. References
// are listed, not read.
func Preamble(c compile.Compiled) string {
	var p page
	p.section("Before you begin, this must be so", bullets(c.Preconditions))
	p.section("Ask first, where it is not clear", bullets(c.ClarificationPrompts))
	p.section("In every step", bullets(c.MetaGuidance))
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
	p.section("References", bullets(refs))
	return p.text()
}
