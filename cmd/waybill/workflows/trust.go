package workflows

import (
	"bufio"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
)

const trustLong = `Allow 'waybill run' to carry out the commands of a workflow, exactly as it is now: when
the file changes, trust is asked for again. All commands are shown first.

Trusting is a person's decision. At a terminal you are asked; without one nothing is
trusted unless --yes is given, and what is recorded then says that no person was at a
terminal. Trust is kept per store, by the workflow's hash.`

// trustInput is what the flags of trust say.
type trustInput struct{ yes, revoke, list bool }

func NewTrust(a *cli.App) *cobra.Command {
	var in trustInput
	cmd := &cobra.Command{
		Use:     "trust (FILE|ID|HASH | --list)",
		GroupID: cli.GroupWork,
		Short:   "Allow the commands of a workflow to run",
		Long:    trustLong,
		Example: `  waybill trust ./nightly.yaml
  waybill trust wr.demo --yes
  waybill trust --list
  waybill trust --revoke wr.demo`,
		Args: cli.AtMost("FILE, ID or HASH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) != in.list || in.list && (in.yes || in.revoke) || in.revoke && in.yes {
				return cli.UsageFault(cmd, "'%s' wants one workflow, with --yes or --revoke, or --list alone",
					cmd.CommandPath())
			}
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			if in.list {
				return listTrust(cmd.Context(), a, o)
			}
			if in.revoke {
				return revokeTrust(cmd.Context(), a, o, args[0])
			}
			w, err := trustable(cmd.Context(), a, o, args[0])
			if err != nil {
				return err
			}
			return giveTrust(cmd.Context(), a, o, w, in.yes)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&in.yes, "yes", false, "agree without being asked")
	f.BoolVar(&in.revoke, "revoke", false,
		"take trust back: of a FILE as it is now, of every version of an ID, or of a HASH")
	f.BoolVar(&in.list, "list", false, "list what is trusted, and who agreed")
	return cmd
}

// trustable finds what FILE|ID|HASH names; a hash is one that a run of the store
// is pinned to.
func trustable(ctx context.Context, a *cli.App, o *cli.Store, ref string) (compile.Compiled, error) {
	hash, err := canon.ParseDigest(ref)
	if err != nil {
		e, err := a.Workflow(ctx, ref)
		return e.Compiled, err
	}
	w, err := o.Pinned(ctx, hash)
	if err != nil {
		return w, fault.Wrap(err, fault.WorkflowNotFound, "no run of this store is pinned to %s", hash).
			Suggest("Name the workflow's file or id instead.")
	}
	return w, nil
}

// giveTrust shows what would run, asks, and puts the agreement on record.
func giveTrust(ctx context.Context, a *cli.App, o *cli.Store, w compile.Compiled, yes bool) error {
	doc := document.Trust{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash(), Commands: catalog.Commands(w)}
	// Whoever agreed to this very version before is not asked again.
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	_, already := list.Of(w.Hash())
	if !already && !yes && len(doc.Commands) > 0 {
		if err := askTrust(a, w, doc.Commands); err != nil {
			return err
		}
	}
	if len(doc.Commands) > 0 {
		entry, err := o.Trust(ctx, a.Caller(), w)
		if err != nil {
			return err
		}
		doc.Entry = &entry
	}
	doc.Trusted = true
	return a.Answer("trust", doc, func(p *page.Page) {
		switch {
		case len(doc.Commands) == 0:
			p.Line("%s has no commands: there is nothing to trust.", page.Clean(w.WorkflowID))
		case already:
			p.Line("%s is trusted already, since %s.", page.Clean(w.WorkflowID),
				page.ClockTime(doc.Entry.AtMs, "2 Jan 2006 15:04"))
		default:
			p.Line("%s %s is trusted: %s may run.", p.Good("✓"), page.Clean(w.WorkflowID),
				page.Plural(len(doc.Commands), "command"))
		}
	})
}

// askTrust shows the commands and waits for a yes. Without a terminal nobody can
// be asked, so nobody has agreed.
func askTrust(a *cli.App, w compile.Compiled, commands []catalog.Command) error {
	p := a.NewPage(a.Err)
	showCommands(p, w, commands)
	// With --json a program reads the answer, even where a terminal is near.
	asked := a.IsTerminal(a.In) && !a.Flags.JSON
	if asked {
		p.WriteString("Trust them? [y/N] ")
	}
	if asked || !a.Flags.JSON {
		_, _ = a.Err.Write(p.Bytes())
	}
	untrusted := fault.New(fault.WorkflowUntrusted, "nobody has agreed to the commands of %s", w.WorkflowID).
		With("workflowHash", w.Hash().String())
	if !asked {
		return untrusted.Suggest("Read them, then run this at a terminal, or say --yes.")
	}
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return untrusted.Suggest("Nothing was recorded.")
	}
	return nil
}

// showCommands shows what trusting a workflow allows, in full: nothing of it may be
// cut or hidden.
func showCommands(p *page.Page, w compile.Compiled, commands []catalog.Command) {
	p.Line("%s (%s) would run %s:", p.Bold(page.Clean(w.Name)), page.Clean(w.WorkflowID),
		page.Plural(len(commands), "command"))
	p.Line("")
	for _, c := range commands {
		p.Line("  %s", p.Dim(page.Clean(c.Title)))
		p.Line("    %s", command.Line(c.Argv))
		if c.Cwd != "" {
			p.Line("      %s %s", p.Dim("in"), page.Clean(c.Cwd))
		}
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			p.Line("      %s %s=%s", p.Dim("with"), page.Clean(name), command.Word(page.Clean(c.Env[name])))
		}
	}
	p.Line("")
}
