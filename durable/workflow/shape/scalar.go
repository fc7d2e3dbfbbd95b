package shape

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Text is a string. Lengths are counted in characters, as in JSON Schema.
type Text struct {
	Min, Max int              // in characters; Max 0: no bound
	Pattern  *pattern.Pattern // nil: any text
	Like     string           // the pattern in words, for messages
}

// Want includes the bounds, if the shape has any.
func (s Text) Want() string {
	out := "a string"
	if s.Like != "" {
		out = s.Like
	}
	switch {
	case s.Min > 0 && s.Max > 0:
		return fmt.Sprintf("%s of %d to %d characters", out, s.Min, s.Max)
	case s.Max > 0:
		return fmt.Sprintf("%s of at most %d characters", out, s.Max)
	case s.Min > 0 && s.Like == "":
		return "a string that is not empty"
	}
	return out
}

// Check reports a text of the wrong length with its length, which helps more than the text.
func (s Text) Check(at problem.SourceValue, report problem.Report) {
	value := at.Value.Text()
	n := utf8.RuneCountInString(value)
	switch {
	case at.Value.Kind() != canon.String, s.Pattern != nil && !s.Pattern.MatchString(value):
		mismatch(at, report, s)
	case n < s.Min, s.Max > 0 && n > s.Max:
		report.Error(at, "Write "+s.Want()+".", "expected %s, got %d characters", s.Want(), n)
	}
}

// Words is a closed set of strings, which Want lists in the given order.
type Words []string

// Want lists the words in quotes.
func (s Words) Want() string {
	quoted := make([]string, len(s))
	for i, word := range s {
		quoted[i] = strconv.Quote(word)
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// Check suggests the most similar word.
func (s Words) Check(at problem.SourceValue, report problem.Report) {
	if at.Value.Kind() == canon.String && slices.Contains(s, at.Value.Text()) {
		return
	}
	fix := nearest.Suggest(at.Value.Text(), s, "Did you mean %q?", "Write "+s.Want()+".")
	report.Error(at, fix, "expected %s, got %s", s.Want(), Got(at))
}

// Amount is a number within inclusive bounds.
type Amount struct {
	Min, Max float64 // Max 0: no upper bound
	Whole    bool    // without a fraction
}

// Want includes the bounds.
func (s Amount) Want() string {
	kind := "a number"
	if s.Whole {
		kind = "a whole number"
	}
	if s.Max > 0 {
		return fmt.Sprintf("%s from %s to %s", kind, digits(s.Min), digits(s.Max))
	}
	return fmt.Sprintf("%s from %s", kind, digits(s.Min))
}

// digits writes a number as in JSON, without an exponent up to 1e21.
func digits(f float64) string { return string(canon.OfFloat(f).JCS()) }

// wholeMax is 2^53: above it a double cannot represent every whole number.
const wholeMax = 1 << 53

// Check accepts 3.0 as a whole number, as JSON Schema does.
func (s Amount) Check(at problem.SourceValue, report problem.Report) {
	f := at.Value.Float()
	switch {
	case at.Value.Kind() != canon.Number:
		mismatch(at, report, s)
	case f < s.Min, s.Max > 0 && f > s.Max, s.Whole && (f != math.Trunc(f) || f > wholeMax):
		report.Error(at, "Write "+s.Want()+".", "expected %s, got %s", s.Want(), digits(f))
	}
}
