package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Requirements says the criteria as sentences for a prompt, in the order in which
// the rules are written (locks 18.3). Rules whose condition does not hold over
// vars are left out: they will not be checked.
func (c Criteria) Requirements(vars canon.Value) []string {
	if c.root == nil {
		return nil
	}
	if c.root.kind != all {
		return nonEmpty(c.root.sentence(vars))
	}
	var out []string
	for i := range c.root.parts {
		out = append(out, nonEmpty(c.root.parts[i].sentence(vars))...)
	}
	return out
}

// nonEmpty leaves out the rules that do not apply.
func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// sentence is what n asks for, "" when none of its rules applies.
func (n *node) sentence(vars canon.Value) string {
	switch n.kind {
	case single:
		if !n.when.Eval(vars) {
			return ""
		}
		return withMessage(n.rule.requires(), n.rule)
	case none:
		return n.forbidden(vars)
	}
	var parts []string
	for i := range n.parts {
		parts = append(parts, nonEmpty(n.parts[i].sentence(vars))...)
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	if n.kind == some {
		return "One of: " + strings.Join(parts, "; or ")
	}
	return "All of (" + strings.Join(parts, "; ") + ")"
}

// forbidden is the sentence of a "not".
func (n *node) forbidden(vars canon.Value) string {
	inner := &n.parts[0]
	s := inner.sentence(vars)
	if s == "" {
		return ""
	}
	if inner.kind == single {
		return withMessage(inner.rule.forbidden(), inner.rule)
	}
	return "Not allowed: " + s
}

// withMessage adds the author's words where they say more than the rule does. A
// message that quotes the operand is taken to repeat it.
func withMessage(sentence string, r rule) string {
	if m := strings.TrimSpace(r.message()); m != "" && !strings.Contains(m, r.operand()) {
		return sentence + " (" + m + ")"
	}
	return sentence
}
