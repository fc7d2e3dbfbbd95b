// Package criteria checks the notes of a step against the validationCriteria of its
// workflow: rules of type contains, regex, length and schema, combined with and, or and
// not. Requirements renders the same rules as sentences for the step's prompt, so that the
// performer knows beforehand what is checked (docs/design.md#output-requirements,
// docs/design.md#authoring).
//
// The package checks text only: package contract checks artifacts, and package advance
// decides what follows from a failure. Messages and sentences of rules are stored in
// blockers and rendered into prompts, so their words must not change.
// Start reading at Criteria and Parse.
package criteria

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// Criteria is a parsed set of rules. The zero Criteria accepts all notes.
type Criteria struct{ root *node }

// node is a rule, or a combination of nodes.
type node struct {
	kind  kind
	rule  rule                // of kindRule
	when  condition.Condition // of kindRule: the rule applies only if it is true
	parts []node              // of kindAnd and kindOr: at least two; of kindNot: one
}

// kind is the form of a node: the key that makes it a combination in the source.
type kind string

const (
	kindRule kind = ""
	kindAnd  kind = "and"
	kindOr   kind = "or"
	kindNot  kind = "not"
)

// Failure is one requirement that the notes do not meet.
type Failure struct {
	// Message is the author's message, or the requirement if the author wrote none. For a
	// schema rule, the first mismatch and its place follow in parentheses.
	Message     string
	Requirement string // what was checked, as in Requirements
}

// IsZero reports whether c is the zero Criteria, for a step without validationCriteria.
func (c Criteria) IsZero() bool { return c.root == nil }

// Conditional reports whether a rule of c applies under a condition only.
func (c Criteria) Conditional() bool { return c.root != nil && c.root.conditional() }

// conditional is Conditional for a node.
func (n *node) conditional() bool {
	return !n.when.IsZero() || slices.ContainsFunc(n.parts, func(p node) bool { return p.conditional() })
}

// Strictly returns c with strict comparisons in the conditions of its rules, for a workflow in
// form 1 (docs/design.md#compiled-forms).
func (c Criteria) Strictly() Criteria {
	if c.root == nil {
		return c
	}
	root := c.root.strictly()
	return Criteria{&root}
}

// strictly is Strictly for a node.
func (n node) strictly() node {
	n.when, n.parts = n.when.Strictly(), slices.Clone(n.parts)
	for i := range n.parts {
		n.parts[i] = n.parts[i].strictly()
	}
	return n
}

// Loose returns the matches by the loose rule in the conditions that decide which rules apply.
func (c Criteria) Loose(vars canon.Value) []condition.Match {
	if c.root == nil {
		return nil
	}
	return c.root.loose(vars)
}

// loose is Loose for a node.
func (n *node) loose(vars canon.Value) []condition.Match {
	out := n.when.Decide(vars).Loose
	for i := range n.parts {
		out = condition.AddMatches(out, n.parts[i].loose(vars))
	}
	return out
}

// Check returns the failures of notes, in source order; an empty result means that the
// notes are accepted. vars is the context in which the rules' conditions are evaluated. The
// cost is linear in the length of notes.
func (c Criteria) Check(notes string, vars canon.Value) []Failure {
	if c.root == nil {
		return nil
	}
	// A verdict of notApplicable accepts the notes, and has no failures.
	_, failures := c.root.check(notes, vars)
	return failures
}

// verdict is the result of a node for a text. A rule whose condition is false does not
// apply: it neither satisfies an "or" nor violates a "not". The order of the constants
// matters: the verdict of an "and" is the maximum of its parts.
type verdict uint8

const (
	notApplicable verdict = iota
	passed
	failed
)

// check evaluates one node. Callers drop failures that do not count, such as those of an
// "or" of which another part passes.
func (n *node) check(notes string, vars canon.Value) (verdict, []Failure) {
	switch {
	case n.kind == kindNot:
		return n.checkNot(notes, vars)
	case n.kind != kindRule:
		return n.checkList(notes, vars)
	case !n.when.Eval(vars):
		return notApplicable, nil
	}
	why, ok := n.rule.accepts(notes)
	if ok {
		return passed, nil
	}
	f := Failure{n.rule.messageOr(n.rule.requires), n.sentence(vars)}
	if why != "" {
		f.Message += " (" + why + ")"
	}
	return failed, []Failure{f}
}

// checkList evaluates "and" and "or". An "and" returns every failure, so that all can be
// corrected in one attempt. An "or" passes with the first part that passes; if none does, the
// failures are joined into one: separate failures would read as if all of them had to be
// corrected.
func (n *node) checkList(notes string, vars canon.Value) (verdict, []Failure) {
	out, failures := notApplicable, []Failure(nil)
	for i := range n.parts {
		v, f := n.parts[i].check(notes, vars)
		if v == passed && n.kind == kindOr {
			return passed, nil
		}
		out = max(out, v)
		failures = append(failures, f...)
	}
	// A single failure needs no "one of": it keeps its own message.
	if n.kind == kindOr && len(failures) > 1 {
		messages := make([]string, len(failures))
		for i, f := range failures {
			messages[i] = f.Message
		}
		failures = []Failure{{"One of these must hold: " + strings.Join(messages, "; "), n.sentence(vars)}}
	}
	return out, failures
}

// checkNot inverts the verdict. For a single rule the failure has the author's message,
// which was written for its place under "not".
func (n *node) checkNot(notes string, vars canon.Value) (verdict, []Failure) {
	switch v, _ := n.parts[0].check(notes, vars); v {
	case notApplicable:
		return notApplicable, nil
	case failed:
		return passed, nil
	}
	// The negated part passed. The author's message of a combination's parts would describe
	// what is missing, not what is forbidden, so a combination has the requirement only.
	f := Failure{Requirement: n.sentence(vars)}
	if f.Message = f.Requirement; n.parts[0].kind == kindRule {
		f.Message = n.parts[0].rule.messageOr(n.parts[0].rule.forbids)
	}
	return failed, []Failure{f}
}

// Value returns c in its normal form, which a compiled workflow embeds and hashes: a list of
// rules is an "and", and a combination of one part is that part. Null for the zero
// Criteria.
func (c Criteria) Value() canon.Value {
	if c.root == nil {
		return canon.Value{}
	}
	return c.root.value()
}

// value returns the normal form of a node; parsing it gives the same node.
func (n *node) value() canon.Value {
	if n.kind == kindRule {
		v := n.rule.value
		if !n.when.IsZero() {
			v = v.With("condition", n.when.Value())
		}
		return v
	}
	items := make([]canon.Value, len(n.parts))
	for i := range n.parts {
		items[i] = n.parts[i].value()
	}
	parts := canon.OfList(items...) // a list at the top of the source is written as an "and"
	if n.kind == kindNot {
		parts = items[0]
	}
	return canon.OfMembers(canon.Member{Name: string(n.kind), Value: parts})
}
