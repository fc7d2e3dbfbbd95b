package learning

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/infra/cron"
	"github.com/waybill/waybill/projections"
)

const proposalsApproveLong = `Approve a proposal exactly as it is now. It is shown first, with what it would replace, then
you are asked. A revision voids the approval.

Approving is a person's decision: it needs a terminal and the role that the store's
configuration names (proposalsApproverRole); no flag answers for you, and no agent can do
it. Where the quorum is more than one, as many different people have to approve.`

func newProposalsApprove(a *cli.App) *cobra.Command {
	req := engine.DecideRequest{}
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve a proposal, as a person at a terminal",
		Long:  proposalsApproveLong,
		Example: "  waybill proposals approve q4yplb\n" +
			"  waybill proposals approve q4yplb --as ada --reason \"Tried it twice\"",
		Args: cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			decider(a, &req, args[0])
			return approveProposal(cmd.Context(), a, req)
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}

// decider fills in who decides, and from where.
func decider(a *cli.App, req *engine.DecideRequest, ref string) {
	req.Ref, req.Workspace, req.AtTerminal = ref, a.Flags.Workspace, atTerminal(a)
}

func approveProposal(ctx context.Context, a *cli.App, req engine.DecideRequest) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	wire, d, err := o.Proposal(ctx, req.Workspace, req.Ref)
	if err != nil {
		return err
	}
	// What cannot be approved is said before anybody is asked.
	if err := proposal.CheckApprove(wire.State); err != nil {
		return err
	}
	me := proposal.PrincipalOf(a.Actor(), req.AtTerminal)
	if req.AtTerminal && slices.ContainsFunc(d.Approvals,
		func(ap projections.ProposalApproval) bool { return ap.Void == "" && ap.Principal == me.Name() }) {
		return a.Answer("proposal", wire, func(p *page.Page) { approved(a, "Approved already", wire, d.About, p) })
	}
	if !req.AtTerminal {
		return fault.New(fault.ProposalPending, "%s waits for a person's approval, and nobody is at a terminal here",
			wire.ID).
			Suggest("A person runs 'waybill proposals approve %s' at a terminal.", page.ShortProposal(wire.ID)).
			With("proposalId", wire.ID.String())
	}
	if err := o.MayApprove(ctx, a.Caller(), req); err != nil {
		return err
	}
	if !a.AskYes(func(p *page.Page) { showProposal(a, wire, d, proposalWhole, p) }, "Approve it? [y/N] ") {
		return fault.New(fault.ProposalPending, "%s is not approved", wire.ID).Suggest("Nothing was recorded.")
	}
	done, err := o.ApproveProposal(ctx, a.Caller(), req, d.About.ArtifactSHA256)
	if err != nil {
		return err
	}
	return answerProposal(a, done, func(p *page.Page) { approved(a, "Approved", done.Proposal, done.About, p) })
}

// approved says how far the approval has come, and who or what is next.
func approved(a *cli.App, said string, w proposal.Proposal, about engine.ProposalAbout, p *page.Page) {
	p.Text(p.Good("✓ "), said+": "+render.ProposalTitle(w)+".")
	if about.Approvals < about.ApprovalsWant {
		p.Line("%d of %d approvals.", about.Approvals, about.ApprovalsWant)
		return
	}
	p.Line("Next: %s", a.Command("proposals", "apply", page.ShortProposal(w.ID)))
}

const proposalsApplyLong = `Install what a proposal holds, byte for byte as it was last recorded. The store's
configuration says what that takes (proposalsActivation): with approval-gate the approval
of people who hold a role; with direct-rbac a scope of whoever applies it.

--override goes past the gate: a person's, at a terminal, with the scope
proposals:override and a reason, which stay on record.

The exit status is 0 when it is applied, 3 while approvals are missing, 1 when it is
refused. Nothing is installed then.`

func newProposalsApply(a *cli.App) *cobra.Command {
	req := engine.ApplyRequest{}
	cmd := &cobra.Command{
		Use:   "apply ID",
		Short: "Install what was approved",
		Long:  proposalsApplyLong,
		Example: "  waybill proposals apply q4yplb\n" +
			"  waybill proposals apply q4yplb --override --reason \"The release waits for it\"",
		Args: cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			decider(a, &req.DecideRequest, args[0])
			req.Check = checkInstallable(cmd.Context(), a)
			return changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (engine.Proposed, error) {
				done, err := o.ApplyProposal(ctx, a.Caller(), req)
				if err != nil {
					return done, unsound(err)
				}
				return done, nil
			}, func(p *page.Page, done engine.Proposed) {
				p.Text(p.Good("✓ "), "Installed: "+render.ProposalTitle(done.Proposal)+".")
				p.Line("%s", p.Dim("Take it back: "+
					a.Command("proposals", "rollback", page.ShortProposal(done.Proposal.ID))))
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Override, "override", false, "go past the approval gate, as a person with the scope for it")
	f.StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}

// unsound adds what to do about an artifact that cannot be installed: one problem with
// how to mend it, or where all of them are.
func unsound(err error) error {
	f := fault.Of(err)
	all, _ := f.Details["problems"].([]problem.Problem)
	if f.Code != fault.ProposalInvalid || len(all) == 0 {
		return err
	}
	errs := slices.DeleteFunc(slices.Clone(all), func(p problem.Problem) bool { return p.Severity != problem.Error })
	if len(errs) == 1 && errs[0].Fix != "" {
		f.Suggest("%s 'waybill proposals revise ID FILE' records what you mended.", errs[0].Fix)
	} else {
		f.Suggest("There are %s; --json shows all. 'waybill proposals revise ID FILE' records what you mended.",
			page.Plural(len(errs), "problem"))
	}
	return err
}

// checkInstallable judges an artifact beside all that can be named from here.
func checkInstallable(ctx context.Context, a *cli.App) func(proposal.Kind, canon.Value,
	[]engine.InstalledArtifact) []problem.Problem {
	return func(kind proposal.Kind, artifact canon.Value, beside []engine.InstalledArtifact) []problem.Problem {
		with := &catalog.Library{}
		if finder, err := a.Finder(); err == nil {
			files, _ := finder.Workflows(ctx)
			bindings, _ := finder.Bindings(ctx)
			// Workflows of a pack may call its own routines.
			own := cli.Installations{{Installed: projections.Installed{Slot: proposal.Slot{Kind: kind}},
				Value: artifact}}
			files = append(append(files, cli.Installations(beside).Workflows()...), own.Workflows()...)
			with = catalog.NewLibrary(files, bindings).WithPrompts(cli.Installations(beside).Prompts())
		}
		return installable.Check(installable.Kind(kind), artifact,
			installable.Options{Library: with.Options, Schedule: cron.Schedules{}.Check})
	}
}

// newProposalsDecision is a decision that takes a proposal and a reason.
func newProposalsDecision(a *cli.App, cmd *cobra.Command, said string,
	do func(context.Context, *cli.Store, engine.DecideRequest) (engine.Proposed, error)) *cobra.Command {
	req := engine.DecideRequest{}
	cmd.Args = cli.Exactly("ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		decider(a, &req, args[0])
		return changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (engine.Proposed, error) {
			return do(ctx, o, req)
		}, func(p *page.Page, done engine.Proposed) {
			p.Text(p.Good("✓ "), said+": "+render.ProposalTitle(done.Proposal)+".")
		})
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}

func newProposalsReject(a *cli.App) *cobra.Command {
	return newProposalsDecision(a, &cobra.Command{
		Use:   "reject ID",
		Short: "Refuse a proposal",
		Long:  "Refuse a proposal. It can be revised, and is open again then, or archived.",
		Example: "  waybill proposals reject q4yplb\n" +
			"  waybill proposals reject q4yplb --reason \"We have one that does this\"",
	}, "Rejected", func(ctx context.Context, o *cli.Store, req engine.DecideRequest) (engine.Proposed, error) {
		return o.RejectProposal(ctx, a.Caller(), req)
	})
}

func newProposalsArchive(a *cli.App) *cobra.Command {
	return newProposalsDecision(a, &cobra.Command{
		Use:   "archive ID",
		Short: "Put a proposal away",
		Long:  "Put a proposal away that nobody will apply. What is on record stays; a revision opens it again.",
		Example: "  waybill proposals archive q4yplb\n" +
			"  waybill proposals archive q4yplb --reason \"Not needed any more\"",
	}, "Archived", func(ctx context.Context, o *cli.Store, req engine.DecideRequest) (engine.Proposed, error) {
		return o.ArchiveProposal(ctx, a.Caller(), req)
	})
}

func newProposalsRollback(a *cli.App) *cobra.Command {
	return newProposalsDecision(a, &cobra.Command{
		Use:   "rollback ID",
		Short: "Take back what a proposal installed",
		Long: `Take out of use what an applied proposal brought. What was installed in its place before is
in use again. Runs that have begun go on with the workflow that they are pinned to.`,
		Example: "  waybill proposals rollback q4yplb\n" +
			"  waybill proposals rollback q4yplb --reason \"It skips the check\"",
	}, "Rolled back", func(ctx context.Context, o *cli.Store, req engine.DecideRequest) (engine.Proposed, error) {
		return o.RollBackProposal(ctx, a.Caller(), req)
	})
}
