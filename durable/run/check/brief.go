package check

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
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
	// Root and GitHead say where it ran: the digest of the path of the project, and the commit.
	Root    canon.Digest `json:"root,omitzero"`
	GitHead string       `json:"gitHead,omitzero"`
	// Elsewhere reports that it ran in another folder than the run was started in.
	Elsewhere bool `json:"elsewhere,omitzero"`
	// Why is the clause of Judge, and "" if the check passed. TestsUnread, which it repeats without
	// names in the output, is not part of a Brief.
	Why string `json:"why,omitzero"`
	// The tails are "" in lists for a check that passed.
	StdoutTail string `json:"stdoutTail"`
	StderrTail string `json:"stderrTail"`
}

// Brief returns the verdict on the result of a check, with the last max bytes, at most, of stdout
// and of stderr.
func (r Result) Brief(c source.Check, max int) Brief {
	why := Judge(c, r)
	return Brief{ID: r.CheckID, Exit: r.Exit, DurationMs: r.DurationMs, Failure: r.Failure, Changed: r.Changed,
		Tests: r.tests(), Passed: why == "", Why: why, Root: r.Root, GitHead: r.GitHead,
		StdoutTail: command.LastBytes(r.Stdout.End(), max), StderrTail: command.LastBytes(r.Stderr.End(), max)}
}

// Briefs returns the briefs of the results of one attempt, in the order of the workflow. started is the
// digest of the folder in which the run was started, zero if it is not known. A check without a result,
// or with two, has no brief. Only those that did not pass have the end of their output, so much of
// it that all of them together have at most limits.CheckTailsBytesMax.
func Briefs(checks []source.Check, results []Result, started canon.Digest) (out []Brief) {
	failed := 0
	for _, c := range checks {
		if r, ok := Of(c.ID, results); ok && Judge(c, r) != "" {
			failed++
		}
	}
	most := min(limits.CheckTailBytesMax, limits.CheckTailsBytesMax/2/max(failed, 1))
	for _, c := range checks {
		r, ok := Of(c.ID, results)
		if !ok {
			continue
		}
		b := r.Brief(c, most)
		b.Elsewhere = r.Elsewhere(started)
		if b.Passed {
			b.StdoutTail, b.StderrTail = "", ""
		}
		out = append(out, b)
	}
	return out
}

// Of returns the result of a check among those of one attempt; ok is false without one, and with two:
// it is not determined which one counts. r is then zero.
func Of(checkID string, results []Result) (r Result, ok bool) {
	of := func(r Result) bool { return r.CheckID == checkID }
	i := slices.IndexFunc(results, of)
	if i < 0 || slices.ContainsFunc(results[i+1:], of) {
		return Result{}, false
	}
	return results[i], true
}

// Answered returns recorded blockers of an attempt as answers have them: those about a check with the
// end of its output and what changed, from the results of that attempt, and with the whole command that
// trusts the workflow. The argument is not changed.
func Answered(blockers []reason.Blocker, results []Result, workflow canon.Digest) []reason.Blocker {
	out := slices.Clone(blockers)
	for i, b := range out {
		if b.Check == nil {
			continue
		}
		fact := *b.Check
		r, _ := Of(fact.ID, results)
		tail := r.Tail(limits.CheckTailBytesMax)
		fact.OutputTail, fact.Changed = &tail, r.Changed
		out[i].Check = &fact
		out[i].SuggestedFix = strings.Replace(b.SuggestedFix, "'waybill trust'", "'waybill trust "+workflow.String()+"'", 1)
	}
	return out
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
