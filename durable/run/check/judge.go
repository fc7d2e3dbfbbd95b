package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/testreport"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Judge returns why a result does not prove what a check expects, as a clause whose subject is the
// check; "" if it does. It is a function of its arguments. The clause contains names of the workflow
// and numbers, and nothing of the output but a number or a boolean at the place that the check names.
func Judge(c source.Check, r Result) string {
	switch {
	case r.CheckID != c.ID || r.ArgvDigest != ArgvDigest(c):
		return "has the result of another command"
	case len(r.Changed) > 0:
		return "did not count, since " + changed(r) + " (check_changed)"
	case r.Failure != "":
		return "failed: " + r.Failure
	case r.Exit < 0:
		return "failed: it did not run to an exit status"
	case r.Exit != c.ExitStatus():
		return fmt.Sprintf("exited with status %d, want %d", r.Exit, c.ExitStatus())
	case len(c.Action().Placeholders()) > 0 == r.FilledDigest.IsZero():
		return "has the result of another command"
	}
	if i := slices.IndexFunc(c.Pins, func(p string) bool { return r.Pins[p].IsZero() }); i >= 0 {
		return fmt.Sprintf("proved nothing: its result has no digest of %q", reason.Clip(c.Pins[i], limits.WarningValueBytesMax))
	}
	if c.Expect == nil {
		return ""
	}
	if why := tests(c.Expect.Tests, r); why != "" {
		return why
	}
	return stdout(c.Expect.Stdout, r)
}

// changed names what differs from what was trusted, or did while the check ran.
func changed(r Result) string {
	names := fmt.Sprintf("%q", reason.Clip(r.Changed[0], limits.WarningValueBytesMax))
	one := len(r.Changed) == 1
	if !one {
		names += fmt.Sprintf(" and %d more", len(r.Changed)-1)
	}
	switch {
	case r.Ran() && one:
		return names + " was changed while it ran"
	case r.Ran():
		return names + " were changed while it ran"
	case one:
		return names + " is not as it was when the workflow was trusted"
	}
	return names + " are not as they were when the workflow was trusted"
}

// tests judges the counts of a test report.
func tests(want *source.ExpectTests, r Result) string {
	switch {
	case want == nil:
		return ""
	case r.Tests == nil && r.TestsUnread != "":
		return "proved nothing: " + withoutNames(r.TestsUnread)
	case r.Tests == nil:
		return "proved nothing: its result has no counts of tests"
	}
	got, min, failed := *r.Tests, 1, 0
	if want.Min != nil {
		min = *want.Min
	}
	if want.Failed != nil {
		failed = *want.Failed
	}
	switch {
	case got.Failed > failed:
		return fmt.Sprintf("reports %s, at most %d allowed", count(got.Failed, "failed test"), failed)
	case got.Passed < min:
		return fmt.Sprintf("reports %s, at least %d needed%s", count(got.Passed, "passed test"), min, skipped(got))
	case want.Skipped != nil && got.Skipped > *want.Skipped:
		return fmt.Sprintf("reports %s, at most %d allowed", count(got.Skipped, "skipped test"), *want.Skipped)
	}
	return ""
}

// skipped is the part of a clause about tests that did not run.
func skipped(c testreport.Counts) string {
	if c.Skipped == 0 {
		return ""
	}
	return fmt.Sprintf("; %d skipped", c.Skipped)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// stdout judges the value at a place in stdout.
func stdout(want *source.ExpectStdout, r Result) string {
	switch {
	case want == nil:
		return ""
	case r.ValueUnread != "":
		return "proved nothing: " + r.ValueUnread
	case r.Value.IsNull():
		return "proved nothing: its result has no value"
	}
	at := fmt.Sprintf("at %q of its stdout", reason.Clip(want.Pointer, limits.WarningValueBytesMax))
	switch {
	case !want.Equals.IsNull() && !r.Value.Equal(want.Equals):
		return fmt.Sprintf("has %s %s, want %s", shown(r.Value), at, shown(want.Equals))
	case !want.GTE.IsNull() && !ordered(want.GTE, r.Value):
		return fmt.Sprintf("has %s %s, want at least %s", shown(r.Value), at, shown(want.GTE))
	case !want.LTE.IsNull() && !ordered(r.Value, want.LTE):
		return fmt.Sprintf("has %s %s, want at most %s", shown(r.Value), at, shown(want.LTE))
	case !want.Contains.IsNull() && !contains(r.Value, want.Contains):
		return fmt.Sprintf("has %s %s, which does not contain what is expected", shown(r.Value), at)
	}
	return ""
}

// ordered reports that a and b are numbers and a is not greater than b.
func ordered(a, b canon.Value) bool {
	return a.Kind() == canon.Number && b.Kind() == canon.Number && a.Float() <= b.Float()
}

// contains reports that a string has a part, or a list an item.
func contains(v, part canon.Value) bool {
	switch v.Kind() {
	case canon.String:
		return part.Kind() == canon.String && strings.Contains(v.Text(), part.Text())
	case canon.Array:
		for i := range v.Len() {
			if v.Item(i).Equal(part) {
				return true
			}
		}
	}
	return false
}

// shown is a value for a clause: numbers and booleans as they are, anything else by its kind, since a
// blocker must not repeat output.
func shown(v canon.Value) string {
	switch v.Kind() {
	case canon.Number, canon.Bool:
		return string(v.JCS())
	}
	return v.Kind().String()
}

// withoutNames replaces the names from a report in a clause of testreport, which are quoted.
func withoutNames(clause string) string {
	var out strings.Builder
	for {
		before, _, found := strings.Cut(clause, `"`)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		clause = clause[len(before):]
		name, err := strconv.QuotedPrefix(clause)
		if err != nil {
			return out.String() + "…" // clipped within a name
		}
		out.WriteString("…")
		clause = clause[len(name):]
	}
}

// valueAt returns the value at a JSON pointer of a text; why is a clause if there is none. Nothing of
// the text is part of why.
func valueAt(text []byte, pointer string) (v canon.Value, why string) {
	if len(text) == 0 {
		return v, "its stdout is empty"
	}
	if canon.CountValues(text) > limits.CheckValuesMax {
		return v, fmt.Sprintf("its stdout has more than %d values of JSON", limits.CheckValuesMax)
	}
	doc, err := canon.Parse(text)
	if wrong := (*canon.ParseError)(nil); errors.As(err, &wrong) {
		return v, fmt.Sprintf("its stdout is not one text of strict JSON: line %d", wrong.Line)
	}
	if err != nil {
		return v, "its stdout is not one text of strict JSON"
	}
	v = doc.At(pointer)
	if v.IsNull() {
		return canon.Value{}, fmt.Sprintf("its stdout has no value at %q", reason.Clip(pointer, limits.WarningValueBytesMax))
	}
	if n := len(v.JCS()); n > limits.CheckTailBytesMax {
		return canon.Value{}, fmt.Sprintf("the value in its stdout has %d bytes, at most %d are allowed", n, limits.CheckTailBytesMax)
	}
	return v.AtLine(0), ""
}
