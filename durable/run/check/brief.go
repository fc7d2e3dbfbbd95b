package check

import (
	"strings"

	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Brief is the form of a result that views and answers show: the verdict with what led to it, and
// the end of each output.
type Brief struct {
	ID         string             `json:"id"`
	Exit       int64              `json:"exit"` // -1: it did not run to an exit status
	DurationMs int64              `json:"durationMs"`
	Failure    string             `json:"failure,omitzero"`
	Changed    []string           `json:"changed,omitzero"`
	Tests      *reason.CheckTests `json:"tests,omitzero"`
	Passed     bool               `json:"passed"`
	// Why is the clause of Judge, and "" if the check passed. TestsUnread, which it repeats without
	// names in the output, is not part of a Brief.
	Why        string `json:"why,omitzero"`
	StdoutTail string `json:"stdoutTail"`
	StderrTail string `json:"stderrTail"`
}

// Brief returns the verdict on the result of a check, with the last max bytes, at most, of stdout
// and of stderr.
func (r Result) Brief(c source.Check, max int) Brief {
	why := Judge(c, r)
	return Brief{ID: r.CheckID, Exit: r.Exit, DurationMs: r.DurationMs, Failure: r.Failure, Changed: r.Changed,
		Tests: r.tests(), Passed: why == "", Why: why,
		StdoutTail: command.LastBytes(r.Stdout.End(), max), StderrTail: command.LastBytes(r.Stderr.End(), max)}
}

// tests are the counts in the form of blockers, nil without counts.
func (r Result) tests() *reason.CheckTests {
	if r.Tests == nil {
		return nil
	}
	return &reason.CheckTests{Format: string(r.Tests.Format), Passed: int64(r.Tests.Passed), Failed: int64(r.Tests.Failed),
		Skipped: int64(r.Tests.Skipped)}
}

// Fact returns what a blocker states of the result, for reason.Unmet. It has no output.
func (r Result) Fact() *reason.CheckFact {
	f := &reason.CheckFact{ID: r.CheckID, Tests: r.tests()}
	if r.Ran() {
		exit := r.Exit
		f.Exit = &exit
	}
	return f
}

// Tail returns the end of the output for a blocker, at most max bytes: that of stderr, preceded by
// that of stdout where there is space for it. A result without output has none.
func (r Result) Tail(max int) string {
	tail := strings.TrimRight(command.LastBytes(r.Stderr.End(), max), "\n")
	if tail == "" {
		return strings.TrimRight(command.LastBytes(r.Stdout.End(), max), "\n")
	}
	if space := max - len(tail) - 1; space > 0 {
		if before := strings.TrimRight(command.LastBytes(r.Stdout.End(), space), "\n"); before != "" {
			return before + "\n" + tail
		}
	}
	return tail
}
