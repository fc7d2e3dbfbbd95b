package upkeep

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// repairLong is what 'waybill repair --help' prints above the usage.
const repairLong = `Take what is damaged out of the way, so that its session can go on from what is whole.
Without --apply nothing changes: what would be done is shown, and what would be lost.

A log goes on from its last good entry. What stands behind that, damaged or not, moves
to the store's folder quarantine/, with a note of who did it and when; a session of
which not even the beginning is usable moves there as a whole. Configuration and trust
that cannot be read move there too, and the defaults hold. Nothing is ever deleted, and
nothing is made up: files that are lost stay lost, and where a copy may come from is
shown. Tokens of steps that are gone are refused; 'waybill continue --run RUN' goes on.

With --apply you are asked at a terminal; without one --yes is needed.

Exit status: 0 when nothing is damaged, or all of it was repaired; 3 when something
waits for a person to say --apply; 5 when something is damaged that no repair mends.`

// NewRepair makes the command "repair". Without --apply it only shows the plan.
// A store whose store.json is damaged cannot be repaired: without it the folder
// cannot be distinguished from any other, and the suggestion is a backup.
func NewRepair(a *cli.App) *cobra.Command {
	var apply, yes bool
	cmd := &cobra.Command{
		Use:     "repair [SESSION|RUN]",
		GroupID: cli.GroupStore,
		Short:   "Move what is damaged out of the way",
		Long:    repairLong,
		Example: "  waybill repair\n  waybill repair @last --apply\n  waybill repair --apply --yes --json",
		Args:    cli.AtMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && !apply {
				return cli.UsageFault(cmd, "--yes agrees to --apply, which is not there")
			}
			call := engine.RepairCall{Apply: apply}
			// Without an argument the whole store is looked at.
			if len(args) > 0 {
				call.Ref = args[0]
			}
			o, err := a.Open(cmd.Context())
			if fault.Is(err, fault.StoreCorrupt) {
				return fault.Of(err).
					Suggest("Restore that file from a backup: without it nothing says what the folder is.")
			}
			if err != nil {
				return err
			}
			defer o.Close()
			return runRepair(cmd.Context(), a, o, call, yes)
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&yes, "yes", false, "agree without being asked")
	return cmd
}

// runRepair shows the plan and asks before it applies it. Without a terminal,
// or with --json, and without --yes, the plan is the answer and nothing is
// changed: a program sees what it would agree to.
//
// The engine makes the plan again when it applies it, so that what is moved is
// what is damaged then. A plan without steps needs no question.
func runRepair(ctx context.Context, a *cli.App, o *cli.Store, call engine.RepairCall, yes bool) error {
	if call.Apply && !yes {
		// The same call without apply gives the plan.
		plan, err := o.Repair(ctx, a.Caller(), engine.RepairCall{Ref: call.Ref})
		if err != nil {
			return err
		}
		agreed := len(plan.Steps) == 0
		if !agreed && a.IsTerminal(a.In) && !a.Flags.JSON {
			agreed = a.AskYes(func(p *page.Page) { showRepair(p, plan) }, "Do this? [y/N] ")
			if !agreed {
				return cli.NotConfirmed()
			}
		}
		if !agreed {
			return repaired(a, plan)
		}
	}
	r, err := o.Repair(ctx, a.Caller(), call)
	if err != nil {
		return err
	}
	return repaired(a, r)
}

// repaired prints the document "repair". The worst of what is left gives the
// exit status: 5 for damage that no repair fixes, 3 for a plan that waits for
// --apply, else 0.
func repaired(a *cli.App, r engine.RepairReport) error {
	if err := a.Answer("repair", r, func(p *page.Page) {
		showRepair(p, r)
		if r.Waiting() {
			p.Text("", "Nothing was changed. Do it with: "+a.Command("repair", "--apply"))
		}
	}); err != nil {
		return err
	}
	switch {
	case r.Hopeless():
		return cli.ExitWith(fault.ExitIntegrity)
	case r.Waiting():
		return cli.ExitWith(fault.ExitWaiting)
	}
	return nil
}

// showRepair prints the steps by log: a damaged log may have a thousand
// segments, and all of them go to one folder. Below each log is what is lost
// with it, and at the end what cannot be repaired.
//
// The last line is the verdict in words; the exit status says the same to
// programs.
func showRepair(p *page.Page, r engine.RepairReport) {
	for i := 0; i < len(r.Steps); {
		first, files, bytes := r.Steps[i], 0, int64(0)
		kept := int64(-1)
		// The steps of one log follow each other.
		for ; i < len(r.Steps) && r.Steps[i].Log == first.Log; i++ {
			if r.Steps[i].What == ports.KeepPrefix {
				kept = r.Steps[i].Bytes
				continue
			}
			files, bytes = files+1, bytes+r.Steps[i].Bytes
		}
		p.Line("%s %s", p.Warn("!"), p.Bold(page.Clean(first.Log)))
		verb := "would move"
		if r.Applied {
			verb = "moved"
		}
		p.Text("    ", verb+" "+page.Plural(files, "file")+" ("+page.Size(bytes)+") to "+quarantineOf(first.To))
		if kept >= 0 {
			p.Text("    ", "keeps the first "+page.Size(kept)+" of its manifest")
		}
		showLost(p, r.Lost, first.Log)
	}
	// What a step repairs is shown with the step.
	for _, f := range r.Findings {
		if f.Outlook == engine.Repairable {
			continue
		}
		word := p.Warn("warning")
		if f.Severity == manifest.SeverityError {
			word = p.Bad("error")
		}
		p.Line("  %s  %s  %s", word, f.Code, page.Clean(f.Path))
		p.Text("      ", strings.TrimPrefix(f.Message, f.Path+": "))
		p.Text("      ", f.Advice)
	}
	switch {
	case r.Hopeless() && len(r.Steps) == 0:
		p.Text(p.Bad("✗ "), "No repair mends what is damaged here.")
	case r.Hopeless():
		p.Text(p.Bad("✗ "), "Some of what is damaged no repair mends.")
	case len(r.Steps) == 0:
		p.Text(p.Good("✓ "), "Nothing has to be repaired.")
	case r.Applied:
		p.Text(p.Good("✓ "), "Repaired. What was taken away lies in the quarantine; nothing was deleted.")
	}
}

// showLost prints how many events of a log are lost, how many of these can
// still be read in the quarantine, and which runs they are from. Logs that lose
// no event are passed over.
func showLost(p *page.Page, all engine.Lost, log string) {
	for _, l := range all.Logs {
		if l.Log != log || l.Events == 0 {
			continue
		}
		text := "lost: " + page.Plural(int(l.Events), "event") + " from event " + page.Itoa(int(l.FirstEvent)) + " on"
		if l.Readable < l.Events {
			text += ", of which " + page.Itoa(int(l.Readable)) + " can still be read"
		}
		p.Text("    ", text)
		for _, run := range l.Runs {
			p.Text("      ", "run "+page.ShortRun(run.RunID)+": "+page.Plural(int(run.Events), "event")+" of "+
				page.Plural(run.NodeCount, "node"))
		}
	}
}

// quarantineOf is the folder of one repair within the quarantine: the first two
// parts of a path.
func quarantineOf(to string) string {
	parts := strings.SplitN(to, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}
