package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/id"
)

// ShortRunLen is how much of a run's id people are shown: 8 of its letters tell a
// million runs apart often enough, and a longer prefix is asked for where not.
const ShortRunLen = 8

// ShortRun is what people call a run by.
func ShortRun(r id.Run) string {
	s := strings.TrimPrefix(r.String(), "run_")
	return s[:min(len(s), ShortRunLen)]
}

func CountOf(n, of int) string {
	if of == 0 { // of a workflow that we cannot read
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// Plural counts things.
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

// ClockTime is a stored time where the reader is.
func ClockTime(ms int64, layout string) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).Local().Format(layout)
}

func Itoa(n int) string { return fmt.Sprintf("%d", n) }

// Pad puts a number under others.
func Pad(s string, width int) string { return fmt.Sprintf("%*s", width, s) }
