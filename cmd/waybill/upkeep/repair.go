package upkeep

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// repairLong is what 'waybill repair --help' prints above the usage.
const repairLong = `Move damaged data to the quarantine, so that its session can continue from the valid
part. Without --apply nothing is changed: the plan is shown, with the events that would
be lost.

A log is cut after its last valid entry. Everything after that moves to the directory
quarantine/ of the store, with a note of who repaired it and when; a session without a
valid beginning moves there completely. Configuration and trust files that cannot be
read move there too, and the defaults apply. Nothing is deleted or reconstructed: for
missing files the possible sources of a copy are shown. Tokens of removed steps are
refused; 'waybill continue --run RUN' continues a run without one.

With --apply the command asks for confirmation at a terminal; elsewhere --yes is
required.

Exit status: 0 when nothing is damaged or all damage was repaired; 3 when a repair
requires --apply; 5 when some damage cannot be repaired.`

// NewRepair returns the command "repair". Without --apply it only shows the plan.
// A store with a damaged store.json cannot be repaired, since that file
// identifies the directory as a store; the error suggests a backup.
func NewRepair(a *cli.App) *cobra.Command {
	var apply, yes bool
	return cli.WithOptions(&cobra.Command{
		Use:     "repair [SESSION|RUN]",
		GroupID: cli.GroupMaintain,
		Short:   "Move damaged data to the quarantine",
		Long:    repairLong,
		Example: "  waybill repair\n  waybill repair @last --apply\n  waybill repair --apply --yes --json",
		Args:    cli.AtMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && !apply {
				return cli.UsageFault(cmd, "--yes confirms --apply, which is missing")
			}
			call := upkeep.RepairCall{Apply: apply}
			// Without an argument the whole store is repaired.
			if len(args) > 0 {
				call.Ref = args[0]
			}
			o, err := openOrAdvise(cmd.Context(), a,
				"Restore that file from a backup: it identifies the directory as a store.")
			if err != nil {
				return err
			}
			defer o.Close()
			return runRepair(cmd.Context(), a, o, call, yes)
		},
	},
		cli.Opt(&apply, "apply", "apply the plan (default: only show it)"),
		cli.Opt(&yes, "yes", "confirm --apply without being asked"))
}

// runRepair shows the plan and asks before it is applied. Without --yes and
// without a terminal, the plan is the answer and nothing is changed: a program
// can inspect it before it passes --yes.
//
// The engine computes the plan again when it applies it, since the damage may
// have changed in between. A plan without steps requires no confirmation.
func runRepair(ctx context.Context, a *cli.App, o *cli.Store, call upkeep.RepairCall, yes bool) error {
	if call.Apply && !yes {
		// The same call without Apply returns the plan.
		plan, err := o.Repair(ctx, o.Caller(), upkeep.RepairCall{Ref: call.Ref})
		if err != nil {
			return err
		}
		switch {
		case len(plan.Steps) == 0: // nothing to confirm
		case !a.AtTerminal():
			return answerRepair(a, plan)
		default:
			if err := a.Asked(func(p *page.Page) { showRepair(p, plan) }, "Apply this plan?"); err != nil {
				return err
			}
		}
	}
	r, err := o.Repair(ctx, o.Caller(), call)
	if err != nil {
		return err
	}
	return answerRepair(a, r)
}

// answerRepair answers with the document "repair". The exit status is 5 if some
// damage cannot be repaired, 3 if a plan waits for --apply, else 0.
func answerRepair(a *cli.App, r upkeep.RepairReport) error {
	status := cli.IntegrityStatus(!r.Unrepairable())
	if status == fault.ExitDone && r.Pending() {
		status = fault.ExitWaiting
	}
	return a.AnswerVerdict("repair", r, func(p *page.Page) {
		showRepair(p, r)
		if r.Pending() {
			p.Text("", "Nothing was changed. Apply the plan with: "+a.Command("repair", "--apply"))
		}
	}, status)
}

// showRepair prints the steps grouped by log, since a damaged log may have a
// thousand segments that all move to one directory. Below each log are the events
// that are lost, and at the end the findings that cannot be repaired.
//
// The last line is the result; the exit status reports the same to programs.
func showRepair(p *page.Page, r upkeep.RepairReport) {
	for i := 0; i < len(r.Steps); {
		first, files, bytes := r.Steps[i], 0, int64(0)
		// Length of the manifest prefix that stays in place; -1 if the log has no
		// KeepPrefix step.
		kept := int64(-1)
		// The steps of one log are consecutive.
		for ; i < len(r.Steps) && r.Steps[i].Log == first.Log; i++ {
			if r.Steps[i].What == ports.KeepPrefix {
				kept = r.Steps[i].Bytes
				continue
			}
			files, bytes = files+1, bytes+r.Steps[i].Bytes
		}
		p.Line("%s %s", p.Warn("!"), p.Bold(page.OneLine(first.Log)))
		verb := "would move"
		if r.Applied {
			verb = "moved"
		}
		p.Text("    ", verb+" "+page.Plural(files, "file")+" ("+page.Size(bytes)+") to "+quarantineDir(first.To))
		if kept >= 0 {
			p.Text("    ", "keeps the first "+page.Size(kept)+" of its manifest")
		}
		showLost(p, r.Lost, first.Log)
	}
	// Repairable findings are shown above, as steps.
	for _, f := range r.Findings {
		if f.Outlook == upkeep.Repairable {
			continue
		}
		render.Findings(p, []manifest.Finding{f.Finding})
		p.Text("      ", f.Advice)
	}
	switch {
	case r.Unrepairable() && len(r.Steps) == 0:
		p.Text(p.Bad("✗ "), "The damage cannot be repaired.")
	case r.Unrepairable():
		p.Text(p.Bad("✗ "), "Some of the damage cannot be repaired.")
	case len(r.Steps) == 0:
		p.Text(p.Good("✓ "), "Nothing to repair.")
	case r.Applied:
		p.Text(p.Good("✓ "), "Repaired. The damaged files are in the quarantine; nothing was deleted.")
	}
}

// showLost prints how many events of a log are lost, how many of these can still
// be read in the quarantine, and the runs that they belong to. It prints nothing
// for a log that loses no event.
func showLost(p *page.Page, all upkeep.Lost, log string) {
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

// quarantineDir returns the directory of one repair within the quarantine: the
// first two elements of a slash-separated path.
func quarantineDir(to string) string {
	parts := strings.SplitN(to, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}
