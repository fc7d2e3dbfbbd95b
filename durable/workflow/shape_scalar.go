package workflow

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/nearest"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// text is a string. Lengths are counted in characters, as JSON Schema does.
type text struct {
	min, max int // max 0: no bound
	pattern  *pattern.Pattern
	like     string // what the pattern asks for, in words
}

// want says the length only where there is a bound.
func (s text) want() string {
	out := "a string"
	if s.like != "" {
		out = s.like
	}
	switch {
	case s.min > 0 && s.max > 0:
		return fmt.Sprintf("%s of %d to %d characters", out, s.min, s.max)
	case s.max > 0:
		return fmt.Sprintf("%s of at most %d characters", out, s.max)
	case s.min > 0 && s.like == "":
		return "a string that is not empty"
	}
	return out
}

// check names the length that it found: a text that is too long shows little else.
func (s text) check(at problem.Place, report problem.Report) {
	value := at.Value.Text()
	n := utf8.RuneCountInString(value)
	switch {
	case at.Value.Kind() != canon.String, s.pattern != nil && !s.pattern.MatchString(value):
		mismatch(at, report, s)
	case n < s.min, s.max > 0 && n > s.max:
		report.Error(at, "Write "+s.want()+".", "expected %s, got %d characters", s.want(), n)
	}
}

// words is a closed set of strings.
type words struct{ set []string }

// oneOf is for the tables.
func oneOf(set ...string) words { return words{set} }

func (s words) want() string {
	quoted := make([]string, len(s.set))
	for i, word := range s.set {
		quoted[i] = strconv.Quote(word)
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// check suggests the word that was probably meant.
func (s words) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() == canon.String && slices.Contains(s.set, at.Value.Text()) {
		return
	}
	fix := "Write " + s.want() + "."
	if near := nearest.Of(at.Value.Text(), s.set); near != "" {
		fix = fmt.Sprintf("Did you mean %q?", near)
	}
	report.Error(at, fix, "expected %s, got %s", s.want(), got(at))
}

// amount is a number within bounds.
type amount struct {
	min, max float64 // max 0: no bound
	whole    bool
}

func (s amount) want() string {
	kind := "a number"
	if s.whole {
		kind = "a whole number"
	}
	if s.max > 0 {
		return fmt.Sprintf("%s from %v to %v", kind, s.min, s.max)
	}
	return fmt.Sprintf("%s from %v", kind, s.min)
}

// wholeMax is where doubles stop to hold every whole number.
const wholeMax = 1 << 53

// check accepts 3.0 as a whole number, as JSON does.
func (s amount) check(at problem.Place, report problem.Report) {
	f := at.Value.Float()
	switch {
	case at.Value.Kind() != canon.Number:
		mismatch(at, report, s)
	case f < s.min, s.max > 0 && f > s.max, s.whole && (f != math.Trunc(f) || f > wholeMax):
		report.Error(at, "Write "+s.want()+".", "expected %s, got %v", s.want(), f)
	}
}
