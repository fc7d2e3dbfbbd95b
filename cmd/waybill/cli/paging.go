package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/infra/terminal"
)

// StartPager makes the text of this call go through a pager where it is longer than the screen, unless stdout is no
// terminal that a pager can draw on, or --no-pager or the environment turns it off.
func StartPager(a *App) {
	out, _ := a.Out.(*os.File)
	command := pagerCommand(&a.Process)
	if a.pager != nil || a.Flags.noPager || command == "" || !terminal.CanRedraw(out, a.Getenv) || a.Getenv("TERM") == "" {
		return
	}
	err, _ := a.Err.(*os.File)
	a.pager = &terminal.Pager{Out: out, Err: err, Command: command, Env: a.Env, Columns: page.TextWidth}
}

// beginPaging is StartPager for a view that prints text, and ends. Nothing else is shown by a pager: a question never is.
func beginPaging(a *App, cmd *cobra.Command) {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	continues := cmd.Flags().Changed("follow") || cmd.Flags().Changed("watch")
	if !a.Flags.JSON && !continues && slices.Contains(a.Views, path) {
		StartPager(a)
	}
}

// endPaging returns when the person has read what was printed.
func (p *Process) endPaging() {
	if p.pager != nil {
		_ = p.pager.Close() // a terminal that is gone has no reader
		p.pager = nil
	}
}

// pagerCommand returns the pager that the environment names, "" for none.
func pagerCommand(p *Process) string {
	for _, name := range []string{"WAYBILL_PAGER", "PAGER"} {
		if value, ok := p.lookupEnv(name); ok {
			if value = strings.TrimSpace(value); value == "cat" {
				return ""
			}
			return value
		}
	}
	return "less -FRX"
}

// written returns the error of a write to stdout: that a person has read enough is none.
func written(err error) error {
	if errors.Is(err, terminal.ErrPagerQuit) {
		return nil
	}
	return err
}
