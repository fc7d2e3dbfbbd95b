package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Requirements returns the criteria as sentences for a prompt, in source order
// (docs/design.md#output-requirements). Rules whose condition is false for vars are left
// out, since Check would not apply them. The sentences are part of rendered prompts: their
// words must not change.
func (c Criteria) Requirements(vars canon.Value) []string {
	if c.root == nil {
		return nil
	}
	// The parts of an "and" at the top become separate sentences, one per line of the prompt.
	if c.root.kind != kindAnd {
		return nonEmpty(c.root.sentence(vars))
	}
	var out []string
	for i := range c.root.parts {
		out = append(out, nonEmpty(c.root.parts[i].sentence(vars))...)
	}
	return out
}

// nonEmpty returns s as a list, which is empty for a node that does not apply.
func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// sentence renders a node, "" if none of its rules applies.
func (n *node) sentence(vars canon.Value) string {
	switch n.kind {
	case kindRule:
		if !n.when.Eval(vars) {
			return ""
		}
		return n.rule.explained(n.rule.requires)
	case kindNot:
		return n.forbidden(vars)
	}
	var parts []string
	for i := range n.parts {
		parts = append(parts, nonEmpty(n.parts[i].sentence(vars))...)
	}
	// One applicable part needs no "One of" or "All of".
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	if n.kind == kindOr {
		return "One of: " + strings.Join(parts, "; or ")
	}
	return "All of (" + strings.Join(parts, "; ") + ")"
}

// forbidden renders a "not": the rule's own negative sentence, or "Not allowed: " and the
// sentence of a combination.
func (n *node) forbidden(vars canon.Value) string {
	// The sentence of the part is "" if none of its rules applies; then "not" is dropped too.
	inner := &n.parts[0]
	s := inner.sentence(vars)
	if s == "" {
		return ""
	}
	if inner.kind == kindRule {
		return inner.rule.explained(inner.rule.forbids)
	}
	return "Not allowed: " + s
}

// explained appends the author's message in parentheses to a sentence of the rule, unless it
// contains the operand and so probably repeats the sentence.
func (r rule) explained(sentence string) string {
	if m := strings.TrimSpace(r.message); m != "" && !strings.Contains(m, r.operand) {
		return sentence + " (" + m + ")"
	}
	return sentence
}
