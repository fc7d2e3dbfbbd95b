package ports

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Person is whoever sits at the terminal. Every question ends early, with ctx's
// error, when ctx does; ErrLeft says that the person wants to stop here. Whatever
// was typed before a question was shown does not answer it: nobody can agree to
// what they have not seen.
type Person interface {
	// Present reports whether there is anybody to ask. When it is false none of
	// the questions is asked: nothing may wait for input that cannot come.
	Present() bool
	// Notes asks what is to be recorded about the step that was just shown. An
	// empty answer means that there is nothing to say.
	Notes(ctx context.Context, q NotesQuestion) (string, error)
	// Ask asks for one line, or one of several choices. The answer is one of the
	// choices where there are any, and empty only where the question is optional.
	Ask(ctx context.Context, q Question) (string, error)
	// File asks for a result that only a file can bring. Where the question is
	// optional, an artifact without bytes says that there is none.
	File(ctx context.Context, q FileQuestion) (advance.Artifact, error)
	// Confirm asks for a yes or a no.
	Confirm(ctx context.Context, question string) (bool, error)
	// Approve shows what was handed in and asks whether it is approved. Nothing but
	// an answer to it is an approval: no option says yes beforehand (R20).
	Approve(ctx context.Context, q ApproveQuestion) (bool, error)
	// Trust shows what would run and asks whether it may.
	Trust(ctx context.Context, q TrustQuestion) (TrustAnswer, error)
}

// ErrLeft is a person's wish to stop for now.
var ErrLeft = errors.New("the person left")

// NotesQuestion is a request for notes.
type NotesQuestion struct {
	Required bool
	Draft    string // what was recorded or typed before, to start from
}

// Question is a request for a line, or for one of the choices.
type Question struct {
	Text     string
	Key      string // what the answer is kept under, "" where that is nobody's concern
	Choices  []string
	Brief    bool // the choices are single words, and stand behind the text
	Optional bool // nothing is an answer too
	Secret   bool // the answer could be something that no log should hold
}

// FileQuestion is a request for an artifact.
type FileQuestion struct {
	Text     string
	Example  canon.Value // what would do, to be shown
	Command  string      // the command line that hands it in from elsewhere
	Wrong    []string    // what does not fit of the one that was given before
	Optional bool
}

// ApproveQuestion is everything that an approval would be bound to.
type ApproveQuestion struct {
	Notes   string
	Results []Result
}

// Result is an artifact as a person is shown it.
type Result struct {
	Name string // its kind, or its content type
	Text string // what is in it, or how much where it is no JSON
}

// TrustQuestion is a request to run the commands of a workflow.
type TrustQuestion struct {
	Workflow compile.Compiled // whose actions would run
}

// TrustAnswer is the closed set of answers to a TrustQuestion.
type TrustAnswer string

// The trust answers.
const (
	TrustNot    TrustAnswer = "not"
	TrustOnce   TrustAnswer = "once"   // for this call only
	TrustAlways TrustAnswer = "always" // this version of the workflow, from now on
)
