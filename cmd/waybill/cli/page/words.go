package page

import (
	"fmt"
	"strings"
	"time"
)

// CountOf is "3 of 7", or the number alone where the total is 0, which is that
// of a workflow that cannot be read.
func CountOf(n, of int) string {
	if of == 0 { // of a workflow that we cannot read
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// Plural is a number with its noun: "1 step", "2 steps". The noun must take a
// plain s.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Tally counts errors, and warnings where there are any.
func Tally(errs, warns int) string {
	if warns == 0 {
		return Plural(errs, "error")
	}
	return Plural(errs, "error") + " and " + Plural(warns, "warning")
}

// ClockTime is a stored time in the zone of the reader, by a layout of package
// time; "" for 0, which is a time that is not known.
func ClockTime(ms int64, layout string) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).Local().Format(layout)
}

// Itoa is a number in decimal digits.
func Itoa(n int) string { return fmt.Sprintf("%d", n) }

// Pad puts text at the right of a column of so many characters, so that numbers
// are aligned.
func Pad(s string, width int) string { return fmt.Sprintf("%*s", width, s) }

// List joins words as a sentence has them: "a, b and c".
func List(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Plurally chooses between two forms by a number: one for 1, more for all
// others.
func Plurally(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Words joins the values of a closed set with commas, for help and for errors.
func Words[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
