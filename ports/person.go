package ports

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/workflow"
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
	// Input asks for a declared input. The answer is not empty, and one of the
	// choices where there are any.
	Input(ctx context.Context, in workflow.Input) (string, error)
	// Confirm asks for a yes or a no.
	Confirm(ctx context.Context, question string) (bool, error)
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
