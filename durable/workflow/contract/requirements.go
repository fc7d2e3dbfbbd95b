package contract

import (
	"fmt"
	"slices"
	"strings"
)

// requirementsBytesMax bounds what a contract adds to a prompt: a text that is read
// with every attempt must stay shorter than the instruction. It is soft where an
// example alone is longer, which none of ours is.
const requirementsBytesMax = 1280

// Requirements are the lines, without bullets, that tell whoever sends the artifact
// what it must be: the contract, the kind, one line for each member with the
// required ones first, and last an example as JSON on one line (locks 18.3). They
// come to 1280 bytes at most: what nested values hold, then the lines of
// single members, are shortened first, and the example never is.
func (p Pack) Requirements() []string {
	head := []string{"Artifact contract: " + p.ContractRef, "kind: " + quote(p.ArtifactKind)}
	last := "Example: " + string(p.Example.JCS())
	var lines []string
	for _, detail := range []func(*Shape) []string{
		func(s *Shape) []string { return memberLines(s, described) },
		func(s *Shape) []string { return memberLines(s, spelledOut) },
		func(s *Shape) []string { return memberLines(s, choices) },
		func(s *Shape) []string { return memberLines(s, named) },
		memberNames,
	} {
		lines = append(append(head[:len(head):len(head)], detail(&p.Shape)...), last)
		if len(strings.Join(lines, "\n")) <= requirementsBytesMax {
			break
		}
	}
	return lines
}

// detail is how much is said about a member.
type detail int

const (
	named      detail = iota // nested members by name
	choices                  // with the words to choose from: an example does not show the others
	spelledOut               // with what each must be
	described                // and with the descriptions
)

// memberLines is a line for each member of an object.
func memberLines(s *Shape, d detail) []string {
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

// memberNames is what remains to be said of an object with very many members.
func memberNames(s *Shape) []string {
	return []string{fmt.Sprintf("%s, of which required: %s", count(len(s.Fields), "member"),
		cut(strings.Join(requiredNames(s), ", "), requirementsBytesMax/2))}
}

// detailed is want with what is inside.
func (s *Shape) detailed(d detail) string {
	if len(s.AnyOf) > 0 {
		parts := make([]string, len(s.AnyOf))
		for i := range s.AnyOf {
			parts[i] = s.AnyOf[i].detailed(d)
		}
		return strings.Join(parts, ", or ")
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

// chooses reports a closed set of words in s.
func (s *Shape) chooses() bool {
	return len(s.Enum) > 0 || s.Items != nil && s.Items.chooses() ||
		slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Shape.chooses() })
}

// requiredNames lists the fields that must be there.
func requiredNames(s *Shape) []string {
	var out []string
	for _, f := range s.Fields {
		if f.Required {
			out = append(out, f.Name)
		}
	}
	return out
}
