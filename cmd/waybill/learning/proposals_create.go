package learning

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// proposalsCreateLong is what 'waybill proposals create --help' prints above
// the usage.
const proposalsCreateLong = `Record a proposal. FILE is a workflow by itself, in YAML or JSON, or an object
{"kind", "title", "rationale", "artifact"}; - reads stdin.

  workflow-chain-pack  a workflow, or {"name", "version", "workflows": […]}
  prompt-template      {"templateId", "version", "kind", "text", "variables"…}
  automation           {"automationId", "schedule": {"cron", "timezone"}, "workflowId"…}
  agent-pack           an agent's manifest, or {"name", "version", "agents": […]}

A workflow by itself replaces what has its id: a file of the project or of the user, or
the installed workflow. Once it is applied, the id means the installed workflow while the
replaced file stays as it is; a rollback restores it. --replaces names another file as
'waybill workflows list' shows it, "installed", or "none". An object names what it
replaces in "replaces": {"workflowId", "sourceKind", "digest"}.

--from-run names a run that it was learned from; the run must exist. Secrets are removed
before anything is stored, and the answer lists where. It also lists similar artifacts
that are installed or proposed already. Nothing is installed.`

// newProposalsCreate returns "proposals create". The file is read and checked
// before anything is written. Similar artifacts are part of the answer; a
// proposal is never rejected for being similar.
func newProposalsCreate(a *cli.App) *cobra.Command {
	var req learning.ProposeRequest
	var in draftInput
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "create FILE",
		Short: "Propose an artifact for review",
		Long:  proposalsCreateLong,
		Example: "  waybill proposals create ./ship.yaml --title Test --rationale \"It fails late\"\n" +
			"  waybill proposals create - --from-run @last --json < proposal.json",
		Args: cli.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(req.FromRuns, "") {
				return cli.UsageFault(cmd, "--from-run is given and empty").
					Suggest("Name a run, such as @last. Is a variable not set?")
			}
			patch, err := in.read(a, cmd, args[0])
			if err != nil {
				return err
			}
			if req.Draft, err = proposal.DraftOf(patch); err != nil {
				return err
			}
			if err := in.complete(a, cmd, &req); err != nil {
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
				in.showReplaces(p, done)
				showDuplicates(p, done.About.Duplicates)
				p.Line("%s", p.Dim("It has no effect yet. Review it: "+
					a.Command("proposals", "get", page.ShortProposal(done.Proposal.ID))))
			})
		},
	},
		// The flag may be repeated: a proposal can be learned from several runs.
		cli.Opt(&req.FromRuns, "from-run RUN", "record that it was learned from RUN; may be repeated"),
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
	in.addFlags(cmd)
	return cmd
}
