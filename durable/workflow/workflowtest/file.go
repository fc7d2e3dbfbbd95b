// Package workflowtest defines the files of tests of workflows: cases, each with the answers to the steps
// and with what is expected of the run (docs/design.md#tests-of-workflows).
//
// It parses, checks and writes such files, and finds everything that cannot be true of a workflow without
// running it. It performs no case: package trial does. Start reading at File and Parse.
package workflowtest

import (
	"github.com/waybill/waybill/durable/canon"
)

// File is a file of tests.
type File struct{ Cases []Case }

// Case is one run of a workflow: what is answered at each step, and what is expected.
type Case struct {
	Name string
	Line int // in the file; 0 for a case that is no part of one
	// Context is that of the start, null for none.
	Context canon.Value
	// Preferences are those of the start, by key; those of a store without settings otherwise.
	Preferences map[string]string
	// Answers are those of each step, in the order in which the step asks for them.
	Answers map[string][]Answer
	Expect  Expect
}

// Answer is one attempt at a step: what is handed in, what the command or the checks of the step yield, and
// what a person decides about it.
type Answer struct {
	Line      int
	Notes     string
	Artifacts []canon.Value
	Context   canon.Value // an object; null members delete

	// Ran is what the command of the step yields.
	Ran Ran
	// Output is what the command writes to $WAYBILL_OUTPUT: an object, or a text.
	Output canon.Value
	// Checks are what the checks of the step yield, by their ids. A check that is not named passes.
	Checks map[string]Ran

	// Decision is what people decide about what was handed in.
	Decision Decision
	// Unconfirmed reports that the person at a confirmation does not continue: nothing is handed in.
	Unconfirmed bool
}

// Ran is the result of a command that is not executed.
type Ran struct {
	Exit   int64
	Stdout string
	Stderr string
	// Passes reports that a check has the result that it expects, and that the other members are not given.
	Passes bool
}

// Word is what people decide about a step, a closed set.
type Word string

// The decisions.
const (
	Undecided Word = ""
	Approve   Word = "approve"
	SendBack  Word = "sendBack"
	Deny      Word = "deny"
)

// Decision is what people decide about a step that requires an approval.
type Decision struct {
	Word   Word
	Reason string   // of Deny and SendBack
	By     []string // of Approve; none: as many people as the step needs
}

// Expect is what a case expects of its run. Members that are not given are not compared.
type Expect struct {
	Line int
	// Path is the steps in the order in which they were shown, the one at which the run stopped included.
	Path     []string
	HasPath  bool
	Status   string
	Blockers []Match
	// HasBlockers reports that Blockers was given: an empty list expects none.
	HasBlockers bool
	// Prompts are texts that a prompt of each step contains, by step.
	Prompts map[string][]string
	// Context is an object whose members the context at the end has; null members are absent there.
	Context     canon.Value
	Warnings    []Match
	HasWarnings bool
}

// Match describes blockers or warnings by their members. Members that are "" match anything.
type Match struct {
	// Text is a code, or a part of the message.
	Text    string
	Code    string
	Step    string // of a blocker
	Message string // a part of it
	Path    string // of a warning
}

// Unreached is the status that a case expects of a run that cannot begin.
const Unreached = "not_started"
