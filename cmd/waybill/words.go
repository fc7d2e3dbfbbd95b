package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/id"
)

// shortRunLen is how much of a run's id people are shown: 8 of its letters tell a
// million runs apart often enough, and a longer prefix is asked for where not.
const shortRunLen = 8

// shortRun is what people call a run by.
func shortRun(r id.Run) string {
	s := strings.TrimPrefix(r.String(), "run_")
	return s[:min(len(s), shortRunLen)]
}

func count(n, of int) string {
	if of == 0 { // of a workflow that we cannot read
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// tally counts errors, and warnings where there are any.
func tally(errs, warns int) string {
	if warns == 0 {
		return plural(errs, "error")
	}
	return plural(errs, "error") + " and " + plural(warns, "warning")
}

// ago is a time in the past, as people say it.
func (a *app) ago(ms int64) string {
	d := time.Duration(a.nowMs()-ms) * time.Millisecond
	switch {
	case ms == 0:
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// clockTime is a stored time where the reader is.
func clockTime(ms int64, layout string) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).Local().Format(layout)
}

func itoa(n int) string { return fmt.Sprintf("%d", n) }

// pad puts a number under others.
func pad(s string, width int) string { return fmt.Sprintf("%*s", width, s) }
