package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/testreport"
)

// Encode returns the artifact. Clauses are clipped to their budgets, and Changed is sorted. An error
// is a defect of the caller: the result is none that Decode accepts.
func (r Result) Encode() (canon.Value, error) {
	r.Kind = Kind
	r.Failure, r.TestsUnread, r.ValueUnread = clipped(r.Failure), clipped(r.TestsUnread), clipped(r.ValueUnread)
	r.Changed = slices.Clone(r.Changed)
	for i, name := range r.Changed {
		r.Changed[i] = reason.Clip(name, limits.PinPathBytesMax)
	}
	slices.Sort(r.Changed)
	r.Changed = slices.Compact(r.Changed)
	v, err := canon.ValueOf(r)
	if err != nil {
		return canon.Value{}, err
	}
	_, err = Decode(v)
	return v, err
}

// clipped is a clause within its budget.
func clipped(clause string) string { return reason.Clip(clause, limits.MessageBytesMax) }

// Decode reads a result strictly. Unknown members, another kind, members over their budgets, and a
// value that is not encoded as Encode does it are errors: a second spelling of one result would have
// a second digest.
func Decode(v canon.Value) (Result, error) {
	var r Result
	if err := canon.Decode(v, &r); err != nil {
		return Result{}, err
	}
	if err := errors.Join(r.checkNames(), r.checkCounts(), r.checkTexts()); err != nil {
		return Result{}, err
	}
	if r.Value.IsNull() {
		r.Value = canon.Value{} // null counts as no value; the comparison below refuses it
	}
	if again, err := canon.ValueOf(r); err != nil || !again.Equal(v) {
		return Result{}, errors.New("want no members that are null, empty or false without a meaning")
	}
	return r, nil
}

// checkNames checks what identifies the check and the files that it depends on.
func (r Result) checkNames() error {
	const keyBytesMax = (limits.LoopDepthMax + 1) * (limits.StepIDBytesMax + len("@9007199254740992/"))
	_, _, err := snapshot.ParseKey(r.StepInstanceKey)
	switch {
	case r.Kind != Kind:
		return errors.New("want kind " + Kind)
	case !reason.ValidCheckID(r.CheckID):
		return errors.New("checkId: want the id of a check")
	case err != nil || len(r.StepInstanceKey) > keyBytesMax:
		return errors.New("stepInstanceKey: want the key of a step")
	case r.GitHead != "" && !commitID.MatchString(r.GitHead):
		return errors.New("gitHead: want the id of a commit")
	case len(r.Pins) > limits.PinsMax || len(r.Changed) > limits.PinsMax+1:
		return fmt.Errorf("want at most %d pins", limits.PinsMax)
	}
	for name := range r.Pins {
		if name == "" || len(name) > limits.PinPathBytesMax {
			return fmt.Errorf("pins: want paths of 1 to %d bytes", limits.PinPathBytesMax)
		}
	}
	for i, name := range r.Changed {
		if name == "" || len(name) > limits.PinPathBytesMax || i > 0 && r.Changed[i-1] >= name {
			return fmt.Errorf("changed: want sorted names of 1 to %d bytes", limits.PinPathBytesMax)
		}
	}
	return nil
}

// commitID matches the id of a commit of git, by SHA-1 or by SHA-256.
var commitID = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// checkCounts checks the numbers.
func (r Result) checkCounts() error {
	if min(r.DurationMs, r.OutputBytes, r.Stdout.Bytes, r.Stderr.Bytes, r.Stdout.Omitted, r.Stderr.Omitted) < 0 {
		return errors.New("want counts of 0 or more")
	}
	if r.Exit < -1 || r.Exit > limits.ExitStatusMax {
		return fmt.Errorf("exit: want -1 to %d", limits.ExitStatusMax)
	}
	if r.Tests == nil {
		return nil
	}
	t := *r.Tests
	if !slices.Contains(testreport.Formats, t.Format) {
		return errors.New("tests: want a format of test reports")
	}
	for _, n := range []int{t.Passed, t.Failed, t.Skipped, t.Cached} {
		if n < 0 || n > limits.TestReportTestsMax {
			return fmt.Errorf("tests: want 0 to %d", limits.TestReportTestsMax)
		}
	}
	return nil
}

// checkTexts checks clauses, the output and the value in it.
func (r Result) checkTexts() error {
	for _, clause := range []string{r.Failure, r.TestsUnread, r.ValueUnread} {
		if len(clause) > limits.MessageBytesMax {
			return fmt.Errorf("want clauses of at most %d bytes", limits.MessageBytesMax)
		}
	}
	for _, s := range []command.Stream{r.Stdout, r.Stderr} {
		if len(s.Head) > textBytesMax(limits.StreamHeadBytesMax) || len(s.Tail) > textBytesMax(limits.StreamTailBytesMax) {
			return fmt.Errorf("want heads and tails of at most %d and %d bytes", limits.StreamHeadBytesMax, limits.StreamTailBytesMax)
		}
	}
	switch {
	case r.Tests != nil && r.TestsUnread != "":
		return errors.New("want tests or testsUnread")
	case !r.Value.IsNull() && r.ValueUnread != "":
		return errors.New("want value or valueUnread")
	case len(r.Value.JCS()) > limits.CheckTailBytesMax:
		return fmt.Errorf("value: want at most %d bytes", limits.CheckTailBytesMax)
	}
	return nil
}

// textBytesMax is the size of n bytes made valid UTF-8: each of them can become a replacement
// character.
func textBytesMax(n int) int { return n * len("\uFFFD") }
