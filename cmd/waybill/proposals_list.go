package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
)

func newProposalsListCommand(a *app) *cobra.Command {
	var state, kind string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what was proposed",
		Long: `List the proposals of the store, or of the workspace that --workspace names, the newest
first. STATE is draft, revised, applied, rejected or archived.`,
		Example: "  waybill proposals list\n  waybill proposals list --state draft --kind prompt-template --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := engine.ProposalQuery{Workspace: a.common.workspace, State: proposal.State(state),
				Kind: proposal.Kind(kind)}
			if state != "" && !slices.Contains(proposal.States(), q.State) {
				return usageFault(cmd, "there is no state %q", state).Suggest("Use %s.", wordsOf(proposal.States()))
			}
			if kind != "" && !slices.Contains(proposal.Kinds(), q.Kind) {
				return usageFault(cmd, "there is no kind %q", kind).Suggest("Use %s.", wordsOf(proposal.Kinds()))
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.Proposals(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.answer("proposals", list, func(p *page) { a.tellProposals(list, q, p) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "only those that are `STATE`")
	f.StringVar(&kind, "kind", "", "only those of `KIND`")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(strings.Split(wordsOf(proposal.States()), ", "),
		cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(strings.Split(wordsOf(proposal.Kinds()), ", "),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newProposalsGetCommand(a *app) *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show one proposal",
		Long: `Show a proposal: what is proposed and why, what it was learned from, what it is like, and
how far its approval has come. ID may be the beginning of one.

--history shows everything on record: each revision, approval and decision, with who and
why.`,
		Example: "  waybill proposals get q4yplb\n  waybill proposals get q4yplb --history --json",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			wire, d, err := o.Proposal(cmd.Context(), a.common.workspace, args[0])
			if err != nil {
				return err
			}
			if history {
				return a.answer("proposal_history", d, func(p *page) { a.tellProposal(wire, d, proposalHistory, p) })
			}
			return a.answer("proposal", wire, func(p *page) { a.tellProposal(wire, d, proposalBrief, p) })
		},
	}
	cmd.Flags().BoolVar(&history, "history", false, "show all revisions, approvals and decisions")
	return cmd
}

func newProposalsInstalledCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "installed",
		Short: "List what applied proposals brought, and is in use",
		Long: `List what is installed: in each place the newest that was applied and not rolled back.
Workflows among it are in 'waybill workflows list' as well, with the source "installed".`,
		Example: "  waybill proposals installed\n  waybill proposals installed --workspace blue --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			// What was installed stays in use where the family is off; asking for it is its own.
			c, err := o.Config(cmd.Context())
			if err != nil {
				return err
			}
			if !c.Proposals() {
				return fault.New(fault.CapabilityNotProvided, "this store does not provide %s", config.Proposals).
					Suggest("'waybill config set %s on' turns it on.", config.Proposals).
					With("capability", string(config.Proposals))
			}
			list, err := o.Installed(cmd.Context(), a.common.workspace)
			if err != nil {
				return err
			}
			return a.answer("installed", list, func(p *page) { a.tellInstalled(list, p) })
		},
	}
}

func newProposalsEventsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "events",
		Short: "List what is announced: proposals made and activated",
		Long: `List what OpenWOP announces of proposals, the oldest first: proposal.created and
proposal.activated. Neither says what is proposed or why.`,
		Example: "  waybill proposals events\n  waybill proposals events --workspace blue --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.ProposalEvents(cmd.Context(), a.common.workspace)
			if err != nil {
				return err
			}
			return a.answer("proposal_events", list, func(p *page) {
				for _, e := range list.Events {
					p.line("%s  %-18s  %s", clockTime(e.AtMs, "2006-01-02 15:04"), e.Type, shortProposal(e.ProposalID))
				}
				if len(list.Events) == 0 {
					p.line("Nothing was proposed here.")
				}
			})
		},
	}
}
