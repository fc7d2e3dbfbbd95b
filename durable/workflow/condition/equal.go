package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// Match is a pair of values that are equal by the loose rule only: what a condition expects,
// and what the variable has. Both are texts, numbers or booleans.
type Match struct {
	Path     string
	Expected canon.Value
	Got      canon.Value
}

// matchesMax bounds the matches of a decision. It is more than a record or a summary of a trace
// contains. A match is compared with all before it, so that without a bound the cost of a decision
// is quadratic in its comparisons, which may be 100,000 in one workflow.
const matchesMax = 64

// AddMatches appends the matches that list does not contain, up to matchesMax.
func AddMatches(list, more []Match) []Match {
	for _, m := range more {
		if len(list) >= matchesMax {
			return list
		}
		same := func(n Match) bool { return m.Path == n.Path && m.Expected.Equal(n.Expected) && m.Got.Equal(n.Got) }
		if !slices.ContainsFunc(list, same) {
			list = append(list, m)
		}
	}
	return list
}

// relation is the result of comparing two values.
type relation uint8

const (
	different relation = iota
	alike              // equal by the loose rule only
	identical          // equal as JSON values
)

// equality is a rule that compares a value with others. Every rule gives the same relation in
// both directions.
type equality func(v canon.Value) func(other canon.Value) relation

// strictly is the rule of form 1.
func strictly(v canon.Value) func(other canon.Value) relation {
	return func(other canon.Value) relation {
		if v.Equal(other) {
			return identical
		}
		return different
	}
}

// loosely is the rule of form 2. Lists, objects and null are alike to nothing
// (docs/design.md#compiled-forms).
func loosely(v canon.Value) func(other canon.Value) relation {
	// Read once: a list of operands may be long, and so may the text of a context.
	var of text
	if v.Kind() == canon.String {
		of = textIn(v)
	}
	return func(other canon.Value) relation {
		switch {
		case v.Equal(other):
			return identical
		case v.Kind() == canon.String && of.isLike(other), other.Kind() == canon.String && textIn(other).isLike(v):
			return alike
		}
		return different
	}
}

// text is what a text is compared by: without white space at its ends, and as a number.
type text struct {
	trimmed  string
	number   float64
	isNumber bool
}

// jsonNumber matches the texts that are numbers of JSON. Other parsers accept more.
var jsonNumber = pattern.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// textIn reads a text. The number need not be in its shortest spelling and may have more digits
// than a double; one beyond the range of a double is no number.
func textIn(v canon.Value) text {
	t := text{trimmed: strings.TrimSpace(v.Text())}
	if t.trimmed != "" && t.trimmed[0] <= '9' && jsonNumber.MatchString(t.trimmed) {
		n, err := strconv.ParseFloat(t.trimmed, 64)
		t.number, t.isNumber = n, err == nil
	}
	return t
}

// isLike reports whether a text is alike to a value: another spelling of the same text in
// letter case and white space at the ends, a name of the boolean, or a text of the number.
func (t text) isLike(v canon.Value) bool {
	switch v.Kind() {
	case canon.String:
		return strings.EqualFold(t.trimmed, strings.TrimSpace(v.Text()))
	case canon.Bool:
		is := func(name string) bool { return strings.EqualFold(t.trimmed, name) }
		return slices.ContainsFunc(namesOfBool(v.True()), is)
	case canon.Number:
		return t.isNumber && t.number == v.Float()
	}
	return false
}

// namesOfBool returns the texts that are alike to a boolean, in lower case.
func namesOfBool(b bool) []string {
	if b {
		return []string{"true", "yes"}
	}
	return []string{"false", "no"}
}
