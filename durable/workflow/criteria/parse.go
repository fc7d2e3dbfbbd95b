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

// example is a validationCriteria for messages.
const example = `[{"type": "contains", "value": "Findings", "message": "List the findings"}]`

// Parse parses validationCriteria: one rule, a combination by and, or, not, or a list of
// these, all of which must pass. It reports problems with their places. The second result
// is false, and the Criteria zero, if an error was reported; warnings do not matter.
func Parse(at problem.SourceValue, report problem.Report) (Criteria, bool) {
	p := parser{report: report, ok: true}
	var root node
	if at.Value.Kind() == canon.Array {
		root = p.list(at, kindAnd)
	} else {
		root = p.node(at)
	}
	if !p.ok {
		return Criteria{}, false
	}
	return Criteria{&root}, true
}

// Of parses the normal form of criteria, from a compiled workflow. It fails with the first
// error; warnings were reported when the workflow was compiled.
func Of(v canon.Value) (Criteria, error) {
	var first error
	c, _ := Parse(problem.SourceValue{Value: v}, func(found problem.Problem) {
		if first == nil && found.Severity == problem.Error {
			first = fmt.Errorf("validationCriteria%s: %s", found.Pointer, found.Message)
		}
	})
	return c, first
}

// parser parses one validationCriteria value and records whether an error was reported.
type parser struct {
	report problem.Report
	ok     bool
}

// fail reports an error and clears ok. Parsing continues, so that all problems are reported
// at once; the incomplete node is discarded by Parse.
func (p *parser) fail(at problem.SourceValue, fix, format string, args ...any) {
	p.ok = false
	p.report.Error(at, fix, format, args...)
}

// node parses a rule or a combination. Other keys in the object of and, or, not are
// rejected, since they would be ignored.
func (p *parser) node(at problem.SourceValue) node {
	if at.Value.Kind() != canon.Object {
		p.fail(at, "Write "+example+".", "a validation rule must be an object, got %s", at.Value.Kind())
		return node{}
	}
	for _, name := range []string{"and", "or", "not"} {
		if !at.Has(name) {
			continue
		}
		// Also catches two of and, or, not in one object.
		if at.Value.Len() > 1 {
			p.fail(at, "Move the other keys into its list.", "%q must be the only key of its object", name)
			return node{}
		}
		inner := at.Member(name)
		switch name {
		case "not":
			return node{kind: kindNot, parts: []node{p.node(inner)}}
		case "or":
			return p.list(inner, kindOr)
		}
		return p.list(inner, kindAnd)
	}
	return p.parseRule(at)
}

// list parses the parts of a combination. A list of one part becomes that part, so that
// equivalent spellings have the same workflow hash.
func (p *parser) list(at problem.SourceValue, k kind) node {
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

// ruleKeys lists the keys of each type of rule besides type, message and condition. The
// first key is required, except in a length rule, which needs one of its two.
var ruleKeys = map[string][]string{
	"contains": {"value"},
	"regex":    {"pattern", "flags"},
	"length":   {"min", "max"},
	"schema":   {"schema"},
}

// parseRule parses one rule. Keys of another rule type are dropped with a warning, because
// they are not checked: a "min" in a contains rule has no effect. Unknown keys are errors,
// because they may be misspelled.
func (p *parser) parseRule(at problem.SourceValue) node {
	kind := at.Member("type")
	keys, ok := ruleKeys[kind.Value.Text()]
	if !ok {
		p.fail(kind, `Set "type" to contains, regex, length or schema.`,
			"a validation rule needs a type of contains, regex, length or schema")
		return node{}
	}
	for _, name := range at.Names() {
		report := p.fail
		switch {
		case name == "type" || name == "message" || name == "condition" || slices.Contains(keys, name):
			continue
		case isRuleKey(name):
			report = p.report.Warn
		}
		report(at.Member(name), "Remove it; "+kind.Value.Text()+" reads "+strings.Join(keys, " and ")+".",
			"key %q has no effect in a rule of type %s", name, kind.Value.Text())
	}
	// Reading continues after an error in one key, so that all are reported.
	var n node
	message := p.message(at)
	if at.Has("condition") {
		when, ok := condition.Parse(at.Member("condition"), p.report)
		n.when, p.ok = when, p.ok && ok
	}
	// The type was checked above, so the default case is length.
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

// isRuleKey reports whether name is a key of some type of rule.
func isRuleKey(name string) bool {
	for _, keys := range ruleKeys {
		if slices.Contains(keys, name) {
			return true
		}
	}
	return false
}

// message parses the author's message. It may be empty but must be present: a missing one
// is often a misspelled key.
func (p *parser) message(at problem.SourceValue) authorMessage {
	member := at.Member("message")
	if member.Value.Kind() != canon.String {
		p.fail(member, "Describe in one sentence what is missing when the rule fails.",
			`a validation rule needs "message", a string, got %s`, member.Value.Kind())
	}
	return authorMessage(member.Value.Text())
}

// schemaRule parses a schema rule; see jsonSchema for the supported keywords.
func (p *parser) schemaRule(at problem.SourceValue, message authorMessage) rule {
	member := at.Member("schema")
	if !at.Has("schema") {
		p.fail(member, `Add "schema", such as {"type": "object", "required": ["findings"]}.`,
			`a validation rule of type schema needs "schema"`)
		return schemaRule{}
	}
	return schemaRule{message, member.Value, p.schema(member)}
}

// text parses a required string that must not be empty.
func (p *parser) text(at problem.SourceValue, name, fix string) string {
	member := at.Member(name)
	if member.Value.Text() == "" {
		p.fail(member, fix, "a validation rule needs %q, a string that is not empty", name)
	}
	return member.Value.Text()
}

// length parses the bounds of a length rule. Bounds that no text can meet are an error.
func (p *parser) length(at problem.SourceValue, message authorMessage) rule {
	r := lengthRule{message, p.count(at, "min"), p.count(at, "max")}
	switch {
	case !at.Has("min") && !at.Has("max"):
		p.fail(at, `Add "min" or "max", a number of characters.`, "a length rule needs min or max")
	case r.max >= 0 && r.min > r.max: // an absent min is -1, which is never greater
		p.fail(at, "Exchange the two.", "min %d is more than max %d", r.min, r.max)
	}
	return r
}

// count parses a bound in characters, -1 if it is absent.
func (p *parser) count(at problem.SourceValue, name string) int {
	if !at.Has(name) {
		return -1
	}
	member := at.Member(name)
	// MaxInt32 keeps the conversion to int exact on all platforms.
	f := member.Value.Float()
	if member.Value.Kind() != canon.Number || f != math.Trunc(f) || f < 0 || f > math.MaxInt32 {
		p.fail(member, "Write a number of characters, such as 200.", "%s must be a whole number from 0", name)
		return -1
	}
	return int(f)
}
