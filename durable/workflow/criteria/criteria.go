// Package criteria checks a step's notes against the validationCriteria that its
// author wrote, and says the same criteria as sentences, so that whoever works on
// the step reads beforehand what will be checked (locks 18.3 and 19).
//
// It judges text only; artifacts are judged by contracts, and what a failure
// leads to is decided by package advance.
package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// Criteria is a parsed set of rules. The zero Criteria accepts everything.
type Criteria struct{ root *node }

// node is a rule, or a composition of nodes.
type node struct {
	kind  kind
	rule  rule
	when  condition.Condition // of a rule
	parts []node
}

type kind uint8

const (
	single kind = iota
	all
	some
	none
)

// Failure is one thing that the notes lack.
type Failure struct {
	// the author's words, or what was checked where there are none; behind those of a schema rule
	// what does not fit, and where
	Message     string
	Requirement string // what was checked, as Requirements says it
}

// IsZero reports criteria that nobody wrote.
func (c Criteria) IsZero() bool { return c.root == nil }

// Check lists what notes lack, in the order in which the rules are written; none
// means that notes are accepted. The cost is linear in the length of notes. vars
// is the context that the rules' own conditions ask about.
func (c Criteria) Check(notes string, vars canon.Value) []Failure {
	if c.root == nil {
		return nil
	}
	_, failures := c.root.check(notes, vars)
	return failures
}

// verdict is what a node says of a text. A rule whose condition does not hold
// says nothing: it neither fulfils an "or" nor breaks a "not".
type verdict uint8

const (
	silent verdict = iota
	passed
	failed
)

// check judges notes by one node. Failures are only kept by who needs them: a failed
// part of an "or" that passes is no failure.
func (n *node) check(notes string, vars canon.Value) (verdict, []Failure) {
	switch n.kind {
	case all:
		return n.checkAll(notes, vars)
	case some:
		return n.checkSome(notes, vars)
	case none:
		return n.checkNone(notes, vars)
	}
	switch {
	case !n.when.Eval(vars):
		return silent, nil
	case n.rule.accepts(notes):
		return passed, nil
	}
	f := Failure{said(n.rule.message()).or(n.rule.requires()), n.sentence(vars)}
	if r, ok := n.rule.(schemaRule); ok {
		f.Message += " (" + r.lacks(notes) + ")" // the schema alone does not say which part
	}
	return failed, []Failure{f}
}

// checkAll lists every failure, so that one more try is enough.
func (n *node) checkAll(notes string, vars canon.Value) (verdict, []Failure) {
	out, failures := silent, []Failure(nil)
	for i := range n.parts {
		v, f := n.parts[i].check(notes, vars)
		out = max(out, v)
		failures = append(failures, f...)
	}
	return out, failures
}

// checkSome passes with the first part that does. When none does, its failures
// become one: listed singly they would read as if all were demanded.
func (n *node) checkSome(notes string, vars canon.Value) (verdict, []Failure) {
	out, failures := silent, []Failure(nil)
	for i := range n.parts {
		v, f := n.parts[i].check(notes, vars)
		if v == passed {
			return passed, nil
		}
		out = max(out, v)
		failures = append(failures, f...)
	}
	if out == failed && len(failures) > 1 {
		messages := make([]string, len(failures))
		for i, f := range failures {
			messages[i] = f.Message
		}
		failures = []Failure{{"One of these must hold: " + strings.Join(messages, "; "), n.sentence(vars)}}
	}
	return out, failures
}

// checkNone turns the verdict around. A single rule keeps its author's message,
// which was written for the place under "not".
func (n *node) checkNone(notes string, vars canon.Value) (verdict, []Failure) {
	switch v, _ := n.parts[0].check(notes, vars); v {
	case silent:
		return silent, nil
	case failed:
		return passed, nil
	}
	f := Failure{Requirement: n.sentence(vars)}
	if f.Message = f.Requirement; n.parts[0].kind == single {
		inner := n.parts[0].rule
		f.Message = said(inner.message()).or(inner.forbidden())
	}
	return failed, []Failure{f}
}

// Value is c in its normal form: what a compiled workflow embeds. A list of rules
// is an "and", a composition of one is its only part. Null for the zero Criteria.
func (c Criteria) Value() canon.Value {
	if c.root == nil {
		return canon.Value{}
	}
	return c.root.value()
}

// value spells a node; parsing the spelling gives the same node.
func (n *node) value() canon.Value {
	if n.kind == single {
		v := n.rule.value()
		if !n.when.IsZero() {
			v = v.With("condition", n.when.Value())
		}
		return v
	}
	items := make([]canon.Value, len(n.parts))
	for i := range n.parts {
		items[i] = n.parts[i].value()
	}
	if n.kind == none {
		return canon.OfMembers(canon.Member{Name: "not", Value: items[0]})
	}
	name := map[kind]string{all: "and", some: "or"}[n.kind]
	return canon.OfMembers(canon.Member{Name: name, Value: canon.OfList(items...)})
}
