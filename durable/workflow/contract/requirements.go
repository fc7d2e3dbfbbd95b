package contract

import (
	"fmt"
	"slices"
	"strings"
)

// requirementsBytesMax bounds what a contract adds to a prompt, in bytes: the performer
// reads it in every attempt, so it should be shorter than the instruction. A pack whose
// example alone is longer exceeds it; none of Waybill's packs does.
const requirementsBytesMax = 1280

// Requirements returns the lines, without bullets, that describe the required artifact in a
// prompt: the contract, the kind, one line for each member with required ones first, and an
// example as JSON on one line (docs/design.md#output-requirements). If they exceed
// requirementsBytesMax, descriptions are dropped first, then the details of nested values,
// then the lines of single members; the example is never shortened. The words must not
// change: rendered prompts contain them.
func (p Pack) Requirements() []string {
	head := []string{"Artifact contract: " + p.ContractRef, "kind: " + quote(p.ArtifactKind)}
	last := "Example: " + string(p.Example.JCS())
	for d := described; ; d-- {
		lines := slices.Concat(head, memberLines(&p.Shape, d), []string{last})
		if d == requiredOnly || len(strings.Join(lines, "\n")) <= requirementsBytesMax {
			return lines
		}
	}
}

// detail is how much Requirements describes of a member, from least to most.
type detail int

const (
	requiredOnly detail = iota // the names of required members, for an object with very many
	named                      // nested members by name only
	choices                    // plus the words of enums, which an example cannot show
	spelledOut                 // plus the shape of each nested member
	described                  // plus the descriptions
)

// memberLines renders one line for each member of an object, required ones first.
func memberLines(s *Shape, d detail) []string {
	if d == requiredOnly {
		return []string{fmt.Sprintf("%s, of which required: %s", count(len(s.Fields), "member"),
			cut(strings.Join(requiredNames(s), ", "), requirementsBytesMax/2))}
	}
	var required, optional []string
	for i := range s.Fields {
		f := &s.Fields[i]
		line := f.Shape.detailed(d)
		if d == described && f.Shape.Description != "" {
			line += ". " + f.Shape.Description
		}
		if f.Required {
			required = append(required, f.Name+": "+line)
		} else {
			optional = append(optional, f.Name+" (optional): "+line)
		}
	}
	lines := append(required, optional...)
	if len(s.ExactlyOne) > 0 {
		lines = append(lines, "Send "+s.wantOne())
	}
	return lines
}

// detailed is want extended by the nested shapes.
func (s *Shape) detailed(d detail) string {
	if len(s.AnyOf) > 0 {
		return joined(s.AnyOf, ", or ", func(of *Shape) string { return of.detailed(d) })
	}
	text := s.want()
	if s.Items != nil {
		return text + ", each " + s.Items.detailed(d)
	}
	if len(s.Fields) == 0 {
		return text
	}
	parts := make([]string, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		parts[i] = f.Name
		if !f.Required {
			parts[i] += "?"
		}
		if d > choices || d == choices && f.Shape.chooses() {
			parts[i] += " (" + f.Shape.detailed(d) + ")"
		}
	}
	return text + " with " + strings.Join(parts, ", ")
}

// chooses reports whether s contains an enum.
func (s *Shape) chooses() bool {
	return len(s.Enum) > 0 || s.Items != nil && s.Items.chooses() ||
		slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Shape.chooses() })
}

// requiredNames returns the names of the required fields.
func requiredNames(s *Shape) []string {
	var out []string
	for _, f := range s.Fields {
		if f.Required {
			out = append(out, f.Name)
		}
	}
	return out
}
