package criteria

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// rule is one check of a text, of one of the ruleTypes. Prompts and failures use the same
// sentences, which are stored in blockers and shown in prompts: they must not change.
type rule struct {
	// message is the author's; if it is blank, the rule's own sentence is shown instead.
	message string
	// requires is the check as a sentence, such as "Must contain 'x'", and forbids the
	// sentence for the rule under "not".
	requires, forbids string
	// operand is the part of the sentence that an author's message often repeats.
	operand string
	// value is the rule in its normal form, without its condition.
	value canon.Value
	// passing are short texts of which each passes the rule if it is in the notes; none for a rule
	// of which that is not known. empty is set if empty notes pass, short if any few characters do.
	passing      []string
	empty, short bool
	// accepts reports whether the notes pass, in time linear in their length. If they do not,
	// why may describe the part that does not match.
	accepts func(notes string) (why string, ok bool)
}

// messageOr returns the author's message, or sentence if the message is blank.
func (r rule) messageOr(sentence string) string {
	if strings.TrimSpace(r.message) == "" {
		return sentence
	}
	return r.message
}

// ruleType is a type of rules: its keys besides type, message and condition, each with its
// JSON Schema, and the function that parses them.
type ruleType struct {
	name  string
	keys  []ruleKey
	parse problem.Parser[rule]
}

// ruleKey is a key of a type of rules. A type without required keys needs one of its keys.
type ruleKey struct {
	name     string
	required bool
	schema   shape.Keywords
}

// ruleTypes lists the types of rules in alphabetical order.
var ruleTypes = []ruleType{
	{"contains", []ruleKey{{"value", true, shape.Keywords{"type": "string", "minLength": 1,
		"description": "The text that the notes must contain"}}}, parseContains},
	{"length", []ruleKey{
		{"min", false, shape.Keywords{"type": "integer", "minimum": canon.OfInt(0),
			"description": "At least so many characters"}},
		{"max", false, shape.Keywords{"type": "integer", "minimum": canon.OfInt(0),
			"description": "At most so many characters"}}}, parseLength},
	{"regex", []ruleKey{
		{"pattern", true, shape.Keywords{"type": "string", "minLength": 1,
			"description": "A regular expression (RE2) that the notes must match"}},
		{"flags", false, shape.Keywords{"type": "string", "pattern": "^[gimsuy]{0,6}$",
			"description": "i ignores case, m makes ^ and $ match at lines, s lets the dot match a newline; y allows a " +
				"match at the start only, g and u change nothing"}}}, parseRegex},
	{"schema", []ruleKey{{"schema", true, shape.Keywords{"type": []string{"object", "boolean"},
		"description": "A JSON Schema that the notes, or their first ```json block, must match"}}}, parseSchemaRule},
}

// reads reports whether name is a key of the type.
func (t ruleType) reads(name string) bool {
	return slices.ContainsFunc(t.keys, func(k ruleKey) bool { return k.name == name })
}

// otherNames are names of keys in other languages of rules, in lower case and without - and _.
var otherNames = map[string]string{
	"text": "value", "contains": "value", "substring": "value", "expected": "value", "regex": "pattern",
	"regexp": "pattern", "expression": "pattern", "matches": "pattern", "minlength": "min", "atleast": "min",
	"maxlength": "max", "atmost": "max", "error": "message", "description": "message", "hint": "message",
	"if": "condition", "when": "condition", "runcondition": "condition", "jsonschema": "schema", "kind": "type",
}

// meant returns a question about the key that the author meant, "" if no key of the type is similar.
func (t ruleType) meant(name string) string {
	keys := []string{"type", "message", "condition"}
	for _, k := range t.keys {
		keys = append(keys, k.name)
	}
	key := otherNames[strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))]
	if !slices.Contains(keys, key) {
		key = nearest.Of(name, keys)
	}
	if key == "" {
		return ""
	}
	return fmt.Sprintf("Did you mean %q? ", key)
}

// parseRule parses one rule. Keys of another rule type are dropped with a warning, because
// they are not checked: a "min" in a contains rule has no effect. Unknown keys are errors,
// because they may be misspelled.
func parseRule(at problem.SourceValue, report problem.Report) node {
	kind := at.Member("type")
	i := slices.IndexFunc(ruleTypes, func(t ruleType) bool { return t.name == kind.Value.Text() })
	if i < 0 {
		report.Error(kind, `Set "type" to contains, regex, length or schema.`,
			"a validation rule needs a type of contains, regex, length or schema")
		return node{}
	}
	t := ruleTypes[i]
	var keys []string
	for _, k := range t.keys {
		keys = append(keys, k.name)
	}
	for _, name := range at.Names() {
		found := report.Error
		switch {
		case name == "type" || name == "message" || name == "condition" || t.reads(name):
			continue
		case slices.ContainsFunc(ruleTypes, func(other ruleType) bool { return other.reads(name) }):
			found = report.Warn
		}
		found(at.Member(name), cmp.Or(t.meant(name), "Remove it; ")+t.name+" reads "+strings.Join(keys, " and ")+".",
			"key %q has no effect in a rule of type %s", name, t.name)
	}
	// A rule without a message is the same as one with an empty message.
	message := at.Member("message")
	if at.Has("message") {
		report.Expect(message, canon.String, "Describe in one sentence what is missing when the rule fails.",
			`"message" of a validation rule must be a string`)
	}
	var n node
	if at.Has("condition") {
		n.when, _ = condition.Parse(at.Member("condition"), report)
	}
	n.rule = t.parse(at, report)
	n.rule.message = message.Value.Text()
	n.rule.value = n.rule.value.With("type", kind.Value).With("message", canon.OfString(message.Value.Text()))
	return n
}

// parseContains parses a rule that requires a text in the notes. Texts are compared byte by
// byte, without regard to Unicode forms.
func parseContains(at problem.SourceValue, report problem.Report) rule {
	text := parseText(at, "value", "Write the text that the notes must contain.", report)
	return rule{
		requires: "Must contain '" + text + "'",
		forbids:  "Must not contain '" + text + "'",
		operand:  text,
		value:    shape.JSONOf("value", text),
		passing:  []string{text},
		accepts:  func(notes string) (string, bool) { return "", strings.Contains(notes, text) },
	}
}

// parseText parses a required string that must not be empty.
func parseText(at problem.SourceValue, name, fix string, report problem.Report) string {
	member := at.Member(name)
	if member.Value.Text() == "" {
		report.Error(member, fix, "a validation rule needs %q, a string that is not empty", name)
	}
	return member.Value.Text()
}

// parseLength parses a rule that bounds the length of the notes. It is in characters, not
// bytes, so that the same bound means the same amount of text in every script. Bounds that no
// text can meet are an error.
func parseLength(at problem.SourceValue, report problem.Report) rule {
	least, most := 0, math.MaxInt
	var parts []string
	r := rule{value: canon.OfMembers()}
	for _, bound := range []struct {
		name, words string
		to          *int
	}{{"min", "≥%d chars", &least}, {"max", "≤%d chars", &most}} {
		member := at.Member(bound.name)
		switch {
		case !at.Has(bound.name):
		case !isCount(member.Value):
			report.Error(member, "Write a number of characters, such as 200.", "%s must be a whole number from 0",
				bound.name)
		default:
			*bound.to = int(member.Value.Float())
			parts = append(parts, fmt.Sprintf(bound.words, *bound.to))
			r.value = r.value.With(bound.name, canon.OfInt(int64(*bound.to)))
		}
	}
	switch {
	case !at.Has("min") && !at.Has("max"):
		report.Error(at, `Add "min" or "max", a number of characters.`, "a length rule needs min or max")
	case least > most:
		report.Error(at, "Exchange the two.", "min %d is more than max %d", least, most)
	}
	r.operand = strings.Join(parts, ", ")
	r.requires, r.forbids = "Length: "+r.operand, "Length must not be: "+r.operand
	r.empty, r.short = least == 0, least <= shortNotesMax
	r.accepts = func(notes string) (string, bool) {
		n := utf8.RuneCountInString(notes)
		return "", n >= least && n <= most
	}
	return r
}

// parseSchemaRule parses a rule that requires a JSON value in the notes that matches a JSON
// Schema: the notes as a whole, or their first block marked as JSON. New workflows should use
// artifacts for data; the rule exists for workflows that are older than artifacts
// (docs/design.md#authoring).
func parseSchemaRule(at problem.SourceValue, report problem.Report) rule {
	source := at.Member("schema")
	if !at.Has("schema") {
		report.Error(source, `Add "schema", such as {"type": "object", "required": ["findings"]}.`,
			`a validation rule of type schema needs "schema"`)
		return rule{}
	}
	schema, text := parseSchema(source, report), string(source.Value.JCS())
	return rule{
		requires: "Must be JSON, or hold it in a ```json block, that matches the schema: " + text,
		forbids:  "Must not hold JSON that matches the schema: " + text,
		operand:  text,
		value:    canon.OfMembers(canon.Member{Name: "schema", Value: source.Value}),
		accepts: func(notes string) (string, bool) {
			v, err := findJSON(notes)
			if err != nil {
				return err.Error(), false
			}
			why := schema.mismatch(problem.SourceValue{Value: v})
			return why, why == ""
		},
	}
}
