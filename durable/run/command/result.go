// Package command is the record of one performed command step (R24): what an
// action was, how it ended, and the artifact that says so. It runs nothing.
package command

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Kind is the artifact kind of a command's result.
const Kind = "wr.command_result"

// Result is the artifact "wr.command_result". Output is kept whole by its digest
// only; its head and tail stay readable.
type Result struct {
	ArgvDigest   canon.Digest `json:"argvDigest"` // of the action's argv, as JCS
	DurationMs   int64        `json:"durationMs"` // of all tries together
	ExitStatus   int64        `json:"exitStatus"` // of the last try; -1 when it never ran or was killed
	Failure      string       `json:"failure,omitzero"`
	Kind         string       `json:"kind"`
	OutputBytes  int64        `json:"outputBytes"`
	OutputDigest canon.Digest `json:"outputDigest"` // of the last try's stdout and stderr as they came
	OutputHead   string       `json:"outputHead"`
	OutputTail   string       `json:"outputTail"` // empty when head holds all
	Tries        int64        `json:"tries"`
}

// Budgets of the output that a result keeps. Both together leave room for JSON
// escapes within the 1 MiB that R24 allows.
const (
	OutputHeadBytesMax = 64 << 10
	OutputTailBytesMax = 64 << 10
)

// ArgvDigest names an action by what it runs.
func ArgvDigest(a source.Action) canon.Digest {
	items := make([]canon.Value, len(a.Argv))
	for i, s := range a.Argv {
		items[i] = canon.OfString(s)
	}
	return canon.Sum(canon.OfList(items...).JCS())
}

// OK reports that the command did what it should.
func (r Result) OK() bool { return r.ExitStatus == 0 && r.Failure == "" }

// Says is the outcome in one clause.
func (r Result) Says() string {
	tries := ""
	if r.Tries > 1 {
		tries = fmt.Sprintf(" after %d tries", r.Tries)
	}
	switch {
	case r.OK():
		return "succeeded"
	case r.Failure != "":
		return fmt.Sprintf("failed%s: %s", tries, r.Failure)
	}
	return fmt.Sprintf("exited with status %d%s", r.ExitStatus, tries)
}

// Decode reads a result artifact strictly.
func Decode(v canon.Value) (Result, error) {
	var r Result
	if err := canon.Decode(v, &r); err != nil {
		return r, err
	}
	if r.Kind != Kind || r.Tries < 0 || r.OutputBytes < 0 {
		return r, fmt.Errorf("want kind %s and counts of 0 or more", Kind)
	}
	if len(r.OutputHead) > limits.ArtifactBytesMax {
		return r, fmt.Errorf("outputHead is too large")
	}
	return r, nil
}
