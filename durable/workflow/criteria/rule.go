package criteria

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// rule is one check of a text. The types are closed: contains, regex, length, schema. Each
// says what it asks for itself, so that a prompt and a failure use the same words.
type rule interface {
	accepts(text string) bool
	message() string   // the author's
	requires() string  // what is checked, as a sentence
	operand() string   // the part of the sentence that a message may already hold
	forbidden() string // requires under a "not"
	value() canon.Value
}

// said is the author's message, which every rule carries. It may be empty: the rule
// then speaks for itself.
type said string

// or is the message, or what stands in for one that says nothing.
func (s said) or(sentence string) string {
	if strings.TrimSpace(string(s)) == "" {
		return sentence
	}
	return string(s)
}

// message is the author's sentence.
func (s said) message() string { return string(s) }

// fields are a rule in the source's own spelling.
func (s said) fields(kind string, more ...canon.Member) canon.Value {
	return canon.OfMembers(append(more, member("type", kind), member("message", string(s)))...)
}

// member is a member of kind string, which most are.
func member(name, text string) canon.Member {
	return canon.Member{Name: name, Value: canon.OfString(text)}
}

type containsRule struct {
	said
	text string
}

func (r containsRule) accepts(text string) bool { return strings.Contains(text, r.text) }
func (r containsRule) requires() string         { return "Must contain '" + r.text + "'" }
func (r containsRule) forbidden() string        { return "Must not contain '" + r.text + "'" }
func (r containsRule) operand() string          { return r.text }

func (r containsRule) value() canon.Value { return r.fields("contains", member("value", r.text)) }

type regexRule struct {
	said
	pattern, flags string         // as the author wrote them, without flags of no effect
	re             *regexp.Regexp // RE2: linear in the text whatever the pattern
}

// accepts looks for the first match: if any starts where the text does, that one does.
func (r regexRule) accepts(text string) bool {
	at := r.re.FindStringIndex(text)
	return at != nil && (at[0] == 0 || !r.sticky())
}

func (r regexRule) requires() string  { return "Must match pattern" + r.where() + ": " + r.pattern }
func (r regexRule) forbidden() string { return "Must not match pattern" + r.where() + ": " + r.pattern }
func (r regexRule) operand() string   { return r.pattern }

// sticky is the flag y, which RE2 does not have.
func (r regexRule) sticky() bool { return strings.Contains(r.flags, "y") }

func (r regexRule) where() string {
	if r.sticky() {
		return " at the start"
	}
	return ""
}

func (r regexRule) value() canon.Value {
	fields := []canon.Member{member("pattern", r.pattern)}
	if r.flags != "" {
		fields = append(fields, member("flags", r.flags))
	}
	return r.fields("regex", fields...)
}

// lengthRule counts characters, so that a text is as long in every script.
type lengthRule struct {
	said
	min, max int // -1: no bound
}

func (r lengthRule) accepts(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= r.min && (r.max < 0 || n <= r.max)
}

func (r lengthRule) requires() string  { return "Length: " + r.bounds() }
func (r lengthRule) forbidden() string { return "Length must not be: " + r.bounds() }
func (r lengthRule) operand() string   { return r.bounds() }

// bounds is written as the locks show it (18.3).
func (r lengthRule) bounds() string {
	var parts []string
	if r.min >= 0 {
		parts = append(parts, fmt.Sprintf("≥%d chars", r.min))
	}
	if r.max >= 0 {
		parts = append(parts, fmt.Sprintf("≤%d chars", r.max))
	}
	return strings.Join(parts, ", ")
}

func (r lengthRule) value() canon.Value {
	var fields []canon.Member
	if r.min >= 0 {
		fields = append(fields, canon.Member{Name: "min", Value: canon.OfInt(int64(r.min))})
	}
	if r.max >= 0 {
		fields = append(fields, canon.Member{Name: "max", Value: canon.OfInt(int64(r.max))})
	}
	return r.fields("length", fields...)
}
