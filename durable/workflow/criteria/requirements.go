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
	switch {
	case c.root == nil:
		return nil
	case c.root.kind == kindAnd: // its parts are separate sentences, one per line of the prompt
		return sentences(c.root.parts, vars)
	}
	return sentences([]node{*c.root}, vars)
}

// sentences renders the nodes of which a rule applies.
func sentences(nodes []node, vars canon.Value) []string {
	var out []string
	for i := range nodes {
		if s := nodes[i].sentence(vars); s != "" {
			out = append(out, s)
		}
	}
	return out
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
	parts := sentences(n.parts, vars)
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
