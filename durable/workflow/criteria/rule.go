package criteria

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// rule is one check of a text, a closed set: contains, regex, length, schema. Each type
// renders its own sentences, so that prompts and failures use the same words. The sentences
// are stored in blockers and shown in prompts: they must not change.
type rule interface {
	// accepts reports whether the notes pass. It is linear in the length of text.
	accepts(text string) bool
	// message returns the author's message, which may be empty.
	message() string
	// requires returns the check as a sentence, such as "Must contain 'x'".
	requires() string
	// operand returns the part of the sentence that an author's message often repeats.
	operand() string
	// forbidden returns the sentence for the rule under "not".
	forbidden() string
	// value returns the rule in its normal form, without its condition.
	value() canon.Value
}

// authorMessage is the message that every rule has. If it is empty, the rule's own sentence
// is shown instead.
type authorMessage string

// or returns the message, or sentence if the message is blank.
func (s authorMessage) or(sentence string) string {
	if strings.TrimSpace(string(s)) == "" {
		return sentence
	}
	return string(s)
}

// message returns the message as the author wrote it.
func (s authorMessage) message() string { return string(s) }

// fields returns the normal form of a rule: its type, its message and the given members.
func (s authorMessage) fields(kind string, more ...canon.Member) canon.Value {
	return canon.OfMembers(append(more, member("type", kind), member("message", string(s)))...)
}

// member returns a string member.
func member(name, text string) canon.Member {
	return canon.Member{Name: name, Value: canon.OfString(text)}
}

// containsRule requires a text in the notes, compared exactly.
type containsRule struct {
	authorMessage
	// text is not empty and is compared byte by byte, without regard to Unicode forms.
	text string
}

func (r containsRule) accepts(text string) bool { return strings.Contains(text, r.text) }
func (r containsRule) requires() string         { return "Must contain '" + r.text + "'" }
func (r containsRule) forbidden() string        { return "Must not contain '" + r.text + "'" }
func (r containsRule) operand() string          { return r.text }

func (r containsRule) value() canon.Value { return r.fields("contains", member("value", r.text)) }

// regexRule requires a match of a regular expression.
type regexRule struct {
	authorMessage
	// pattern and flags are as the author wrote them, without flags that have no effect.
	pattern, flags string
	// re is the compiled pattern. RE2 matches every pattern in linear time.
	re *regexp.Regexp
}

// accepts uses the leftmost match: with the flag y, it must start at the start of the text,
// and if any match starts there, the leftmost one does.
func (r regexRule) accepts(text string) bool {
	at := r.re.FindStringIndex(text)
	return at != nil && (at[0] == 0 || !r.sticky())
}

func (r regexRule) requires() string  { return "Must match pattern" + r.where() + ": " + r.pattern }
func (r regexRule) forbidden() string { return "Must not match pattern" + r.where() + ": " + r.pattern }
func (r regexRule) operand() string   { return r.pattern }

// sticky reports the flag y, which RE2 does not support; accepts implements it.
func (r regexRule) sticky() bool { return strings.Contains(r.flags, "y") }

// where is the part of the sentences that describes the flag y.
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

// lengthRule bounds the length of the notes in characters, not bytes, so that the same
// bound means the same amount of text in every script.
type lengthRule struct {
	authorMessage
	// min and max are inclusive; -1 is no bound. At least one is set.
	min, max int
}

func (r lengthRule) accepts(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= r.min && (r.max < 0 || n <= r.max)
}

func (r lengthRule) requires() string  { return "Length: " + r.bounds() }
func (r lengthRule) forbidden() string { return "Length must not be: " + r.bounds() }
func (r lengthRule) operand() string   { return r.bounds() }

// bounds renders the bounds for the sentences (docs/design.md#output-requirements).
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
