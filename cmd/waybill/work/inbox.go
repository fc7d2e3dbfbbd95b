package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/inbox"
)

// inboxLong is what 'waybill inbox --help' prints above the usage.
const inboxLong = `List what waits for a person in all runs of the store, the longest wait first, each with
the command to type:

  question      an input of the pending step has no value
  confirmation  the pending step needs a confirmation; or it is a command, and this version
                of the workflow is not trusted here
  approval      the submitted output needs an approval
  failed        the command of the pending step failed
  blocked       an attempt at the pending step was refused for another reason
  proposal      a proposal waits for approval, or to be applied

A question and a confirmation wait since the step is pending, the others since the last
attempt, decision or change. A run whose pending step is the work of an agent is not
listed, nor is one that waits until a moment. Imported runs that were not continued in
this store are counted: what they wait for is decided in the store that they came from.
--imported lists them too. Nothing is changed.

If more items follow, because of --limit or because the page would exceed 1 MiB, the JSON
document contains nextCursor; --cursor continues from there.`

// NewInbox returns the command "inbox". The engine decides what waits for a person.
func NewInbox(a *cli.App) *cobra.Command {
	var q inbox.Query
	return cli.WithOptions(&cobra.Command{
		Use:     "inbox",
		GroupID: cli.GroupInspect,
		Short:   "List what waits for a person, with the command for each",
		Long:    inboxLong,
		Example: "  waybill inbox\n  waybill inbox --kind approval --kind question\n" +
			"  waybill inbox --json | jq -r '.data.items[].kind'",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", q.Limit)
			}
			defer cli.LimitHeap()()
			return cli.Show(a, cmd, "inbox",
				progress.Listing(a, cmd, func(ctx context.Context, o *cli.Store) (inbox.List, error) {
					q.Workspace = a.Flags.Workspace
					q.Trusted = func(ctx context.Context, hash canon.Digest) bool {
						_, ok, err := o.TrustedHere(ctx, hash)
						return ok && err == nil
					}
					list, err := o.Inbox.List(ctx, q)
					for i := range list.Items {
						list.Items[i].Next.Command = a.WithStoreFlags(list.Items[i].Next.Command)
					}
					return list, err
				}),
				func(p *page.Page, list inbox.List) { showInbox(a, p, list) })
		},
	},
		cli.ManyOf(&q.Kinds, "kind KIND", inbox.Kinds(),
			"list only items of KIND, may be repeated: "+page.JoinWords(inbox.Kinds())),
		cli.Opt(&q.Imported, "imported", "list imported runs too that were not continued in this store"),
		cli.Opt(&q.Limit, "limit N", "list at most N items; 0 lists as many as a page holds"),
		cli.Opt(&q.Cursor, "cursor CURSOR", "continue after the CURSOR of the previous page"),
		cli.Lines(a, "items"))
}

// showInbox prints two lines for each item: what waits since when, and the command.
func showInbox(a *cli.App, p *page.Page, list inbox.List) {
	switch {
	case len(list.Items) > 0:
	case list.Excluded > 0:
		p.Line("No items are selected: --kind excludes %s.", page.Plural(list.Excluded, "item"))
	default:
		p.Line("Nothing waits for a person.")
		p.Line("%s", p.Dim("Runs at work: "+a.Command("runs", "list", "--status", "in_progress")))
	}
	for _, item := range list.Items {
		name := p.Name(page.ShortRun(item.RunID), item.RunID.String())
		if item.Kind == inbox.Proposal {
			name = p.Name(page.ShortProposal(item.ProposalID), item.ProposalID.String())
		}
		title := page.OneLine(item.Title)
		if item.StepID != "" {
			title += ", step " + item.StepID
		}
		since := a.Ago(item.SinceMs)
		if item.Imported {
			since += ", imported"
		}
		p.StyledText(p.Warn(string(item.Kind))+"  ", title+"  ("+since+")", p.Bold)
		p.Line("  %s", a.Command(item.Words(name)...))
	}
	if list.NextCursor != "" {
		p.Line("%s", p.Dim("More: --cursor "+list.NextCursor))
	}
	if list.Imported > 0 {
		p.Line("%s", p.Dim(page.Plural(list.Imported, "imported run")+" left out; --imported lists them."))
	}
	showUnreadable(p, list.Unreadable)
}
