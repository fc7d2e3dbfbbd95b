package workflows

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// trustLong is what 'waybill trust --help' prints above the usage.
const trustLong = `Allow the commands and checks of the present version of a workflow to run: commands by
'waybill run', checks each time a step is handed in, also by 'waybill continue' and over
MCP. All of them are shown first. A changed file is a new version and must be trusted again.

With the trust is recorded what checks depend on: the content of the files in pins, their
programs, and PATH and similar variables. A check whose files changed does not count
(check_changed) until the file is put back or a person trusts again, which shows the change.

Only a person at a terminal can trust a workflow: no flag answers the question. 'waybill
run --trust' allows the commands in one call and records nothing. Trust counts for this
version in one place: the root of the repository of the working directory, or the folder
if there is none. No command is run. --list lists what is trusted, --revoke removes the
trust in a version in all places and does not ask.

` + cli.SigningHelp

// trustInput holds the flags of trust. list cannot be combined with an argument or another
// flag, and revoke not with yes.
type trustInput struct{ yes, revoke, list bool }

// NewTrust returns the command "trust". It records in a store that the commands of one version
// of a workflow may run; any change of the file is another version
// (docs/design.md#commands-and-trust). Only a person at a terminal gives trust: --yes is refused
// and hidden. --list and --revoke show and remove such records.
func NewTrust(a *cli.App) *cobra.Command {
	var in trustInput
	var sign cli.Signing
	cmd := &cobra.Command{
		Use:     "trust (FILE|ID|HASH | --list)",
		GroupID: cli.GroupRun,
		Short:   "Allow the commands and checks of a workflow to run",
		Long:    trustLong,
		Example: `  waybill trust ./nightly.yaml
  waybill trust wr.demo
  waybill trust --list
  waybill trust --revoke wr.demo`,
		Args: cli.AtMost("FILE, ID or HASH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// Exactly one of list, revoke and trust.
			if (len(args) == 0) != in.list || in.list && (in.yes || in.revoke) || in.revoke && in.yes {
				return cli.UsageFault(cmd, "'%s' needs one workflow, or --revoke with one, or --list alone",
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
				return sign.Finish(revokeTrust(cmd.Context(), a, o, args[0], &sign))
			}
			// The workflow is resolved before the question, so that exactly the shown
			// version is trusted.
			w, from, err := trustable(cmd.Context(), a, o, args[0])
			if err != nil {
				return err
			}
			return sign.Finish(giveTrust(cmd.Context(), a, o, w, from, in.yes, &sign))
		},
	}
	f := cmd.Flags()
	cli.WithOptions(cmd, cli.Opt(&in.yes, "yes", ""))
	_ = f.MarkHidden("yes") // refused with an explanation
	cli.WithOptions(cmd,
		cli.Opt(&in.revoke, "revoke",
			"remove trust: of the present version of a FILE, of all versions of an ID, or of a HASH"),
		cli.Opt(&in.list, "list", "list the trusted workflows and who trusted them"))
	sign.AddFlags(a, cmd)
	return cmd
}

// trustable returns the workflow that FILE|ID|HASH names, and its source, "" for a hash. A hash must be that of a workflow
// that a run of the store is pinned to, since the commands are read from there; otherwise the
// error is WORKFLOW_NOT_FOUND. An invalid workflow is WORKFLOW_INVALID, since it cannot be
// run.
func trustable(ctx context.Context, a *cli.App, o *cli.Store, ref string) (w compile.Compiled, from string,
	err error) {
	// Neither ids nor file names have the form of a hash.
	hash, err := canon.ParseDigest(ref)
	if err != nil {
		e, err := a.Workflow(ctx, ref)
		return e.Compiled, e.Source(), err
	}
	w, err = o.Workflow(ctx, hash)
	if err != nil {
		return w, "", fault.Wrap(err, fault.WorkflowNotFound, "no run of this store is pinned to %s", hash).
			Suggest("Give the file or id of the workflow instead.")
	}
	return w, "", nil
}

// giveTrust shows the commands, asks, and records trust with what its checks depend on. For a
// version that is already trusted with the same it asks nothing and keeps the existing record; for a workflow without commands it records
// nothing.
func giveTrust(ctx context.Context, a *cli.App, o *cli.Store, w compile.Compiled, from string, yes bool,
	sign *cli.Signing) error {
	doc := document.Trust{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash(), Commands: catalog.Commands(w)}
	root, err := a.TrustRoot()
	if err != nil {
		return err
	}
	fixed, err := a.Pins(root).Fix(ctx, w.Checks())
	if err != nil {
		return err
	}
	// A version that is already trusted here needs no question.
	before, shown, err := trustState(ctx, o, w.Hash(), root)
	if err != nil {
		return err
	}
	already := before != nil && before.Fixed.Equal(fixed)
	if !already && len(doc.Commands) > 0 {
		if yes {
			return notByFlag(w)
		}
		var changes []trust.Change
		if before != nil {
			changes = fixed.Changes(before.Fixed)
		}
		if err := sign.Check(ctx, o); err != nil {
			return err
		}
		if sign.Asks() {
			if err := askTrust(a, w, from, doc.Commands, root, shown, fixed, changes); err != nil {
				return err
			}
		}
	}
	// Recording trust again keeps the existing entry.
	if len(doc.Commands) > 0 {
		entry, err := o.Trust(ctx, sign.Caller(o), w, root, fixed, shown)
		if err != nil {
			return err
		}
		doc.Entry = &entry
	}
	doc.Trusted = true
	return a.Answer("trust", doc, func(p *page.Page) {
		switch {
		case len(doc.Commands) == 0:
			p.Line("%s has no commands: nothing needs to be trusted.", page.OneLine(w.WorkflowID))
		case already:
			p.Line("%s is already trusted, since %s.", page.OneLine(w.WorkflowID),
				page.ClockTime(doc.Entry.AtMs, "2 Jan 2006 15:04"))
		default:
			p.Line("%s %s is trusted: %s may run.", p.Good("✓"), page.OneLine(w.WorkflowID),
				page.Plural(len(doc.Commands), "command"))
		}
	})
}

// notByFlag returns the WORKFLOW_UNTRUSTED error for --yes, with which earlier versions recorded trust.
func notByFlag(w compile.Compiled) error {
	return fault.New(fault.WorkflowUntrusted, "--yes does not record trust in the commands of %s: "+
		"only a person at a terminal does", w.WorkflowID).
		Suggest("Run this at a terminal without --yes. To allow the commands in one call, use 'waybill run --trust'.").
		With("workflowHash", w.Hash().String())
}

// trustState returns the entry of a version in a place, nil without one. If the list of trusted
// workflows is not the one that a person confirmed, nothing of it counts, and it is returned as
// shown: the question has to show it, because the answer confirms it.
func trustState(ctx context.Context, o *cli.Store, hash canon.Digest, root string) (before *trust.Entry, shown *trust.List,
	err error) {
	list, err := o.ConfirmedTrust(ctx)
	if fault.Is(err, fault.PolicyUnconfirmed) {
		if list, err = o.Trusted(ctx); err == nil {
			return nil, &list, nil
		}
	}
	if entry, ok := list.Of(hash, root); ok && err == nil {
		before = &entry
	}
	return before, nil, err
}

// showPlace prints where the trust will count, and the list of trusted workflows if the answer
// confirms it.
func showPlace(p *page.Page, root string, unconfirmed *trust.List) {
	p.Line("Trust counts in this repository or folder only:")
	p.Verbatim("  ", page.Argument(root), page.Plain)
	if unconfirmed == nil {
		return
	}
	p.Text("", "The list of trusted workflows is not as a person confirmed it last. The answer confirms it:")
	render.TrustEntries(p, *unconfirmed)
}

// askTrust shows the commands and asks. nil means that the person agreed; every other answer, and
// no person at a terminal, is WORKFLOW_UNTRUSTED. No flag answers: trust is a setting that only a
// person gives (docs/design.md#consent).
func askTrust(a *cli.App, w compile.Compiled, from string, commands []catalog.Command, root string,
	unconfirmed *trust.List, fixed trust.Fixed, changes []trust.Change) error {
	untrusted := fault.New(fault.WorkflowUntrusted, "the commands of %s are not trusted", w.WorkflowID).
		With("workflowHash", w.Hash().String())
	if !a.AtTerminal() {
		return untrusted.Suggest("Run this at a terminal, without a pipe or a redirection; it shows the commands. " +
			"To allow them in one call, use 'waybill run --trust'.")
	}
	yes, err := a.AskYes(func(p *page.Page) {
		render.Commands(p, w.Name, w.WorkflowID, from, commands, canon.Value{})
		render.FixedChanges(p, changes)
		render.HomeFolders(p, fixed)
		showPlace(p, root, unconfirmed)
	}, "Trust them? [y/N]")
	if err == nil && !yes {
		err = untrusted.Suggest("Nothing was recorded.")
	}
	return err
}
