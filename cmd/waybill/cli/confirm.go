package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/consent"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// Consent returns what asks the person at the terminal of this call.
//
//go:noinline
func (p *Process) Consent(colors bool) *consent.Asker { return consent.New(p.In, p.Out, p.Err, colors) }

// AtTerminal reports whether stdin, stdout and stderr are one terminal: only then does a person
// see all that a question covers and answer it (docs/design.md#consent).
func (p *Process) AtTerminal() bool { return p.Consent(false).Able() }

// AskYes shows the text of show, which is everything that the question covers, page by page, and
// reports whether the answer is "y" or "yes"; see consent.Asker. question ends in "[y/N]". The end of
// the input is a no. Without a person at a terminal nothing is asked and the error is RUN_WAITING;
// callers whose area has a code of its own for that check AtTerminal first.
//
// --json changes nothing: the question is on stderr, and the document on stdout.
func (a *App) AskYes(show func(*page.Page), question string) (bool, error) {
	asker := a.Consent(a.Colors(a.Err))
	if !asker.Able() {
		return false, fault.New(fault.RunWaiting,
			"a person has to answer at a terminal, and stdin, stdout or stderr is not that terminal: %s",
			strings.TrimSuffix(question, " [y/N]")).
			Suggest("Run the command at a terminal, without a pipe or a redirection.")
	}
	answer, err := asker.Ask(context.Background(), show, question)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fault.Wrap(err, fault.RunWaiting, "the answer could not be read: %v", err).Suggest("Nothing was changed.")
		return false, err
	}
	return consent.Yes(answer) && err == nil, nil
}

// Confirm asks the user before an operation that cannot be undone, unless yes, the value of --yes,
// is set. show prints everything that the operation changes. nil means that it may proceed. Without
// a terminal, and for a no, the error is RUN_WAITING: nothing waits for input that cannot arrive.
func (a *App) Confirm(yes bool, question string, show func(*page.Page)) error {
	if yes {
		return nil
	}
	if !a.AtTerminal() {
		return fault.New(fault.RunWaiting, "confirmation required, and stdin, stdout or stderr is not a terminal: %s",
			question).
			Suggest("Add --yes to confirm, or run the command at a terminal, without a pipe or a redirection.")
	}
	return a.Asked(show, question)
}

// Asked asks a question, to which it appends "[y/N]", with AskYes. nil is a yes; a no is
// RUN_WAITING, see NotConfirmed.
func (a *App) Asked(show func(*page.Page), question string) error {
	answer, err := a.AskYes(show, question+" [y/N]")
	if err == nil && !answer {
		err = NotConfirmed()
	}
	return err
}

// NotConfirmed returns the RUN_WAITING error after a no or no answer. The caller must not
// have changed anything yet.
func NotConfirmed() error {
	return fault.New(fault.RunWaiting, "not confirmed").Suggest("Nothing was changed.")
}
