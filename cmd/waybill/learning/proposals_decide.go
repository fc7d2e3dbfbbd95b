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

// proposalsApproveLong is what 'waybill proposals approve --help' prints above
// the usage.
const proposalsApproveLong = `Approve a proposal exactly as it is now. It is shown first, with what it would replace, then
you are asked. A revision voids the approval.

Approving is a person's decision: it needs a terminal and the role that the store's
configuration names (proposalsApproverRole); no flag answers for you, and no agent can do
it. Where the quorum is more than one, as many different people have to approve.`

// newProposalsApprove makes "proposals approve". It needs a person at a
// terminal who has the role that the configuration names. There is no flag that
// answers the question.
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

// decider fills in which proposal is decided about, and from where: the
// workspace, and whether a person is at a terminal.
func decider(a *cli.App, req *engine.DecideRequest, ref string) {
	req.Ref, req.Workspace, req.AtTerminal = ref, a.Flags.Workspace, atTerminal(a)
}

// approveProposal shows a proposal whole, asks, and records the approval. What
// cannot be approved is refused before the question: a state that takes no
// approval, no terminal, a missing role.
//
// The approval is bound to the digest that was shown, so a revision in between
// is refused. A second approval of the same person is an answer and changes
// nothing. A no ends with PROPOSAL_PENDING, exit status 3, and records nothing.
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
	// What cannot be approved is refused before the question.
	if err := proposal.CheckApprove(wire.State); err != nil {
		return err
	}
	// A person who approved this revision before is not asked again.
	me := proposal.PrincipalOf(a.Actor(), req.AtTerminal)
	if req.AtTerminal && slices.ContainsFunc(d.Approvals,
		func(ap projections.ProposalApproval) bool { return ap.Void == "" && ap.Principal == me.Name() }) {
		return a.Answer("proposal", wire, func(p *page.Page) { approved(a, "Approved already", wire, d.About, p) })
	}
	// The document has the state; a program learns from the code that a person
	// is needed.
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
	// The digest is that of what was shown: a revision in between is refused.
	done, err := o.ApproveProposal(ctx, a.Caller(), req, d.About.ArtifactSHA256)
	if err != nil {
		return err
	}
	return answerProposal(a, done, func(p *page.Page) { approved(a, "Approved", done.Proposal, done.About, p) })
}

// approved prints how many approvals there are of how many, or the command that
// applies the proposal once there are enough.
func approved(a *cli.App, said string, w proposal.Proposal, about engine.ProposalAbout, p *page.Page) {
	p.Text(p.Good("✓ "), said+": "+render.ProposalTitle(w)+".")
	if about.Approvals < about.ApprovalsWant {
		p.Line("%d of %d approvals.", about.Approvals, about.ApprovalsWant)
		return
	}
	p.Line("Next: %s", a.Command("proposals", "apply", page.ShortProposal(w.ID)))
}

// proposalsApplyLong is what 'waybill proposals apply --help' prints above the
// usage.
const proposalsApplyLong = `Install what a proposal holds, byte for byte as it was last recorded. The store's
configuration says what that takes (proposalsActivation): with approval-gate the approval
of people who hold a role; with direct-rbac a scope of whoever applies it.

--override goes past the gate: a person's, at a terminal, with the scope
proposals:override and a reason, which stay on record.

The exit status is 0 when it is applied, 3 while approvals are missing, 1 when it is
refused. Nothing is installed then.`

// newProposalsApply makes "proposals apply". It installs the artifact byte for
// byte as it was last recorded, after the gate that the configuration sets. The
// exit status is 3 while approvals are missing.
//
// The artifact is checked once more beside what is installed now: what it was
// proposed beside may have changed. --override goes past the gate and is
// recorded as such; the engine wants a person, a scope and a reason for it.
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

// unsound adds a suggestion to the refusal of an artifact that cannot be
// installed: the fix where there is one problem, else how many there are and
// where to see all of them.
func unsound(err error) error {
	f := fault.Of(err)
	all, _ := f.Details["problems"].([]problem.Problem)
	if f.Code != fault.ProposalInvalid || len(all) == 0 {
		return err
	}
	errs := slices.DeleteFunc(slices.Clone(all), func(p problem.Problem) bool { return p.Severity != problem.Error })
	// One problem can be explained here; of several, only the number.
	if len(errs) == 1 && errs[0].Fix != "" {
		f.Suggest("%s 'waybill proposals revise ID FILE' records what you mended.", errs[0].Fix)
	} else {
		f.Suggest("There are %s; --json shows all. 'waybill proposals revise ID FILE' records what you mended.",
			page.Plural(len(errs), "problem"))
	}
	return err
}

// checkInstallable gives the engine a function that checks an artifact together
// with all workflows and prompts that can be named from here. The engine calls
// it under its lock with what is installed then. Workflows that cannot be found
// leave the library empty, and steps that refer to them are problems.
func checkInstallable(ctx context.Context, a *cli.App) func(proposal.Kind, canon.Value,
	[]engine.InstalledArtifact) []problem.Problem {
	return func(kind proposal.Kind, artifact canon.Value, beside []engine.InstalledArtifact) []problem.Problem {
		with := &catalog.Library{}
		// Without a working directory there is no library, and references are
		// problems.
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

// newProposalsDecision makes a command that decides about one proposal, with an
// optional reason. cmd has the texts; past is the word for what was done, and
// do the call of the store.
func newProposalsDecision(a *cli.App, cmd *cobra.Command, past string,
	do func(context.Context, *cli.Store, engine.DecideRequest) (engine.Proposed, error)) *cobra.Command {
	req := engine.DecideRequest{}
	cmd.Args = cli.Exactly("ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		decider(a, &req, args[0])
		return changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (engine.Proposed, error) {
			return do(ctx, o, req)
		}, func(p *page.Page, done engine.Proposed) {
			p.Text(p.Good("✓ "), past+": "+render.ProposalTitle(done.Proposal)+".")
		})
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}

// newProposalsReject makes "proposals reject". A rejected proposal can be
// revised, which opens it again.
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

// newProposalsArchive makes "proposals archive", for proposals that will not be
// applied. It removes nothing.
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

// newProposalsRollback makes "proposals rollback". What was installed in the
// same place before is in use again; runs that have started keep the workflow
// that they are pinned to.
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
