package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

// checks renders the section about the commands that run when the step is handed in, as templates like
// those of describe: the performer of the step knows what it has to withstand (docs/design.md#checks).
func checks(all []source.Check) []string {
	if len(all) == 0 {
		return nil
	}
	out := []string{"When this step is handed in, Waybill runs these commands itself; the step is left only if each of them",
		"shows what it has to. A result that is sent does not count.", ""}
	for _, c := range all {
		out = append(out, "- "+c.ID+": "+command.Line(c.Argv))
		if c.Cwd != "" {
			out = append(out, "  - in the folder "+command.Word(c.Cwd))
		}
		if len(c.Env) > 0 {
			out = append(out, "  - with "+strings.Join(slices.Sorted(maps.Keys(c.Env)), ", ")+" set in its environment")
		}
		if c.TimeoutSeconds > 0 {
			out = append(out, fmt.Sprintf("  - for at most %d s", c.TimeoutSeconds))
		}
		out = append(out, "  - has to "+strings.Join(expected(c), ", and "))
		if len(c.Pins) > 0 {
			out = append(out, "  - does not count if one of these differs from what a person trusted: "+pinned(c.Pins))
		}
	}
	return out
}

// expected are the requirements of a check, as clauses without a subject.
func expected(c source.Check) []string {
	out := []string{fmt.Sprintf("exit with status %d", c.ExitStatus())}
	if c.Expect == nil {
		return out
	}
	if t := c.Expect.Tests; t != nil {
		least, failed := 1, 0
		if t.Min != nil {
			least = *t.Min
		}
		if t.Failed != nil {
			failed = *t.Failed
		}
		text := fmt.Sprintf("report at least %d passed and at most %d failed tests", least, failed)
		if t.Skipped != nil {
			text = fmt.Sprintf("report at least %d passed, at most %d failed and at most %d skipped tests", least, failed, *t.Skipped)
		}
		out = append(out, text)
	}
	if s := c.Expect.Stdout; s != nil {
		var wants []string
		for _, want := range []struct {
			words string
			v     canon.Value
		}{{"equal to", s.Equals}, {"at least", s.GTE}, {"at most", s.LTE}, {"that contains", s.Contains}} {
			if !want.v.IsNull() {
				wants = append(wants, want.words+" "+jsonText(want.v))
			}
		}
		out = append(out, fmt.Sprintf("have at %s of the JSON in its stdout a value %s", jsonText(canon.OfString(s.Pointer)),
			strings.Join(wants, " and ")))
	}
	return out
}

// jsonText is a value of the workflow in one line.
func jsonText(v canon.Value) string {
	text := string(v.JCS())
	if len(text) > limits.WarningValueBytesMax {
		return string(canon.OfString(reason.Clip(text, limits.WarningValueBytesMax) + "…").JCS())
	}
	return text
}

// pinsShownMax bounds the pins that a prompt names.
const pinsShownMax = 8

// pinned names pins, and counts those beyond pinsShownMax.
func pinned(pins []string) string {
	words := make([]string, 0, pinsShownMax)
	for _, p := range pins[:min(len(pins), pinsShownMax)] {
		words = append(words, command.Word(p))
	}
	text := strings.Join(words, ", ")
	if more := len(pins) - pinsShownMax; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
