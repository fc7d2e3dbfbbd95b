package prompt

import "github.com/waybill/waybill/durable/workflow/compile"

// Preamble is what a workflow says once, with its first step and when a run is
// taken up again: what must be so, what to ask, how to work, what to read. It is
// "" for a workflow that says nothing of the kind. References are named, not read.
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
		if r.Authoritative {
			s += " [authoritative]"
		}
		refs = append(refs, s)
	}
	p.section("References", bullets(refs))
	return p.text()
}
