package page

import (
	"fmt"
	"strings"
	"time"
)

// CountOf returns "3 of 7", or "3" if the total is 0. The total is 0 for a run whose pinned
// workflow cannot be read.
func CountOf(n, of int) string {
	if of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// Plural returns a number with its noun: "1 step", "2 steps". The plural of the noun must be
// formed by appending s.
func Plural(n int, thing string) string { return fmt.Sprintf("%d %s%s", n, thing, Choose(n, "", "s")) }

// ErrorCount returns the number of errors, and of warnings if any: "1 error and 2 warnings".
func ErrorCount(errs, warns int) string {
	if warns == 0 {
		return Plural(errs, "error")
	}
	return Plural(errs, "error") + " and " + Plural(warns, "warning")
}

// ClockTime formats a stored time (milliseconds since 1970) in the local time zone with a
// layout of package time; "" for 0, an unknown time.
func ClockTime(ms int64, layout string) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).Local().Format(layout)
}

// TimeInDay formats a stored time for a line of a history. On a terminal the date is a heading
// above the first line of each day, and the time has the layout; otherwise each line has date and
// time (RFC 3339). day is the last heading that was written; pass the returned one for the next
// line.
func (p *Page) TimeInDay(day string, ms int64, layout string) (at, heading string) {
	if p.Width == 0 {
		return ClockTime(ms, time.RFC3339), day
	}
	if d := ClockTime(ms, "Monday, 2 January 2006"); d != day && d != "" {
		p.Line("%s", p.Bold(d))
		day = d
	}
	return ClockTime(ms, layout), day
}

// Itoa formats a number in decimal.
//
//go:noinline
func Itoa(n int) string { return fmt.Sprintf("%d", n) }

// Pad right-aligns text in a column of the given width, for numbers.
func Pad(s string, width int) string { return fmt.Sprintf("%*s", width, s) }

// List joins words for a sentence with a conjunction before the last one: "a, b and c".
func List(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Choose returns one if n is 1, and more otherwise.
func Choose(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// JoinWords joins the values of a closed set with commas, for help texts and errors.
func JoinWords[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
