package main

import (
	"bufio"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
)

const trustLong = `Allow 'waybill run' to carry out the commands of a workflow, exactly as it is now: when
the file changes, trust is asked for again. All commands are shown first.

Trusting is a person's decision. At a terminal you are asked; without one nothing is
trusted unless --yes is given, and what is recorded then says that no person was at a
terminal. Trust is kept per store, by the workflow's hash.`

// trustDocument is the document "trust".
type trustDocument struct {
	Trusted      bool              `json:"trusted"`
	WorkflowID   string            `json:"workflowId"`
	WorkflowHash canon.Digest      `json:"workflowHash"`
	Entry        *trust.Entry      `json:"entry,omitzero"`
	Commands     []catalog.Command `json:"commands"`
}

// trustInput is what the flags of trust say.
type trustInput struct{ yes, revoke, list bool }

func newTrustCommand(a *app) *cobra.Command {
	var in trustInput
	cmd := &cobra.Command{
		Use:     "trust (FILE|ID|HASH | --list)",
		GroupID: groupWork,
		Short:   "Allow the commands of a workflow to run",
		Long:    trustLong,
		Example: `  waybill trust ./nightly.yaml
  waybill trust wr.demo --yes
  waybill trust --list
  waybill trust --revoke wr.demo`,
		Args: atMost("FILE, ID or HASH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) != in.list || in.list && (in.yes || in.revoke) || in.revoke && in.yes {
				return usageFault(cmd, "'%s' wants one workflow, with --yes or --revoke, or --list alone",
					cmd.CommandPath())
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			if in.list {
				return a.listTrust(cmd.Context(), o)
			}
			if in.revoke {
				return a.revokeTrust(cmd.Context(), o, args[0])
			}
			w, err := a.trustable(cmd.Context(), o, args[0])
			if err != nil {
				return err
			}
			return a.giveTrust(cmd.Context(), o, w, in.yes)
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
func (a *app) trustable(ctx context.Context, o *opened, ref string) (compile.Compiled, error) {
	hash, err := canon.ParseDigest(ref)
	if err != nil {
		e, err := a.workflow(ctx, ref)
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
func (a *app) giveTrust(ctx context.Context, o *opened, w compile.Compiled, yes bool) error {
	doc := trustDocument{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash(), Commands: catalog.Commands(w)}
	// Whoever agreed to this very version before is not asked again.
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	_, already := list.Of(w.Hash())
	if !already && !yes && len(doc.Commands) > 0 {
		if err := a.askTrust(w, doc.Commands); err != nil {
			return err
		}
	}
	if len(doc.Commands) > 0 {
		entry, err := o.Trust(ctx, a.caller(), w)
		if err != nil {
			return err
		}
		doc.Entry = &entry
	}
	doc.Trusted = true
	return a.answer("trust", doc, func(p *page) {
		switch {
		case len(doc.Commands) == 0:
			p.line("%s has no commands: there is nothing to trust.", clean(w.WorkflowID))
		case already:
			p.line("%s is trusted already, since %s.", clean(w.WorkflowID),
				clockTime(doc.Entry.AtMs, "2 Jan 2006 15:04"))
		default:
			p.line("%s %s is trusted: %s may run.", p.good("✓"), clean(w.WorkflowID),
				plural(len(doc.Commands), "command"))
		}
	})
}

// askTrust shows the commands and waits for a yes. Without a terminal nobody can
// be asked, so nobody has agreed.
func (a *app) askTrust(w compile.Compiled, commands []catalog.Command) error {
	p := a.newPage(a.errOut)
	p.commands(w, commands)
	// With --json a program reads the answer, even where a terminal is near.
	asked := a.isTerminal(a.in) && !a.common.json
	if asked {
		p.WriteString("Trust them? [y/N] ")
	}
	if asked || !a.common.json {
		_, _ = a.errOut.Write(p.Bytes())
	}
	untrusted := fault.New(fault.WorkflowUntrusted, "nobody has agreed to the commands of %s", w.WorkflowID).
		With("workflowHash", w.Hash().String())
	if !asked {
		return untrusted.Suggest("Read them, then run this at a terminal, or say --yes.")
	}
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return untrusted.Suggest("Nothing was recorded.")
	}
	return nil
}

// commands shows what trusting a workflow allows, in full: nothing of it may be
// cut or hidden.
func (p *page) commands(w compile.Compiled, commands []catalog.Command) {
	p.line("%s (%s) would run %s:", p.bold(clean(w.Name)), clean(w.WorkflowID), plural(len(commands), "command"))
	p.line("")
	for _, c := range commands {
		p.line("  %s", p.dim(clean(c.Title)))
		p.line("    %s", command.Line(c.Argv))
		if c.Cwd != "" {
			p.line("      %s %s", p.dim("in"), clean(c.Cwd))
		}
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			p.line("      %s %s=%s", p.dim("with"), clean(name), command.Word(clean(c.Env[name])))
		}
	}
	p.line("")
}
