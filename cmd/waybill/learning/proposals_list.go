package learning

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
)

// newProposalsList returns "proposals list". States and kinds are closed sets:
// a misspelled filter would match nothing, and the empty list would look like an answer.
func newProposalsList(a *cli.App) *cobra.Command {
	var q learning.ProposalQuery
	return cli.WithOptions(&cobra.Command{
		Use:   "list",
		Short: "List proposals",
		Long: `List the proposals of the store, or of the workspace that --workspace names, newest
first. STATE is draft, revised, applied, rejected or archived. Nothing is changed.`,
		Example: "  waybill proposals list\n  waybill proposals list --state draft --kind prompt-template --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.Workspace = a.Flags.Workspace
			return cli.Show(a, cmd, "proposals",
				func(ctx context.Context, o *cli.Store) (learning.ProposalList, error) { return o.Proposals(ctx, q) },
				func(p *page.Page, list learning.ProposalList) { showProposals(a, list, q, p) })
		},
	},
		cli.OneOf(&q.State, "state STATE", proposal.States(), "only proposals in STATE"),
		cli.OneOf(&q.Kind, "kind KIND", proposal.Kinds(), "only proposals of KIND"), cli.Lines(a, "proposals"))
}

// newProposalsGet returns "proposals get". The document is "proposal"
// (docs/design.md#proposals), or with --history "proposal_history", which has
// every revision, approval and decision.
func newProposalsGet(a *cli.App) *cobra.Command {
	var history, details bool
	return cli.WithOptions(&cobra.Command{
		Use:   "get ID",
		Short: "Show one proposal",
		Long: `Show a proposal: the artifact and the rationale, the runs that it was learned from,
similar artifacts, its approvals, and the difference to what it would replace. ID may be a
prefix of one, or @last for the one that was created last. Nothing is changed.

--history also shows each revision, approval and decision, with its author and reason.`,
		Example: "  waybill proposals get q4yplb\n  waybill proposals get q4yplb --history --json",
		Args:    cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				// wire is the object of the OpenWOP protocol; d has what only the text
				// and --history show.
				wire, d, err := o.Proposal(ctx, a.Flags.Workspace, args[0])
				if err != nil {
					return err
				}
				diff, err := difference(ctx, a, o, &d)
				if err != nil {
					return err
				}
				if history {
					return a.Answer("proposal_history", d,
						func(p *page.Page) {
							showProposal(a, wire, d, diff, proposalHistory, p)
							if details {
								render.Members(p, d)
							}
						})
				}
				return cli.AnswerBeside(a, "proposal", wire, besideOf(diff), func(p *page.Page) {
					showProposal(a, wire, d, diff, proposalBrief, p)
					if details {
						render.Members(p, wire)
					}
				})
			})
		},
	},
		cli.Opt(&history, "history", "also show all revisions, approvals and decisions"),
		cli.Opt(&details, "details", "also print all recorded members, one a line"))
}

// newProposalsInstalled returns "proposals installed": the artifacts in use, one
// for each slot.
func newProposalsInstalled(a *cli.App) *cobra.Command {
	return cli.WithOptions(&cobra.Command{
		Use:   "installed",
		Short: "List installed artifacts",
		Long: `List the installed artifacts: for each kind and id the one that was applied last and not
rolled back. Installed workflows are also in 'waybill workflows list', with the source
"installed". Nothing is changed.`,
		Example: "  waybill proposals installed\n  waybill proposals installed --workspace blue --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "installed", func(ctx context.Context, o *cli.Store) (learning.InstalledList, error) {
				return listInstalled(ctx, a, o)
			}, func(p *page.Page, list learning.InstalledList) { showInstalled(a, list, p) })
		},
	}, cli.Lines(a, "installed"))
}

// listInstalled returns what is installed in the workspace. Where proposals are
// turned off, installed artifacts stay in use, but the list is refused with
// CAPABILITY_NOT_PROVIDED like all commands of the family.
func listInstalled(ctx context.Context, a *cli.App, o *cli.Store) (none learning.InstalledList, err error) {
	c, err := o.Config(ctx)
	if err != nil {
		return none, err
	}
	if !c.Proposals() {
		return none, fault.New(fault.CapabilityNotProvided, "this store does not provide %s", config.Proposals).
			Suggest("%s turns it on.", fault.Command{"config", "set", string(config.Proposals), "on"}).
			With("capability", string(config.Proposals))
	}
	return o.Installed(ctx, a.Flags.Workspace)
}

// newProposalsEvents returns "proposals events": the OpenWOP events about
// proposals, without their contents.
func newProposalsEvents(a *cli.App) *cobra.Command {
	return cli.WithOptions(&cobra.Command{
		Use:   "events",
		Short: "List the OpenWOP events of proposals",
		Long: `List the events that OpenWOP defines for proposals, oldest first: proposal.created and
proposal.activated. Neither contains the artifact or the rationale. Nothing is changed.`,
		Example: "  waybill proposals events\n  waybill proposals events --workspace blue --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "proposal_events",
				func(ctx context.Context, o *cli.Store) (learning.ProposalEvents, error) {
					return o.ProposalEvents(ctx, a.Flags.Workspace)
				},
				func(p *page.Page, list learning.ProposalEvents) {
					for _, e := range list.Events {
						p.Line("%s  %-18s  %s", page.ClockTime(e.AtMs, "2006-01-02 15:04"), e.Type,
							page.ShortProposal(e.ProposalID))
					}
					if len(list.Events) == 0 {
						p.Line("No proposals.")
					}
				})
		},
	}, cli.Lines(a, "events"))
}
