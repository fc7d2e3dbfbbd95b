package adapters

import (
	"context"
	"errors"
	"testing"

	"github.com/waybill/waybill/ports"
)

// Desk is a person at a terminal, as a test has it. Each field is what the person types to give the answer that its name
// says.
type Desk struct {
	Person ports.Person
	Type   func(text string)
	// Line answers a question for a line, or notes, with "an answer". Second chooses the second of two. File names an
	// artifact with the bytes "x".
	Line, Second, File string
	// Yes confirms, approves and trusts once.
	Yes string
	// Stop ends the input.
	Stop string
}

// questions are all that a person is asked, with what the person types and whether the answer is that.
func questions(d Desk) []struct {
	name string
	keys string
	ask  func(context.Context) (right bool, err error)
} {
	return []struct {
		name string
		keys string
		ask  func(context.Context) (right bool, err error)
	}{
		{"Notes", d.Line, func(ctx context.Context) (bool, error) {
			got, err := d.Person.Notes(ctx, ports.NotesQuestion{})
			return got == "an answer", err
		}},
		{"Ask", d.Line, func(ctx context.Context) (bool, error) {
			got, err := d.Person.Ask(ctx, ports.Question{Text: "What?", Key: "what"})
			return got == "an answer", err
		}},
		{"Ask for a choice", d.Second, func(ctx context.Context) (bool, error) {
			got, err := d.Person.Ask(ctx, ports.Question{Text: "Which?", Choices: []string{"north", "south"}})
			return got == "south", err
		}},
		{"File", d.File, func(ctx context.Context) (bool, error) {
			got, err := d.Person.File(ctx, ports.FileQuestion{Text: "A result."})
			return string(got.Bytes) == "x", err
		}},
		{"Confirm", d.Yes, func(ctx context.Context) (bool, error) { return d.Person.Confirm(ctx, "Really?") }},
		{"Approve", d.Yes, func(ctx context.Context) (bool, error) {
			got, err := d.Person.Approve(ctx, ports.ApproveQuestion{Prompt: "Do it.", Notes: "Done."})
			return got == ports.ApprovalGiven, err
		}},
		{"Trust", d.Yes, func(ctx context.Context) (bool, error) {
			got, err := d.Person.Trust(ctx, ports.TrustQuestion{})
			return got == ports.TrustOnce, err
		}},
	}
}

// Person is the suite of ports.Person at a terminal: a person is present and can consent; every question has the answer
// that was typed; it ends with ErrPersonStopped at the end of the input, and with the error of its context. sit returns
// a new desk.
func Person(t testing.TB, sit func() Desk) {
	ctx := context.Background()
	d := sit()
	if !d.Person.Present() || !d.Person.CanConsent() {
		t.Error("a person at a terminal cannot be asked")
	}
	for i, q := range questions(d) {
		here := sit()
		q = questions(here)[i]
		here.Type(q.keys)
		if right, err := q.ask(ctx); err != nil || !right {
			t.Errorf("%s: the answer is another one than was typed: %v", q.name, err)
		}
		here = sit()
		here.Type(here.Stop)
		if right, err := questions(here)[i].ask(ctx); !errors.Is(err, ports.ErrPersonStopped) || right {
			t.Errorf("%s at the end of the input: %v; want ErrPersonStopped", q.name, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if right, err := questions(sit())[i].ask(ended); !errors.Is(err, context.Canceled) || right {
			t.Errorf("%s of a call that ended: %v; want its error", q.name, err)
		}
	}
}

// NoPerson is the suite of ports.Person where no person is at the terminal.
func NoPerson(t testing.TB, p ports.Person) {
	if p.Present() || p.CanConsent() {
		t.Error("a person can be asked where none is")
	}
}
