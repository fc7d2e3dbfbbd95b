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

// trustLong is what 'waybill trust --help' prints above the usage.
const trustLong = `Allow 'waybill run' to carry out the commands of a workflow, exactly as it is now: when
the file changes, trust is asked for again. All commands are shown first.

Trusting is a person's decision. At a terminal you are asked; without one nothing is
trusted unless --yes is given, and what is recorded then says that no person was at a
terminal. Trust is kept per store, by the workflow's hash.`

// trustInput is what the flags of trust say. list goes with no argument, and
// revoke not with yes.
type trustInput struct{ yes, revoke, list bool }

// NewTrust makes the command "trust". It records for a store that the commands
// of one version of a workflow may run; any change of the file is another
// version. Without a terminal --yes is needed, and the record says that no
// person was at one. --list and --revoke show and remove such records.
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
			// One thing at a time: list, revoke, or trust.
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

// trustable finds what FILE|ID|HASH names. A hash must be that of a workflow
// that a run of the store is pinned to: its commands could not be shown
// otherwise. An id or file that does not validate is an error, since nothing
// could run it.
func trustable(ctx context.Context, a *cli.App, o *cli.Store, ref string) (compile.Compiled, error) {
	// A hash is spelled like nothing else.
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

// giveTrust shows what would run, asks, and records the agreement. For a
// version that is trusted already nothing is asked, and the record that there
// is counts; a workflow without commands needs none.
//
// The actor of the record is that of the call: with --yes and without a
// terminal it is an agent, which a reader of the list can see.
func giveTrust(ctx context.Context, a *cli.App, o *cli.Store, w compile.Compiled, yes bool) error {
	doc := document.Trust{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash(), Commands: catalog.Commands(w)}
	// A version that was agreed to before needs no question.
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

// askTrust shows the commands on stderr and waits for a yes. Without a
// terminal, or with --json, nothing is asked and the answer is
// WORKFLOW_UNTRUSTED. The commands are shown in any case, but for --json, where
// they are in the document of 'workflows inspect'. nil: the person agreed.
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
	// The same code whether a person refused or none was there.
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

// showCommands prints what trusting a workflow allows. Nothing of a command is
// cut or hidden: its folder and environment can change what a harmless program
// does. Words are quoted as for a shell, though none is used.
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
