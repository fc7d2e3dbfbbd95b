package cli

import (
	"bufio"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// AskYes shows something and waits for a yes.
func (a *App) AskYes(show func(*page.Page), question string) bool {
	p := a.NewPage(a.Err)
	show(p)
	p.WriteString(question)
	_, _ = a.Err.Write(p.Bytes())
	line, err := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

// Confirm asks before something goes that cannot be had back as it was. show is what
// it is about, and stands above the question. Where nobody is at a terminal nobody can
// be asked: the call must say --yes, and never waits for input that cannot come.
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

// NotConfirmed is the answer to a no, or to no answer.
func NotConfirmed() error {
	return fault.New(fault.RunWaiting, "nobody agreed to it").Suggest("Nothing was changed.")
}
