package cli

import (
	"bufio"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// AskYes prints the text of show and a question on stderr, and reports whether the next line
// of stdin is "y" or "yes". The end of the input is a no. Without a person at a terminal,
// nothing is asked and the error is RUN_WAITING; see AtTerminal.
func (a *App) AskYes(show func(*page.Page), question string) (bool, error) {
	if !a.AtTerminal() {
		return false, fault.New(fault.RunWaiting,
			"a person has to answer at a terminal, and stdin, stdout or stderr is none: %s", question).
			Suggest("Run the command at a terminal, without a pipe or a redirection.")
	}
	a.Note(func(p *page.Page) {
		show(p)
		p.WriteString(question)
	})
	line, err := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes"), nil
}

// Confirm asks the user before an operation that cannot be undone. show prints the details
// above the question. nil means that the operation may proceed. Without a terminal, or with
// --json, Confirm asks nothing and returns USAGE_ERROR unless yes is set: it never waits for
// input that cannot arrive. A no is RUN_WAITING; see NotConfirmed.
func (a *App) Confirm(yes bool, question string, show func(*page.Page)) error {
	if yes {
		return nil
	}
	// With --json a program parses the answer, even if stdin is a terminal.
	if !a.IsTerminal(a.In) || a.Flags.JSON {
		return fault.New(fault.UsageError, "confirmation required, and stdin is not a terminal: %s", question).
			Suggest("Add --yes to confirm, or run the command at a terminal without --json.")
	}
	return a.Asked(show, question)
}

// Asked asks a question with AskYes. nil is a yes; a no is RUN_WAITING, see NotConfirmed.
func (a *App) Asked(show func(*page.Page), question string) error {
	answer, err := a.AskYes(show, question+" [y/N] ")
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
