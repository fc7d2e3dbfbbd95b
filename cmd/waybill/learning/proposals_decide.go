package learning

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/problem"
)

// proposalsApproveLong is what 'waybill proposals approve --help' prints above
// the usage.
const proposalsApproveLong = `Approve the current revision of a proposal. The command shows the proposal and the
difference to what it would replace, then asks for confirmation. A later revision voids
the approval. Nothing is installed. What is not valid for its kind cannot be approved, nor
what replaces a file that changed since.

Approvals cannot be automated: approving requires a terminal and the role that the
configuration names (proposalsApproverRole); no flag confirms it, and agents are
refused. Who approves is decided by the account of the process; a name in --as is only
recorded. With a quorum above one, people of that many accounts must approve.

` + cli.SigningHelp

// newProposalsApprove returns "proposals approve". It requires a person at a
// terminal who has the role that the configuration names. No flag confirms the
// question, since a script could pass it.
func newProposalsApprove(a *cli.App) *cobra.Command {
	req := learning.DecideRequest{}
	var sign cli.Signing
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "approve ID",
		Short: "Approve a proposal, interactively",
		Long:  proposalsApproveLong,
		Example: "  waybill proposals approve q4yplb\n" +
			"  waybill proposals approve q4yplb --reason \"Tried it twice\"",
		Args: cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			setDecision(a, &req, args[0])
			return sign.Finish(a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				return approveProposal(ctx, a, o, req, &sign)
			}))
		},
	},
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
	sign.AddFlags(a, cmd)
	return cmd
}

// setDecision fills in the request of a decision: the proposal, the workspace,
// and who is present.
func setDecision(a *cli.App, req *learning.DecideRequest, ref string) {
	req.Presence, req.Ref, req.Workspace = presenceOf(a), ref, a.Flags.Workspace
	req.Check, req.Replaced = cli.CheckInstallable(context.Background(), a), cli.FindReplaced(a)
}

// approveProposal shows all of a proposal, asks, and records the approval. What
// the approval requires is checked before the question, and again with it.
//
// The approval is bound to what was shown: if the proposal is revised before the
// person confirms, the engine rejects it. A second approval by the same person
// changes nothing and is no error. The answer no is PROPOSAL_PENDING, exit status
// 3, and records nothing.
func approveProposal(ctx context.Context, a *cli.App, o *cli.Store, req learning.DecideRequest, sign *cli.Signing) error {
	wire, d, err := o.Proposal(ctx, req.Workspace, req.Ref)
	if err != nil {
		return err
	}
	diff, err := difference(ctx, a, o, &d)
	if err != nil {
		return err
	}
	given, err := o.MayApprove(ctx, sign.Caller(o), req)
	if fault.Is(err, fault.ProposalPending) {
		fault.Of(err).Suggest("A person runs %s at a terminal.",
			fault.Command{"proposals", "approve", page.ShortProposal(wire.ID)})
	}
	if err != nil {
		return suggestFix(err)
	}
	if given {
		return cli.AnswerBeside(a, "proposal", wire, besideOf(diff), func(p *page.Page) { showApproval(a, "Approved already", wire, d.About, p) })
	}
	if sign.Asks() {
		yes, err := a.AskYes(func(p *page.Page) {
			showProposal(a, wire, d, diff, proposalFull, p)
			showReason(p, req.Reason)
		}, "Approve it? [y/N]")
		if err != nil {
			return err
		}
		if !yes {
			return fault.New(fault.ProposalPending, "%s is not approved", wire.ID).Suggest("Nothing was recorded.")
		}
	}
	done, err := o.ApproveProposal(ctx, sign.Caller(o), req, d.Shown())
	if err != nil {
		return suggestFix(err)
	}
	return answerProposal(a, done, diff, func(p *page.Page) { showApproval(a, "Approved", done.Proposal, done.About, p) })
}

// showReason prints the reason that a decision records, if one is given.
func showReason(p *page.Page, reason string) {
	if reason != "" {
		p.Text("Reason: ", page.Name(reason))
	}
}

// showApproval prints verb and title, then the number of approvals and the quorum,
// or the command that applies the proposal when the quorum is reached.
func showApproval(a *cli.App, verb string, w proposal.Proposal, about learning.ProposalAbout, p *page.Page) {
	p.Text(p.Good("✓ "), verb+": "+render.ProposalTitle(w)+".")
	if about.Approvals < about.ApprovalsWant {
		p.Line("%d of %d approvals.", about.Approvals, about.ApprovalsWant)
		return
	}
	p.Line("Next: %s", a.Command("proposals", "apply", page.ShortProposal(w.ID)))
}

// proposalsApplyLong is what 'waybill proposals apply --help' prints above the
// usage.
const proposalsApplyLong = `Install the artifact of a proposal, byte for byte as its last revision recorded it. The
configuration of the store sets the condition (proposalsActivation): approval-gate
requires approvals by people with a role, direct-rbac a scope of the caller. With
direct-rbac the command shows the proposal and what it would replace at a terminal, then
asks for confirmation. The answer shows the difference to what was replaced.

An installed workflow that replaces a file has its id while the file stays as it is; once
it changes, the id is WORKFLOW_AMBIGUOUS. 'waybill start FILE' always runs the file. Trust
in the commands of the file is not trust in those of the installed workflow.

--override skips the approval gate. It requires a person at a terminal, the scope
proposals:override and a reason; all of it is recorded. It shows and asks the same; no
flag confirms it.

Exit status: 0 when it is applied, 3 while approvals are missing, 1 when it is refused.
Unless the status is 0, nothing is installed.

` + cli.SigningHelp + ` A proposal with signed
approvals is installed without a further signature.`

// newProposalsApply returns "proposals apply". It installs the artifact byte for
// byte as its last revision recorded it, subject to the gate that the
// configuration sets. The exit status is 3 while approvals are missing.
//
// The artifact is validated again, together with what is installed now, since
// installed artifacts may have changed after it was proposed. --override skips
// the gate and is recorded; the engine requires a person, a scope and a reason.
func newProposalsApply(a *cli.App) *cobra.Command {
	req := learning.ApplyRequest{}
	var sign cli.Signing
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "apply ID",
		Short: "Install the artifact of an approved proposal",
		Long:  proposalsApplyLong,
		Example: "  waybill proposals apply q4yplb\n" +
			"  waybill proposals apply q4yplb --override --reason \"The release waits for it\"",
		Args: cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			setDecision(a, &req.DecideRequest, args[0])
			return sign.Finish(a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				return applyProposal(ctx, a, o, &req, &sign)
			}))
		},
	},
		cli.Opt(&req.Override, "override", "skip the approval gate (requires the scope proposals:override)"),
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
	sign.AddFlags(a, cmd)
	return cmd
}

// applyProposal shows and asks what has to be confirmed, installs the artifact, and answers with the difference to
// what it replaced.
func applyProposal(ctx context.Context, a *cli.App, o *cli.Store, req *learning.ApplyRequest, sign *cli.Signing) error {
	wire, d, err := o.Proposal(ctx, req.Workspace, req.Ref)
	if err != nil {
		return err
	}
	// Before it is applied: what was in use in its slot is not found afterwards.
	diff, err := difference(ctx, a, o, &d)
	if err != nil {
		return err
	}
	asked, err := confirmApply(ctx, a, o, req, sign, func(p *page.Page) { showProposal(a, wire, d, diff, proposalFull, p) }, d.Shown())
	if err != nil {
		return suggestFix(err)
	}
	done, err := o.ApplyProposal(ctx, sign.Caller(o), *req)
	if err != nil {
		return suggestFix(err)
	}
	if done.About.Revision != d.About.Revision { // another one was applied than was read
		*diff = learning.Difference{Replaces: diff.Replaces}
	}
	return answerProposal(a, done, diff, func(p *page.Page) {
		p.Text(p.Good("✓ "), "Installed: "+render.ProposalTitle(done.Proposal)+".")
		if !diff.Replaces.IsZero() {
			p.Text("Replaces  ", diff.Replaces.String())
		}
		if diff.Known && !asked {
			showDifference(a, diff, wire.ID, 0, p)
		}
		p.Line("%s", p.Dim("Undo it: "+
			a.Command("proposals", "rollback", page.ShortProposal(done.Proposal.ID))))
	})
}

// confirmApply shows all of a proposal and asks whether to install it, where no approval of it is
// required; asked reports that it did. The confirmation is bound to what was shown. An approval has been asked for, so that
// applying an approved proposal asks nothing.
func confirmApply(ctx context.Context, a *cli.App, o *cli.Store, req *learning.ApplyRequest, sign *cli.Signing,
	show func(*page.Page), shown learning.Shown) (asked bool, err error) {
	if !req.AtTerminal && !sign.Given() {
		// A person who redirected the output would not see what they answer.
		if req.Override && a.IsTerminal(a.In) {
			return true, a.Asked(func(*page.Page) {}, "Install it without the approvals?")
		}
		return false, nil // nothing can be asked; the engine decides what is permitted without
	}
	ask, err := o.MayApply(ctx, sign.Caller(o), *req)
	if err != nil || !ask {
		return false, err
	}
	if req.Shown = shown; !sign.Asks() {
		return false, nil
	}
	question := "Install it?"
	if req.Override {
		question = "Install it without the approvals?"
	}
	return true, a.Asked(func(p *page.Page) {
		show(p)
		showReason(p, req.Reason)
	}, question)
}

// suggestFix adds a suggestion to PROPOSAL_INVALID, the error for an artifact that
// cannot be installed: the fix of a single problem, else the number of problems
// and the flag that lists them. Other errors are returned unchanged.
func suggestFix(err error) error {
	if err == nil {
		return nil
	}
	f := fault.Of(err)
	all, _ := f.Details["problems"].([]problem.Problem)
	if f.Code != fault.ProposalInvalid || len(all) == 0 {
		return err
	}
	errs := slices.DeleteFunc(slices.Clone(all), func(p problem.Problem) bool { return p.Severity != problem.Error })
	// A suggestion is one or two sentences, too short for several fixes.
	if len(errs) == 1 && errs[0].Fix != "" {
		f.Suggest("%s %s records the fixed artifact.", errs[0].Fix, fault.Command{"proposals", "revise", "ID", "FILE"})
	} else {
		f.Suggest("The artifact has %s; --json lists them. %s records the fixed artifact.",
			page.Plural(len(errs), "problem"), fault.Command{"proposals", "revise", "ID", "FILE"})
	}
	return err
}

// newProposalsDecision completes cmd, which has the help texts, to a command that
// decides about one proposal with an optional reason. past is the past tense that
// is printed, such as "Rejected", sign brings the signature of a decision that has one, and do makes the
// change in the store.
func newProposalsDecision(a *cli.App, cmd *cobra.Command, past string,
	sign *cli.Signing,
	do func(context.Context, *cli.Store, learning.DecideRequest) (learning.Proposed, error)) *cobra.Command {
	req := learning.DecideRequest{}
	cmd.Args = cli.Exactly("ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		setDecision(a, &req, args[0])
		return sign.Finish(changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (learning.Proposed, error) {
			return do(ctx, o, req)
		}, func(p *page.Page, done learning.Proposed) {
			p.Text(p.Good("✓ "), past+": "+render.ProposalTitle(done.Proposal)+".")
		}))
	}
	return cli.WithOptions(cmd, cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
}

// newProposalsReject returns "proposals reject". A rejected proposal can be
// revised, which opens it again.
func newProposalsReject(a *cli.App) *cobra.Command {
	return newProposalsDecision(a, &cobra.Command{
		Use:   "reject ID",
		Short: "Reject a proposal",
		Long: `Reject a proposal, so that it cannot be approved or applied. Nothing is removed. It can
be revised, which opens it again, or archived. Rejecting a proposal that has approvals
requires the role of an approver.`,
		Example: "  waybill proposals reject q4yplb\n" +
			"  waybill proposals reject q4yplb --reason \"Duplicate of team.release\"",
	}, "Rejected", &cli.Signing{}, func(ctx context.Context, o *cli.Store, req learning.DecideRequest) (learning.Proposed, error) {
		return o.RejectProposal(ctx, o.Caller(), req)
	})
}

// newProposalsArchive returns "proposals archive", for proposals that will not be
// applied. It removes nothing.
func newProposalsArchive(a *cli.App) *cobra.Command {
	return newProposalsDecision(a, &cobra.Command{
		Use:   "archive ID",
		Short: "Archive a proposal that will not be applied",
		Long: `Archive a proposal that will not be applied. Nothing is removed: its revisions and
approvals stay on record. A revision opens it again. Archiving a proposal that has
approvals requires the role of an approver.`,
		Example: "  waybill proposals archive q4yplb\n" +
			"  waybill proposals archive q4yplb --reason \"Not needed any more\"",
	}, "Archived", &cli.Signing{}, func(ctx context.Context, o *cli.Store, req learning.DecideRequest) (learning.Proposed, error) {
		return o.ArchiveProposal(ctx, o.Caller(), req)
	})
}

// newProposalsRollback returns "proposals rollback". The artifact that was
// installed in the same slot before is in use again. Started runs continue with
// the workflow that they are pinned to.
func newProposalsRollback(a *cli.App) *cobra.Command {
	var sign cli.Signing
	cmd := newProposalsDecision(a, &cobra.Command{
		Use:   "rollback ID",
		Short: "Uninstall the artifact of an applied proposal",
		Long: `Uninstall the artifact of an applied proposal. What it replaced is in use again: the
artifact that was installed before, else the file with its id. Runs that have started
continue with the workflow that they are pinned to.

` + cli.SigningHelp,
		Example: "  waybill proposals rollback q4yplb\n" +
			"  waybill proposals rollback q4yplb --reason \"It skips the check\"",
	}, "Rolled back", &sign, func(ctx context.Context, o *cli.Store, req learning.DecideRequest) (learning.Proposed, error) {
		return o.RollBackProposal(ctx, sign.Caller(o), req)
	})
	sign.AddFlags(a, cmd)
	return cmd
}
