package learning

import (
	"context"

	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
)

// newProposalsList makes "proposals list". States and kinds are closed sets and
// are checked before the store is opened.
func newProposalsList(a *cli.App) *cobra.Command {
	var state, kind string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what was proposed",
		Long: `List the proposals of the store, or of the workspace that --workspace names, the newest
first. STATE is draft, revised, applied, rejected or archived.`,
		Example: "  waybill proposals list\n  waybill proposals list --state draft --kind prompt-template --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The filters are closed sets: a word that is none would give an
			// empty list.
			q := engine.ProposalQuery{Workspace: a.Flags.Workspace, State: proposal.State(state),
				Kind: proposal.Kind(kind)}
			if state != "" && !slices.Contains(proposal.States(), q.State) {
				return cli.UsageFault(cmd, "there is no state %q", state).
					Suggest("Use %s.", page.Words(proposal.States()))
			}
			if kind != "" && !slices.Contains(proposal.Kinds(), q.Kind) {
				return cli.UsageFault(cmd, "there is no kind %q", kind).Suggest("Use %s.", page.Words(proposal.Kinds()))
			}
			return cli.Show(a, cmd, "proposals",
				func(ctx context.Context, o *cli.Store) (engine.ProposalList, error) { return o.Proposals(ctx, q) },
				func(p *page.Page, list engine.ProposalList) { showProposals(a, list, q, p) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "only those that are `STATE`")
	f.StringVar(&kind, "kind", "", "only those of `KIND`")
	_ = cmd.RegisterFlagCompletionFunc("state",
		cobra.FixedCompletions(strings.Split(page.Words(proposal.States()), ", "),
			cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(strings.Split(page.Words(proposal.Kinds()), ", "),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// newProposalsGet makes "proposals get". The document is the proposal itself in
// the form of RFC 0096; with --history it is one of our own, with every
// revision, approval and decision.
func newProposalsGet(a *cli.App) *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show one proposal",
		Long: `Show a proposal: what is proposed and why, what it was learned from, what it is like, and
how far its approval has come. ID may be the beginning of one.

--history shows everything on record: each revision, approval and decision, with who and
why.`,
		Example: "  waybill proposals get q4yplb\n  waybill proposals get q4yplb --history --json",
		Args:    cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			// The wire object is for programs of the protocol, the details
			// for people and for --history.
			wire, d, err := o.Proposal(cmd.Context(), a.Flags.Workspace, args[0])
			if err != nil {
				return err
			}
			if history {
				return a.Answer("proposal_history", d,
					func(p *page.Page) { showProposal(a, wire, d, proposalHistory, p) })
			}
			return a.Answer("proposal", wire, func(p *page.Page) { showProposal(a, wire, d, proposalBrief, p) })
		},
	}
	cmd.Flags().BoolVar(&history, "history", false, "show all revisions, approvals and decisions")
	return cmd
}

// newProposalsInstalled makes "proposals installed": what is in use, one
// artifact for each place.
func newProposalsInstalled(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "installed",
		Short: "List what applied proposals brought, and is in use",
		Long: `List what is installed: in each place the newest that was applied and not rolled back.
Workflows among it are in 'waybill workflows list' as well, with the source "installed".`,
		Example: "  waybill proposals installed\n  waybill proposals installed --workspace blue --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "installed", func(ctx context.Context, o *cli.Store) (engine.InstalledList, error) {
				return installedHere(ctx, a, o)
			}, func(p *page.Page, list engine.InstalledList) { showInstalled(a, list, p) })
		},
	}
}

// installedHere asks what is installed. What was installed stays in use where
// the store does not provide proposals any more; the list itself is refused
// then, as all of the family is.
func installedHere(ctx context.Context, a *cli.App, o *cli.Store) (none engine.InstalledList, err error) {
	c, err := o.Config(ctx)
	if err != nil {
		return none, err
	}
	// The family is refused as a whole while it is off.
	if !c.Proposals() {
		return none, fault.New(fault.CapabilityNotProvided, "this store does not provide %s", config.Proposals).
			Suggest("'waybill config set %s on' turns it on.", config.Proposals).
			With("capability", string(config.Proposals))
	}
	return o.Installed(ctx, a.Flags.Workspace)
}

// newProposalsEvents makes "proposals events": what is announced of proposals
// to others, without their contents.
func newProposalsEvents(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "events",
		Short: "List what is announced: proposals made and activated",
		Long: `List what OpenWOP announces of proposals, the oldest first: proposal.created and
proposal.activated. Neither says what is proposed or why.`,
		Example: "  waybill proposals events\n  waybill proposals events --workspace blue --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "proposal_events",
				func(ctx context.Context, o *cli.Store) (engine.ProposalEvents, error) {
					return o.ProposalEvents(ctx, a.Flags.Workspace)
				},
				func(p *page.Page, list engine.ProposalEvents) {
					for _, e := range list.Events {
						p.Line("%s  %-18s  %s", page.ClockTime(e.AtMs, "2006-01-02 15:04"), e.Type,
							page.ShortProposal(e.ProposalID))
					}
					if len(list.Events) == 0 {
						p.Line("Nothing was proposed here.")
					}
				})
		},
	}
}
