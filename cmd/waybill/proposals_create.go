package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
)

const proposalsCreateLong = `Record a proposal. FILE is JSON: {"kind", "title", "rationale", "artifact"}, - reads stdin.

  workflow-chain-pack  a workflow, or {"name", "version", "workflows": […]}
  prompt-template      {"templateId", "version", "kind", "text", "variables"…}
  automation           {"automationId", "schedule": {"cron", "timezone"}, "workflowId"…}
  agent-pack           an agent's manifest, or {"name", "version", "agents": […]}

--from-run names a run that it was learned from; the run must be there. Secrets are taken
out before anything is stored, and you are told where. What it is like, among what is
installed and proposed already, is told as well.`

func newProposalsCreateCommand(a *app) *cobra.Command {
	var req engine.ProposeRequest
	cmd := &cobra.Command{
		Use:     "create FILE",
		Short:   "Propose something; it has no effect before it is applied",
		Long:    proposalsCreateLong,
		Example: "  waybill proposals create ./release.json --from-run @last\n  waybill proposals create - --json",
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(req.FromRuns, "") {
				return usageFault(cmd, "--from-run is given and empty").
					Suggest("Name a run, such as @last. Is a variable not set?")
			}
			if err := a.readDraft(cmd, args[0], &req); err != nil {
				return err
			}
			seed, err := a.seed()
			if err != nil {
				return err
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			done, err := o.Propose(cmd.Context(), a.caller(), seed, req)
			if err != nil {
				return err
			}
			return a.proposalAnswer(done, func(p *page) {
				p.text(p.good("✓ "), "Proposed: "+titleOfProposal(done.Proposal)+".")
				p.likeness(done.About.Duplicates)
				p.line("%s", p.dim("It has no effect yet. Look at it: "+
					a.command("proposals", "get", shortProposal(done.Proposal.ID))))
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&req.FromRuns, "from-run", nil, "it was learned from `RUN`; may be given again")
	f.StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}

const proposalsReviseLong = `Record a further revision of a proposal. All revisions stay readable; the last one counts.
Approvals of former revisions are void. A rejected or archived proposal is open again
afterwards.`

func newProposalsReviseCommand(a *app) *cobra.Command {
	var req engine.ProposeRequest
	cmd := &cobra.Command{
		Use:   "revise ID FILE",
		Short: "Change what is proposed; approvals so far are void",
		Long:  proposalsReviseLong,
		Example: "  waybill proposals revise q4yplb ./release.json\n" +
			"  waybill proposals revise q4yplb ./release.json --reason \"The check comes first\"",
		Args: exactly("ID", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.readDraft(cmd, args[1], &req); err != nil {
				return err
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			done, err := o.ReviseProposal(cmd.Context(), a.caller(), args[0], req)
			if err != nil {
				return err
			}
			return a.proposalAnswer(done, func(p *page) {
				p.text(p.good("✓ "), fmt.Sprintf("Revision %d of: %s.", done.About.Revision,
					titleOfProposal(done.Proposal)))
				p.likeness(done.About.Duplicates)
			})
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}

// readDraft reads a proposal's file into the request, with where it is made.
func (a *app) readDraft(cmd *cobra.Command, name string, req *engine.ProposeRequest) error {
	data, err := a.readInput("FILE", name, limits.ProposalFileBytesMax)
	if err != nil {
		return err
	}
	if req.Draft, err = proposal.ParseFile(data); err != nil {
		return err
	}
	req.Tenant, req.Workspace = a.tenant(), a.common.workspace
	req.Like = a.likely(cmd, req.Draft.Kind)
	return nil
}
