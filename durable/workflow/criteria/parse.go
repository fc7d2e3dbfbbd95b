package criteria

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
)

const example = `[{"type": "contains", "value": "Findings", "message": "List the findings"}]`

// Parse reads validationCriteria: a list of rules, of which all must hold, one
// rule, or a composition by and, or, not. It is false when an error was reported.
func Parse(at problem.Place, report problem.Report) (Criteria, bool) {
	p := parser{report: report, ok: true}
	var root node
	if at.Value.Kind() == canon.Array {
		root = p.list(at, all)
	} else {
		root = p.node(at)
	}
	if !p.ok {
		return Criteria{}, false
	}
	return Criteria{&root}, true
}

// Of is Parse for criteria that were compiled before. What there is
// to warn of was said then.
func Of(v canon.Value) (Criteria, error) {
	var first error
	c, _ := Parse(problem.Place{Value: v}, func(found problem.Problem) {
		if first == nil && found.Severity == problem.Error {
			first = fmt.Errorf("validationCriteria%s: %s", found.Pointer, found.Message)
		}
	})
	return c, first
}

type parser struct {
	report problem.Report
	ok     bool
}

// fail reports and remembers; a node that failed is never run.
func (p *parser) fail(at problem.Place, fix, format string, args ...any) {
	p.ok = false
	p.report.Error(at, fix, format, args...)
}

// node reads a rule or a composition. What stands beside and, or, not is refused:
// it would be ignored.
func (p *parser) node(at problem.Place) node {
	if at.Value.Kind() != canon.Object {
		p.fail(at, "Write "+example+".", "a validation rule must be an object, got %s", at.Value.Kind())
		return node{}
	}
	for _, name := range []string{"and", "or", "not"} {
		if !at.Has(name) {
			continue
		}
		if at.Value.Len() > 1 {
			p.fail(at, "Put what stands beside it into its list.", "%q must stand alone in its object", name)
			return node{}
		}
		inner := at.Member(name)
		switch name {
		case "not":
			return node{kind: none, parts: []node{p.node(inner)}}
		case "or":
			return p.list(inner, some)
		}
		return p.list(inner, all)
	}
	return p.single(at)
}

// list reads the parts of a composition; a list of one is its only part, so that
// two spellings of one demand have one hash.
func (p *parser) list(at problem.Place, k kind) node {
	items := at.Items()
	if len(items) == 0 {
		p.fail(at, "Write at least one rule, or leave it out.", "expected a list of at least one validation rule")
		return node{}
	}
	n := node{kind: k}
	for _, item := range items {
		n.parts = append(n.parts, p.node(item))
	}
	if len(n.parts) == 1 {
		return n.parts[0]
	}
	return n
}

// ruleKeys are the keys that each type of rule reads beside type, message and condition.
var ruleKeys = map[string][]string{
	"contains": {"value"},
	"regex":    {"pattern", "flags"},
	"length":   {"min", "max"},
	"schema":   {"schema"},
}

// single reads one rule. Keys of another type are dropped with a warning: a "min" on
// a contains rule is a demand that nobody checks. Keys of no type are refused: they
// may be one that is misspelled.
func (p *parser) single(at problem.Place) node {
	kind := at.Member("type")
	keys, ok := ruleKeys[kind.Value.Text()]
	if !ok {
		p.fail(kind, `Set "type" to contains, regex, length or schema.`,
			"a validation rule needs a type of contains, regex, length or schema")
		return node{}
	}
	for _, name := range at.Names() {
		tell := p.fail
		switch {
		case name == "type" || name == "message" || name == "condition" || slices.Contains(keys, name):
			continue
		case isRuleKey(name):
			tell = p.report.Warn
		}
		tell(at.Member(name), "Remove it; "+kind.Value.Text()+" reads "+strings.Join(keys, " and ")+".",
			"key %q means nothing in a rule of type %s", name, kind.Value.Text())
	}
	var n node
	message := p.message(at)
	if at.Has("condition") {
		when, ok := condition.Parse(at.Member("condition"), p.report)
		n.when, p.ok = when, p.ok && ok
	}
	switch kind.Value.Text() {
	case "contains":
		n.rule = containsRule{message, p.text(at, "value", "Write the text that the notes must contain.")}
	case "regex":
		n.rule = p.regex(at, message)
	case "schema":
		n.rule = p.schemaRule(at, message)
	default:
		n.rule = p.length(at, message)
	}
	return n
}

// isRuleKey tells keys that some type of rule reads.
func isRuleKey(name string) bool {
	for _, keys := range ruleKeys {
		if slices.Contains(keys, name) {
			return true
		}
	}
	return false
}

// message may be empty, but is always there: whoever left it out may have meant
// another key.
func (p *parser) message(at problem.Place) said {
	member := at.Member("message")
	if member.Value.Kind() != canon.String {
		p.fail(member, "Say in one sentence what is missing when the rule fails.",
			`a validation rule needs "message", a string, got %s`, member.Value.Kind())
	}
	return said(member.Value.Text())
}

// schemaRule keeps the schema as it was written, and as what judges.
func (p *parser) schemaRule(at problem.Place, message said) rule {
	member := at.Member("schema")
	if !at.Has("schema") {
		p.fail(member, `Add "schema", such as {"type": "object", "required": ["findings"]}.`,
			`a validation rule of type schema needs "schema"`)
		return schemaRule{}
	}
	return schemaRule{message, member.Value, p.schema(member)}
}

// text is a required string that is not empty.
func (p *parser) text(at problem.Place, name, fix string) string {
	member := at.Member(name)
	if member.Value.Text() == "" {
		p.fail(member, fix, "a validation rule needs %q, a string that is not empty", name)
	}
	return member.Value.Text()
}

// length reads the bounds; bounds that no text meets are refused.
func (p *parser) length(at problem.Place, message said) rule {
	r := lengthRule{message, p.count(at, "min"), p.count(at, "max")}
	switch {
	case !at.Has("min") && !at.Has("max"):
		p.fail(at, `Add "min" or "max", a number of characters.`, "a length rule needs min or max")
	case r.max >= 0 && r.min > r.max:
		p.fail(at, "Exchange the two.", "min %d is more than max %d", r.min, r.max)
	}
	return r
}

// count is a bound in characters, -1 when it is not given.
func (p *parser) count(at problem.Place, name string) int {
	if !at.Has(name) {
		return -1
	}
	member := at.Member(name)
	f := member.Value.Float()
	if member.Value.Kind() != canon.Number || f != math.Trunc(f) || f < 0 || f > math.MaxInt32 {
		p.fail(member, "Write a number of characters, such as 200.", "%s must be a whole number from 0", name)
		return -1
	}
	return int(f)
}
