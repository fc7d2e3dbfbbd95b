// Package command defines the record of one performed command step
// (docs/design.md#commands-and-trust): the action's digest, the outcome, and the output
// within a budget, as the artifact "wr.command_result".
//
// It runs nothing: package perform executes commands and fills in a Result. It also formats
// command lines for people (Line).
package command

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Kind is the artifact kind of a command's result.
const Kind = "wr.command_result"

// Result is the artifact "wr.command_result". OutputDigest covers the whole output; only its
// head and tail are stored.
type Result struct {
	ArgvDigest canon.Digest `json:"argvDigest"`       // of the action's argv, as JCS
	DurationMs int64        `json:"durationMs"`       // all tries together
	ExitStatus int64        `json:"exitStatus"`       // last try; -1 if it never ran or was killed
	Failure    string       `json:"failure,omitzero"` // why it did not run to an exit status; "" if it did
	// FilledDigest is that of the argv that ran, as JCS, if the action has placeholders.
	FilledDigest canon.Digest `json:"filledDigest,omitzero"`
	Kind         string       `json:"kind"`
	OutputBytes  int64        `json:"outputBytes"`  // length of the last try's output
	OutputDigest canon.Digest `json:"outputDigest"` // stdout and stderr of the last try, in order of arrival
	// OutputHead and OutputTail are of both outputs together, in records of the earlier form only.
	OutputHead string `json:"outputHead,omitzero"`
	OutputTail string `json:"outputTail,omitzero"` // empty if OutputHead holds all
	// Stdout and Stderr are those of the last try, apart. Records of the earlier form have none.
	Stderr *Stream `json:"stderr,omitzero"`
	Stdout *Stream `json:"stdout,omitzero"`
	Tries  int64   `json:"tries"` // 1 or more once it ran
	// Undeclared are members of the object in WAYBILL_OUTPUT that no output of the step names; at
	// most limits.UndeclaredShownMax.
	Undeclared []string `json:"undeclared,omitzero"`
	// Unset are the outputs of the step that the command did not yield.
	Unset []UnsetOutput `json:"unset,omitzero"`
}

// Stream is what a command wrote to one of its outputs, made valid UTF-8.
type Stream struct {
	Bytes int64  `json:"bytes"` // length of all that was written
	Head  string `json:"head"`
	Tail  string `json:"tail"` // "" if Head holds all
	// Omitted is the number of bytes between Head and Tail that are not kept. Head and Tail as valid
	// UTF-8 may be longer than the bytes that they stand for, so that it does not follow from Bytes.
	Omitted int64 `json:"omitted,omitzero"`
}

// UnsetOutput is an output of a step without a value.
type UnsetOutput struct {
	Key string `json:"key"` // context key
	Why string `json:"why"` // clause, such as "stdout is empty"
}

// ArgvDigest identifies an action by its argv, encoded as canonical JSON. Trust in a command
// is recorded for this digest.
func ArgvDigest(a source.Action) canon.Digest { return argvDigest(a.Argv) }

// argvDigest is the digest of an argv as canonical JSON.
func argvDigest(argv []string) canon.Digest {
	items := make([]canon.Value, len(argv))
	for i, s := range argv {
		items[i] = canon.OfString(s)
	}
	return canon.Sum(canon.OfList(items...).JCS())
}

// OK reports success: exit status 0 and no failure.
func (r Result) OK() bool { return r.ExitStatus == 0 && r.Failure == "" }

// Outcome returns the outcome as a clause without a subject, such as "exited with status 2 after
// 3 tries".
func (r Result) Outcome() string {
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

// Printed is the JSON text that the command wrote to stdout. why is a clause if stdout is none, or if
// the record does not hold all of it.
func (r Result) Printed() (v canon.Value, why string) {
	switch {
	case r.Stdout == nil:
		return v, "an older version recorded its command, without stdout"
	case r.Stdout.Omitted != 0:
		return v, fmt.Sprintf("the stdout of its command has %d bytes, and not all of them were kept", r.Stdout.Bytes)
	}
	text := r.Stdout.Head + r.Stdout.Tail
	if int64(len(text)) != r.Stdout.Bytes { // bytes that are no UTF-8 were replaced
		return v, "the stdout of its command is not valid UTF-8"
	}
	v, err := canon.Parse([]byte(text))
	if err != nil {
		return canon.Value{}, "the stdout of its command is not one JSON text"
	}
	return v, ""
}

// WhyUnset returns why the command did not yield an output, as a clause.
func (r Result) WhyUnset(key string) string {
	for _, u := range r.Unset {
		if u.Key == key {
			return u.Why
		}
	}
	return "the command did not yield it"
}

// Decode reads a result artifact strictly: unknown members, another kind, negative counts, one
// stream without the other and an oversized output head are errors.
func Decode(v canon.Value) (Result, error) {
	var r Result
	if err := canon.Decode(v, &r); err != nil {
		return r, err
	}
	if r.Kind != Kind || r.Tries < 0 || r.OutputBytes < 0 {
		return r, fmt.Errorf("want kind %s and counts of 0 or more", Kind)
	}
	if (r.Stdout == nil) != (r.Stderr == nil) || r.Apart() && r.OutputHead+r.OutputTail != "" {
		return r, fmt.Errorf("want stdout and stderr, or outputHead and outputTail")
	}
	if r.Apart() && min(r.Stdout.Bytes, r.Stderr.Bytes, r.Stdout.Omitted, r.Stderr.Omitted) < 0 {
		return r, fmt.Errorf("want counts of 0 or more")
	}
	if len(r.OutputHead) > limits.ArtifactBytesMax {
		return r, fmt.Errorf("outputHead is too large")
	}
	return r, nil
}
