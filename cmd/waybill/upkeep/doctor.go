package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/terminal"
)

// doctorLong is what 'waybill doctor --help' prints above the usage.
const doctorLong = `Look at everything that Waybill needs from this machine, and say what to do about what is
missing: the store and who may write to it, whether locks exclude and renames do not
replace, what a sync costs, the filesystem and its room, the clock, keys, configuration
and trust, the folders of workflows, the terminal, and whether the newest sessions are
what was written. --full checks all of them.

Nothing is made and nothing is mended. What is tried is tried in a folder of its own,
inside the store where there is one, else in the nearest folder that is there; it is
removed again.

Exit status: 0 when everything is in order or only warned about, 1 when something is
not, 5 when something that was written is damaged.`

// NewDoctor makes the command "doctor". It gathers facts about the machine and
// the store, and package doctor judges them. Nothing is made or repaired; what
// is tried is tried in a folder that is removed again.
//
// The exit status is 1 for a failed check, and 5 where stored facts are
// damaged. Warnings alone do not fail: the store can be used, and the fix is
// below the check.
func NewDoctor(a *cli.App) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: cli.GroupSetup,
		Short:   "Check whether everything that Waybill needs is there",
		Long:    doctorLong,
		Example: "  waybill doctor\n  waybill doctor --full --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			facts, err := gather(cmd.Context(), a, full)
			if err != nil {
				return err
			}
			report := doctor.Judge(facts)
			if err := a.Answer("doctor", report, func(p *page.Page) { showReport(p, report) }); err != nil {
				return err
			}
			switch {
			case report.OK:
				return nil
			case report.Damaged():
				return cli.ExitWith(fault.ExitIntegrity)
			}
			return cli.ExitWith(fault.ExitFailed)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "verify every session, not only the newest ones")
	return cmd
}

// showReport prints a line for each check with its fix below. Names are padded
// to one column, unless the window is too narrow for that and a readable text
// beside it.
func showReport(p *page.Page, r doctor.Report) {
	wide := 0
	for _, c := range r.Checks {
		wide = max(wide, terminal.TextWidth(string(c.Name)))
	}
	// Names and texts need room beside each other.
	if p.Width > 0 && p.Width < wide+page.TextWidthMin+4 {
		wide = 0 // names go as they are
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
		name := string(c.Name)
		for terminal.TextWidth(name) < wide {
			name += " "
		}
		lead := mark + " " + p.Bold(name) + "  "
		p.Text(lead, c.Message)
		if c.Fix != "" {
			// The fix is aligned with the message above it.
			indent := ""
			for range terminal.TextWidth(lead) - 2 {
				indent += " "
			}
			if wide == 0 {
				indent = "  "
			}
			p.Painted(indent+"→ ", c.Fix, p.Dim)
		}
	}
	p.Line("")
	switch {
	case fails > 0:
		p.Text(p.Bad("✗ "), page.Plural(fails, "check")+" failed"+andWarnings(warns)+".")
	case warns > 0:
		p.Text(p.Warn("! "), "It works"+andWarnings(warns)+".")
	default:
		p.Text(p.Good("✓ "), "Everything is in order.")
	}
}

// andWarnings is the end of a sentence that counts warnings, "" for none.
func andWarnings(n int) string {
	if n == 0 {
		return ""
	}
	return ", with " + page.Plural(n, "warning")
}

// gather collects the facts. Each step adds to them and none fails: what cannot
// be found out is a fact as well. Only the end of the call is an error.
func gather(ctx context.Context, a *cli.App, full bool) (doctor.Facts, error) {
	// The order matters only for what later facts build upon, such as the kind
	// of the store.
	d := &diagnosis{a: a, full: full}
	d.binary()
	d.place()
	d.ground()
	d.inside(ctx)
	d.workflows(ctx)
	d.surroundings()
	return d.f, ctx.Err()
}
