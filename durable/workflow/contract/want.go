package contract

import (
	"fmt"
	"strconv"
	"strings"
)

// want describes the shape in a few words that follow "expected". The texts are stored in
// blockers and rendered into prompts: they must not change.
func (s *Shape) want() string {
	switch {
	case len(s.AnyOf) > 0:
		return joined(s.AnyOf, " or ", (*Shape).want)
	case !s.Const.IsNull():
		return show(s.Const)
	case len(s.Enum) > 0:
		return "one of " + quoteAll(s.Enum)
	}
	switch s.Type {
	case Text:
		return s.wantText()
	case Integer:
		return "a whole number" + between(s.Min, s.Max)
	case Number:
		return "a number" + between(s.Min, s.Max)
	case Boolean:
		return "true or false"
	case Array:
		return "a list" + sized(s.MinItems, s.MaxItems, "item")
	case Map:
		return "an object" + sized(s.MinItems, s.MaxItems, "member")
	case Object:
		return "an object"
	}
	return "any value"
}

// joined joins the texts of shapes.
func joined(shapes []Shape, separator string, text func(*Shape) string) string {
	var parts []string
	for i := range shapes {
		parts = append(parts, text(&shapes[i]))
	}
	return strings.Join(parts, separator)
}

// wantOne describes ExactlyOne.
func (s *Shape) wantOne() string { return "exactly one of the members " + quoteAll(s.ExactlyOne) }

// wantText describes a Text without Enum and Const. A format takes precedence over lengths
// and pattern.
func (s *Shape) wantText() string {
	if format, ok := formats[s.Format]; ok {
		return format.want
	}
	text := "text" + sized(s.MinChars, s.MaxChars, "character")
	if s.MinChars == 1 && s.MaxChars == 0 {
		text = "text that is not empty"
	}
	if s.Pattern != "" {
		text += " that matches " + s.Pattern
	}
	return text
}

// sized describes bounds of a count, with its noun; "" without bounds.
func sized(least, most int, noun string) string {
	switch {
	case least > 0 && most > 0:
		return fmt.Sprintf(" of %d to %s", least, count(most, noun))
	case least > 0:
		return " of at least " + count(least, noun)
	case most > 0:
		return " of at most " + count(most, noun)
	}
	return ""
}

// between describes bounds of a number; "" without bounds.
func between(least, most *float64) string {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case least != nil && most != nil:
		return " from " + number(least) + " to " + number(most)
	case least != nil:
		return " of at least " + number(least)
	case most != nil:
		return " of at most " + number(most)
	}
	return ""
}
