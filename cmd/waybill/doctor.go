package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/terminal"
)

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

func newDoctorCommand(a *app) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupSetup,
		Short:   "Check whether everything that Waybill needs is there",
		Long:    doctorLong,
		Example: "  waybill doctor\n  waybill doctor --full --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			facts, err := a.diagnose(cmd.Context(), full)
			if err != nil {
				return err
			}
			report := doctor.Judge(facts)
			if err := a.answer("doctor", report, func(p *page) { p.doctor(report) }); err != nil {
				return err
			}
			switch {
			case report.OK:
				return nil
			case report.Damaged():
				return exitWith(fault.ExitIntegrity)
			}
			return exitWith(fault.ExitFailed)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "verify every session, not only the newest ones")
	return cmd
}

// doctor lists the checks, each with what to do below it; names stand in one column
// where the window has room for it.
func (p *page) doctor(r doctor.Report) {
	wide := 0
	for _, c := range r.Checks {
		wide = max(wide, terminal.TextWidth(string(c.Name)))
	}
	if p.width > 0 && p.width < wide+textWidthMin+4 {
		wide = 0 // names go as they are
	}
	warns, fails := 0, 0
	for _, c := range r.Checks {
		mark := p.good("✓")
		switch c.Status {
		case doctor.Warn:
			mark, warns = p.warn("!"), warns+1
		case doctor.Fail:
			mark, fails = p.bad("✗"), fails+1
		}
		name := string(c.Name)
		for terminal.TextWidth(name) < wide {
			name += " "
		}
		lead := mark + " " + p.bold(name) + "  "
		p.text(lead, c.Message)
		if c.Fix != "" {
			indent := ""
			for range terminal.TextWidth(lead) - 2 {
				indent += " "
			}
			if wide == 0 {
				indent = "  "
			}
			p.painted(indent+"→ ", c.Fix, p.dim)
		}
	}
	p.line("")
	switch {
	case fails > 0:
		p.text(p.bad("✗ "), plural(fails, "check")+" failed"+andWarnings(warns)+".")
	case warns > 0:
		p.text(p.warn("! "), "It works"+andWarnings(warns)+".")
	default:
		p.text(p.good("✓ "), "Everything is in order.")
	}
}

func andWarnings(n int) string {
	if n == 0 {
		return ""
	}
	return ", with " + plural(n, "warning")
}

// diagnose gathers the facts. Whatever cannot be had is a fact as well: only the end of
// the call is an error.
func (a *app) diagnose(ctx context.Context, full bool) (doctor.Facts, error) {
	d := &diagnosis{a: a, full: full}
	d.binary()
	d.place()
	d.ground()
	d.inside(ctx)
	d.workflows(ctx)
	d.surroundings()
	return d.f, ctx.Err()
}
