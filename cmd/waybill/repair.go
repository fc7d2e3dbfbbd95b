package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

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

func newRepairCommand(a *app) *cobra.Command {
	var apply, yes bool
	cmd := &cobra.Command{
		Use:     "repair [SESSION|RUN]",
		GroupID: groupStore,
		Short:   "Move what is damaged out of the way",
		Long:    repairLong,
		Example: "  waybill repair\n  waybill repair @last --apply\n  waybill repair --apply --yes --json",
		Args:    atMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && !apply {
				return usageFault(cmd, "--yes agrees to --apply, which is not there")
			}
			call := engine.RepairCall{Apply: apply}
			if len(args) > 0 {
				call.Ref = args[0]
			}
			o, err := a.open(cmd.Context())
			if fault.Is(err, fault.StoreCorrupt) {
				return fault.Of(err).
					Suggest("Restore that file from a backup: without it nothing says what the folder is.")
			}
			if err != nil {
				return err
			}
			defer o.close()
			return a.repair(cmd.Context(), o, call, yes)
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&yes, "yes", false, "agree without being asked")
	return cmd
}

// repair shows what would be done before anybody is asked to agree to it.
func (a *app) repair(ctx context.Context, o *opened, call engine.RepairCall, yes bool) error {
	if call.Apply && !yes {
		plan, err := o.Repair(ctx, a.caller(), engine.RepairCall{Ref: call.Ref})
		if err != nil {
			return err
		}
		agreed := len(plan.Steps) == 0
		if !agreed && a.isTerminal(a.in) && !a.common.json {
			agreed = a.agree(func(p *page) { p.repair(plan) }, "Do this? [y/N] ")
			if !agreed {
				return disagreed()
			}
		}
		if !agreed {
			return a.repaired(plan)
		}
	}
	r, err := o.Repair(ctx, a.caller(), call)
	if err != nil {
		return err
	}
	return a.repaired(r)
}

// agree shows something and waits for a yes.
func (a *app) agree(show func(*page), question string) bool {
	p := a.newPage(a.errOut)
	show(p)
	p.WriteString(question)
	_, _ = a.errOut.Write(p.Bytes())
	line, err := bufio.NewReader(a.in).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

// repaired prints the document; the worst of what is left gives the exit status.
func (a *app) repaired(r engine.RepairReport) error {
	if err := a.answer("repair", r, func(p *page) {
		p.repair(r)
		if r.Waiting() {
			p.text("", "Nothing was changed. Do it with: "+a.command("repair", "--apply"))
		}
	}); err != nil {
		return err
	}
	switch {
	case r.Hopeless():
		return exitWith(fault.ExitIntegrity)
	case r.Waiting():
		return exitWith(fault.ExitWaiting)
	}
	return nil
}

// repair shows steps by log: a damaged log may have a thousand segments, and where they
// go is one place.
func (p *page) repair(r engine.RepairReport) {
	for i := 0; i < len(r.Steps); {
		first, files, bytes := r.Steps[i], 0, int64(0)
		kept := int64(-1)
		for ; i < len(r.Steps) && r.Steps[i].Log == first.Log; i++ {
			if r.Steps[i].What == ports.KeepPrefix {
				kept = r.Steps[i].Bytes
				continue
			}
			files, bytes = files+1, bytes+r.Steps[i].Bytes
		}
		p.line("%s %s", p.warn("!"), p.bold(clean(first.Log)))
		verb := "would move"
		if r.Applied {
			verb = "moved"
		}
		p.text("    ", verb+" "+plural(files, "file")+" ("+size(bytes)+") to "+quarantineOf(first.To))
		if kept >= 0 {
			p.text("    ", "keeps the first "+size(kept)+" of its manifest")
		}
		p.lost(r.Lost, first.Log)
	}
	for _, f := range r.Findings {
		if f.Outlook == engine.Repairable {
			continue
		}
		word := p.warn("warning")
		if f.Severity == manifest.SeverityError {
			word = p.bad("error")
		}
		p.line("  %s  %s  %s", word, f.Code, clean(f.Path))
		p.text("      ", strings.TrimPrefix(f.Message, f.Path+": "))
		p.text("      ", f.Advice)
	}
	switch {
	case r.Hopeless() && len(r.Steps) == 0:
		p.text(p.bad("✗ "), "No repair mends what is damaged here.")
	case r.Hopeless():
		p.text(p.bad("✗ "), "Some of what is damaged no repair mends.")
	case len(r.Steps) == 0:
		p.text(p.good("✓ "), "Nothing has to be repaired.")
	case r.Applied:
		p.text(p.good("✓ "), "Repaired. What was taken away lies in the quarantine; nothing was deleted.")
	}
}

// lost says what goes with the files, in the words of whoever did the work.
func (p *page) lost(all engine.Lost, log string) {
	for _, l := range all.Logs {
		if l.Log != log || l.Events == 0 {
			continue
		}
		text := "lost: " + plural(int(l.Events), "event") + " from event " + itoa(int(l.FirstEvent)) + " on"
		if l.Readable < l.Events {
			text += ", of which " + itoa(int(l.Readable)) + " can still be read"
		}
		p.text("    ", text)
		for _, run := range l.Runs {
			p.text("      ", "run "+shortRun(run.RunID)+": "+plural(int(run.Events), "event")+" of "+
				plural(run.NodeCount, "node"))
		}
	}
}

// quarantineOf is the folder that files of one repair go to.
func quarantineOf(to string) string {
	parts := strings.SplitN(to, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}
