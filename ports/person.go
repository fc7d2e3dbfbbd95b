package ports

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Person asks the person at the terminal. Every question returns ctx's error when ctx ends, and
// ErrPersonStopped if the person wants to stop. Input typed before a question was shown is discarded: it
// cannot be an answer to a question that the person has not seen.
type Person interface {
	// Present reports whether a person can be asked. If it is false the caller asks no questions:
	// no call may wait for input that cannot come.
	Present() bool
	// CanConsent reports whether the person can be asked to confirm, approve or trust: all streams of
	// the process are the terminal (docs/design.md#consent). If it is false the caller asks none of
	// these three.
	CanConsent() bool
	// Notes asks for the notes on the step that was just shown, in Markdown. "" means no notes.
	Notes(ctx context.Context, q NotesQuestion) (string, error)
	// Ask asks for one line, or for one of several choices. The answer is one of q.Choices if there
	// are any, and "" only if the question is optional.
	Ask(ctx context.Context, q Question) (string, error)
	// File asks for an artifact that has to come from a file. If the question is optional, an
	// artifact without bytes means none.
	File(ctx context.Context, q FileQuestion) (advance.Artifact, error)
	// Confirm asks a yes-or-no question.
	Confirm(ctx context.Context, question string) (bool, error)
	// Approve shows the submitted outputs and asks what the person decides about them. Only an answer
	// to this question is a decision: no option or setting gives it in advance
	// (docs/design.md#decisions). After ApprovalEdit the caller asks for other notes,
	// submits them, and shows the outputs again; after ApprovalSentBack and ApprovalDenied it asks for
	// the reason, if it has none.
	Approve(ctx context.Context, q ApproveQuestion) (ApprovalAnswer, error)
	// Trust shows the commands that would run and asks whether they may.
	Trust(ctx context.Context, q TrustQuestion) (TrustAnswer, error)
}

// ErrPersonStopped reports that the person wants to stop for now; the run stays as it is.
var ErrPersonStopped = errors.New("stopped at the person's request")

// ErrPersonBack reports that the person wants to go back to an earlier step. Approve and Trust do not
// return it.
var ErrPersonBack = errors.New("back to an earlier step at the person's request")

// NotesQuestion is a request for notes.
type NotesQuestion struct {
	Required bool
	Draft    string // text to start from: notes recorded or typed before
	// Edit asks for a change of the draft: "" leaves it as it is.
	Edit bool
}

// Question is a request for a line, or for one of the choices.
type Question struct {
	Text     string
	Key      string // context key of the answer, "" if it is not shown
	Choices  []string
	Inline   bool // the choices are single words and follow the text on its line
	Optional bool // an empty answer is allowed
	NoBack   bool // the question is itself about going back
	Secret   bool // the answer may be confidential and should not be stored in a log
}

// FileQuestion is a request for an artifact.
type FileQuestion struct {
	Text     string
	Example  canon.Value // an acceptable value, to be shown
	Command  string      // the command line that submits the artifact from another terminal
	Wrong    []string    // problems of the artifact that was given before
	Optional bool
}

// ApproveQuestion holds everything that a decision is bound to.
type ApproveQuestion struct {
	Prompt  string // of the step as it is now
	Notes   string
	Results []Result
	// Checks are those of the attempt that handed the outputs in. A decision is not bound to them.
	Checks []check.Brief
	// By are the performers of what was handed in, as the log names them.
	By []string
	// Decided are sentences about the decisions so far, oldest first.
	Decided []string
	// Needed says whose approval is still needed, and until when those given count; "" for one approval of
	// any person.
	Needed string
	// Changes are the differences to what was sent back, as lines of a unified difference; nil if
	// nothing was.
	Changes []string
	// Decides is the only decision that is asked for, "" for every one.
	Decides ApprovalAnswer
	Reason  string // given for Decides
}

// ApprovalAnswer is the closed set of answers to an ApproveQuestion.
type ApprovalAnswer string

// The approval answers. Every answer but ApprovalGiven leaves the step waiting.
const (
	ApprovalRefused ApprovalAnswer = "not"
	ApprovalGiven   ApprovalAnswer = "given"
	ApprovalEdit    ApprovalAnswer = "edit" // the notes have to change first
	// The person sends the step back, or ends the run.
	ApprovalSentBack ApprovalAnswer = "send_back"
	ApprovalDenied   ApprovalAnswer = "deny"
)

// Result is an artifact in the form shown to a person.
type Result struct {
	Name        string // artifact kind, or content type if it has none
	ContentType string
	Bytes       int64
	Digest      canon.Digest
	JSON        canon.Value // the content; null if it is not JSON
	Text        string      // the content if it is other text
	Path        string      // file of the content, relative to the store
}

// IsText reports whether the content is in the result: what is neither JSON nor other text can only be
// named.
func (r Result) IsText() bool { return !r.JSON.IsNull() || r.Text != "" || r.Bytes == 0 }

// TrustQuestion is a request to run the commands of a workflow.
type TrustQuestion struct {
	Workflow compile.Compiled // the workflow whose commands would run
	// OnlyOnce says why TrustAlways cannot be recorded, and what to do about it; "" where it can.
	OnlyOnce string
	Source   string // where it comes from, as shown beside its id
	// Values are the values that the run has or is given, for the placeholders of its commands;
	// null if none are known.
	Values canon.Value
	// Fixed is what the checks of the workflow depend on, which is trusted with it.
	Fixed trust.Fixed
}

// TrustAnswer is the closed set of answers to a TrustQuestion.
type TrustAnswer string

// The trust answers. TrustRefused refuses.
const (
	TrustRefused TrustAnswer = "not"
	TrustOnce    TrustAnswer = "once"   // for this call only
	TrustAlways  TrustAnswer = "always" // this version of the workflow, from now on
)
