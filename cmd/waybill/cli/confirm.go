package cli

import (
	"bufio"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// AskYes shows text and a question on stderr, and reports whether the next line
// of stdin is a yes. The end of the input is a no. The caller has to make sure
// that stdin is a terminal.
func (a *App) AskYes(show func(*page.Page), question string) bool {
	p := a.NewPage(a.Err)
	show(p)
	p.WriteString(question)
	_, _ = a.Err.Write(p.Bytes())
	line, err := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

// Confirm asks before something is done that cannot be undone. show prints what
// it is about, above the question. Without a terminal, or with --json, nothing
// is asked and the call must have --yes: it never waits for input that cannot
// come. nil: go ahead.
func (a *App) Confirm(yes bool, question string, show func(*page.Page)) error {
	if yes {
		return nil
	}
	// With --json a program reads the answer, even where a terminal is near.
	if !a.IsTerminal(a.In) || a.Flags.JSON {
		return fault.New(fault.UsageError, "nobody is here who could be asked: %s", question).
			Suggest("Say --yes if it is to be done, or do it at a terminal.")
	}
	if !a.AskYes(show, question+" [y/N] ") {
		return NotConfirmed()
	}
	return nil
}

// NotConfirmed is the error after a no, or after no answer: nothing was
// changed.
func NotConfirmed() error {
	return fault.New(fault.RunWaiting, "nobody agreed to it").Suggest("Nothing was changed.")
}
