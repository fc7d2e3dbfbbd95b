package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Wants describes a check for those who do the step, on one line: its command, and what that has to show.
// Placeholders are not filled.
func Wants(c source.Check) string {
	parts := []string{"exits with status " + strconv.FormatInt(c.ExitStatus(), 10)}
	if c.Expect != nil && c.Expect.Stdout != nil {
		parts = append(parts, wantsOfStdout(*c.Expect.Stdout)...)
	}
	if c.Expect != nil && c.Expect.Tests != nil {
		parts = append(parts, wantsOfTests(*c.Expect.Tests))
	}
	out := fmt.Sprintf("%s: %s %s", c.ID, reason.Clip(command.Line(c.Argv), limits.WarningValueBytesMax), strings.Join(parts, ", "))
	if len(c.Pins) > 0 {
		out += "; do not change " + reason.Clip(strings.Join(c.Pins, ", "), limits.WarningValueBytesMax)
	}
	return out
}

// wantsOfStdout describes the requirements on a place in stdout.
func wantsOfStdout(want source.ExpectStdout) (parts []string) {
	at := "at " + strconv.Quote(want.Pointer)
	if want.Pointer == "" {
		at = "as a whole"
	}
	for _, row := range []struct {
		what string
		v    canon.Value
	}{{"is", want.Equals}, {"is at least", want.GTE}, {"is at most", want.LTE}, {"contains", want.Contains}} {
		if !row.v.IsNull() {
			parts = append(parts, "its JSON "+at+" "+row.what+" "+reason.Clip(string(row.v.JCS()), limits.WarningValueBytesMax))
		}
	}
	return parts
}

// wantsOfTests describes the requirements on counts of tests.
func wantsOfTests(want source.ExpectTests) string {
	least, failed := 1, 0
	if want.Min != nil {
		least = *want.Min
	}
	if want.Failed != nil {
		failed = *want.Failed
	}
	text := fmt.Sprintf("reports at least %d passed and at most %d failed tests", least, failed)
	if want.Skipped != nil {
		text += fmt.Sprintf(" and at most %d skipped ones", *want.Skipped)
	}
	return text
}
