package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/inbox"
)

// inboxLong is what 'waybill inbox --help' prints above the usage.
const inboxLong = `List what waits for a person in all runs of the store, the longest wait first, each with
the command to type:

  question      an input of the pending step has no value
  confirmation  the pending step needs a confirmation
  approval      the submitted output needs an approval
  failed        the command of the pending step failed
  blocked       an attempt at the pending step was refused for another reason
  proposal      a proposal waits for approval, or to be applied

A run whose pending step is the work of an agent is not listed, nor is one that waits until
a moment. Nothing is changed.`

// NewInbox returns the command "inbox". The engine decides what waits for a person.
func NewInbox(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "inbox",
		GroupID: cli.GroupInspect,
		Short:   "List what waits for a person, with the command for each",
		Long:    inboxLong,
		Example: "  waybill inbox\n  waybill inbox --json | jq -r '.data.items[].kind'",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "inbox",
				func(ctx context.Context, o *cli.Store) (inbox.List, error) {
					list, err := o.Inbox.List(ctx, a.Flags.Workspace)
					for i := range list.Items {
						list.Items[i].Next.Command = a.WithStoreFlags(list.Items[i].Next.Command)
					}
					return list, err
				},
				func(p *page.Page, list inbox.List) { showInbox(a, p, list) })
		},
	}
}

// showInbox prints two lines for each item: what waits since when, and the command.
func showInbox(a *cli.App, p *page.Page, list inbox.List) {
	if len(list.Items) == 0 {
		p.Line("Nothing waits for a person.")
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
		p.StyledText(p.Warn(string(item.Kind))+"  ", title+"  ("+a.Ago(item.SinceMs)+")", p.Bold)
		p.Line("  %s", a.Command(item.Words(name)...))
	}
	showUnreadable(p, list.Unreadable)
}
