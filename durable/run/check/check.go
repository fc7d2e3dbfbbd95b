// Package check defines the record of one performed check of a step, the artifact "wr.check_result",
// and decides whether it proves what the step expects (docs/design.md#checks).
//
// It runs nothing: package perform executes the commands of checks and fills in a Result. The verdict
// is a function of the workflow and the record, so that it is the same when it is made again.
package check

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/testreport"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Kind is the artifact kind of a check's result.
const Kind = "wr.check_result"

// Result is the artifact "wr.check_result". OutputDigest covers the whole output; only the heads and
// tails of stdout and stderr are stored.
type Result struct {
	ArgvDigest canon.Digest `json:"argvDigest"` // of the check's argv, as JCS
	AttemptID  id.Attempt   `json:"attemptId"`  // in which it was performed
	// Changed are the pins and the program that differ from what was trusted, sorted: a path below the
	// root of the project, or the first element of argv. The check did not run, or they changed while it
	// ran, also if they were put back.
	Changed    []string `json:"changed,omitzero"`
	CheckID    string   `json:"checkId"`
	DurationMs int64    `json:"durationMs"`
	Exit       int64    `json:"exit"`             // exit status; -1 if it did not run or was killed
	Failure    string   `json:"failure,omitzero"` // why it did not run to an exit status, as a clause
	// FilledDigest is that of the argv that ran, as JCS, if the check has placeholders.
	FilledDigest canon.Digest `json:"filledDigest,omitzero"`
	// GitHead is the commit that was checked out where it ran; what was changed since is not part of it.
	GitHead      string                  `json:"gitHead,omitzero"`
	Kind         string                  `json:"kind"`
	OutputBytes  int64                   `json:"outputBytes"`
	OutputDigest canon.Digest            `json:"outputDigest"`  // stdout and stderr, in order of arrival
	Pins         map[string]canon.Digest `json:"pins,omitzero"` // SHA-256 of the pinned files, by path
	// Root is the digest of the path of the project in which it ran, as the observation repo_root_hash
	// has it. Records of earlier versions have neither.
	Root            canon.Digest   `json:"root,omitzero"`
	Stderr          command.Stream `json:"stderr"`
	Stdout          command.Stream `json:"stdout"`
	StepInstanceKey string         `json:"stepInstanceKey"`
	// Tests are the counts of the test report in stdout, if the check expects one; TestsUnread says,
	// as a clause, why there are none.
	Tests       *testreport.Counts `json:"tests,omitzero"`
	TestsUnread string             `json:"testsUnread,omitzero"`
	// Value is that at the place in stdout which the check expects; ValueUnread says, as a clause, why
	// there is none.
	Value       canon.Value `json:"value,omitzero"`
	ValueUnread string      `json:"valueUnread,omitzero"`
}

// Ran reports that the command ran to an exit status.
func (r Result) Ran() bool { return r.Failure == "" && r.Exit >= 0 }

// Elsewhere reports that the check ran in another project folder than that of a digest; false if either
// is not known.
func (r Result) Elsewhere(root canon.Digest) bool {
	return !r.Root.IsZero() && !root.IsZero() && r.Root != root
}

// Observe adds what the check expects of its stdout to the record: the counts of the test report and
// the value. whole is all of stdout; false: it is longer than what was kept.
func (r *Result) Observe(c source.Check, stdout []byte, whole bool) {
	if c.Expect == nil {
		return
	}
	const cut = "its stdout is longer than what is read"
	if c.Expect.Tests != nil {
		if !whole {
			r.TestsUnread = cut
		} else if counts, err := testreport.Read(stdout); err != nil {
			r.TestsUnread = clipped(err.Error())
		} else {
			r.Tests = &counts
		}
	}
	if c.Expect.Stdout != nil {
		if whole {
			r.Value, r.ValueUnread = valueAt(stdout, c.Expect.Stdout.Pointer)
		} else {
			r.ValueUnread = cut
		}
	}
}

// ArgvDigest identifies a check by its argv, encoded as canonical JSON.
func ArgvDigest(c source.Check) canon.Digest { return command.ArgvDigest(c.Action()) }
