package upkeep

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/diagnosis"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
)

// doctorLong is what 'waybill doctor --help' prints above the usage.
const doctorLong = `Check the environment of Waybill on this machine and suggest fixes: the store and its
permissions, whether locks and renames work, the duration of a sync, the filesystem and
its free space, the clock, keys, configuration and trust, the directories of workflows,
the terminal, and the integrity of the newest sessions. --full verifies all sessions.

Nothing is repaired. Locks and renames are tried in a temporary directory, inside the
store if it exists, else in the nearest existing directory; it is removed afterwards.

Exit status: 0 when no check failed, 1 when a check failed, 5 when stored data is
damaged. Warnings do not change the exit status.`

// NewDoctor returns the command "doctor". It collects facts about the machine and
// the store, and package doctor turns them into checks. Nothing is repaired;
// locks and renames are tried in a temporary directory.
//
// The exit status is 1 for a failed check, and 5 if stored data is damaged.
// Warnings do not change it, since the store can be used.
func NewDoctor(a *cli.App) *cobra.Command {
	var full bool
	return cli.WithOptions(&cobra.Command{
		Use:     "doctor",
		GroupID: cli.GroupSetup,
		Short:   "Check the store, this machine and the configuration",
		Long:    doctorLong,
		Example: "  waybill doctor\n  waybill doctor --full --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer cli.LimitMemory()()
			facts, err := diagnosis.Facts(cmd.Context(), a, full)
			if err != nil {
				return err
			}
			report := doctor.Judge(facts)
			status := cli.IntegrityStatus(!report.Damaged())
			if status == fault.ExitDone && !report.OK {
				status = fault.ExitFailed
			}
			return a.AnswerVerdict("doctor", report, func(p *page.Page) { showReport(p, report) }, status)
		},
	},
		cli.Opt(&full, "full", "verify all sessions, not only the newest"))
}

// showReport prints a line for each check with its fix below, and the number of
// failures and warnings at the end. Names are padded to one column if the
// terminal is wide enough for that column and a readable message.
func showReport(p *page.Page, r doctor.Report) {
	nameWidth := 0
	for _, c := range r.Checks {
		nameWidth = max(nameWidth, len(c.Name))
	}
	// 4 is the width of the mark and the spaces around the name.
	if p.Width > 0 && p.Width < nameWidth+page.TextWidthMin+4 {
		nameWidth = 0 // no padding
	}
	warns, fails := 0, 0
	for _, c := range r.Checks {
		mark := p.Good("✓")
		switch c.Status {
		case doctor.Warn:
			mark, warns = p.Warn("!"), warns+1
		case doctor.Fail:
			mark, fails = p.Bad("✗"), fails+1
		}
		lead := mark + " " + p.Bold(fmt.Sprintf("%-*s", nameWidth, c.Name)) + "  "
		p.Text(lead, c.Message)
		if c.Fix != "" {
			// The fix is aligned with the message above it.
			indent := 2
			if nameWidth > 0 {
				indent = page.TextWidth(lead) - 2
			}
			p.StyledText(strings.Repeat(" ", indent)+"→ ", c.Fix, p.Dim)
		}
	}
	p.Line("")
	switch {
	case fails > 0:
		p.Text(p.Bad("✗ "), page.Plural(fails, "check")+" failed"+warningCount(warns)+".")
	case warns > 0:
		p.Text(p.Warn("! "), "No check failed"+warningCount(warns)+".")
	default:
		p.Text(p.Good("✓ "), "No problems found.")
	}
}

// warningCount returns the end of a sentence with the number of warnings, "" for
// none.
func warningCount(n int) string {
	if n == 0 {
		return ""
	}
	return ", with " + page.Plural(n, "warning")
}
