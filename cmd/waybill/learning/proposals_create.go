package learning

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
)

// proposalsCreateLong is what 'waybill proposals create --help' prints above
// the usage.
const proposalsCreateLong = `Record a proposal. FILE is JSON: {"kind", "title", "rationale", "artifact"}, - reads
stdin.

  workflow-chain-pack  a workflow, or {"name", "version", "workflows": […]}
  prompt-template      {"templateId", "version", "kind", "text", "variables"…}
  automation           {"automationId", "schedule": {"cron", "timezone"}, "workflowId"…}
  agent-pack           an agent's manifest, or {"name", "version", "agents": […]}

--from-run names a run that it was learned from; the run must exist. Secrets are removed
before anything is stored, and the answer lists where. It also lists similar artifacts
that are installed or proposed already. Nothing is installed.`

// newProposalsCreate returns "proposals create". The file is read and checked
// before anything is written. Similar artifacts are part of the answer; a
// proposal is never rejected for being similar.
func newProposalsCreate(a *cli.App) *cobra.Command {
	var req learning.ProposeRequest
	return cli.WithOptions(&cobra.Command{
		Use:     "create FILE",
		Short:   "Propose an artifact for review",
		Long:    proposalsCreateLong,
		Example: "  waybill proposals create ./release.json --from-run @last\n  waybill proposals create - --json",
		Args:    cli.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(req.FromRuns, "") {
				return cli.UsageFault(cmd, "--from-run is given and empty").
					Suggest("Name a run, such as @last. Is a variable not set?")
			}
			if err := readDraft(a, cmd, args[0], &req); err != nil {
				return err
			}
			// The id of the proposal is derived from the seed.
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			return changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (learning.Proposed, error) {
				return o.Propose(ctx, o.Caller(), seed, req)
			}, func(p *page.Page, done learning.Proposed) {
				p.Text(p.Good("✓ "), "Proposed: "+render.ProposalTitle(done.Proposal)+".")
				showDuplicates(p, done.About.Duplicates)
				p.Line("%s", p.Dim("It has no effect yet. Review it: "+
					a.Command("proposals", "get", page.ShortProposal(done.Proposal.ID))))
			})
		},
	},
		// The flag may be repeated: a proposal can be learned from several runs.
		cli.Opt(&req.FromRuns, "from-run", "record that it was learned from `RUN`; may be repeated"),
		cli.Opt(&req.Reason, "reason", "record `TEXT` as the reason"))
}

// proposalsReviseLong is what 'waybill proposals revise --help' prints above
// the usage.
const proposalsReviseLong = `Record a new revision of a proposal from FILE, or from stdin for -. All revisions stay
readable; the last one is approved and applied. Approvals of earlier revisions become
void; revising a proposal that has approvals requires the role of an approver. A rejected
or archived proposal is open again afterwards.`

// newProposalsRevise returns "proposals revise". It records a new revision. An
// approval is valid only for the bytes that were approved, so a revision voids
// the approvals.
func newProposalsRevise(a *cli.App) *cobra.Command {
	var req learning.ProposeRequest
	return cli.WithOptions(&cobra.Command{
		Use:   "revise ID FILE",
		Short: "Revise a proposal and void its approvals",
		Long:  proposalsReviseLong,
		Example: "  waybill proposals revise q4yplb ./release.json\n" +
			"  waybill proposals revise q4yplb ./release.json --reason \"The check comes first\"",
		Args: cli.Exactly("ID", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readDraft(a, cmd, args[1], &req); err != nil {
				return err
			}
			return changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (learning.Proposed, error) {
				return o.ReviseProposal(ctx, o.Caller(), args[0], req)
			}, func(p *page.Page, done learning.Proposed) {
				p.Text(p.Good("✓ "), fmt.Sprintf("Revision %d of: %s.", done.About.Revision,
					render.ProposalTitle(done.Proposal)))
				showDuplicates(p, done.About.Duplicates)
			})
		},
	},
		cli.Opt(&req.Reason, "reason", "record `TEXT` as the reason"))
}

// readDraft reads the file of a proposal into the request, and adds the
// workspace of the call and the workflows to compare it with. A file
// that is no valid draft is VALIDATION_ERROR.
func readDraft(a *cli.App, cmd *cobra.Command, name string, req *learning.ProposeRequest) error {
	// First: what the store does not provide is refused before the file is read.
	if err := a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error { return learning.CheckProposals(ctx, o.Learning) }); err != nil {
		return err
	}
	data, err := a.ReadInput("FILE", name, limits.ProposalFileBytesMax)
	if err != nil {
		return err
	}
	if req.Draft, err = proposal.ParseFile(data); err != nil {
		return err
	}
	req.Presence, req.Workspace = presenceOf(a), a.Flags.Workspace
	// The engine compares; the catalog of candidates is known only here.
	req.OtherWorkflows = similarityCandidates(a, cmd, req.Draft.Kind)
	return nil
}
