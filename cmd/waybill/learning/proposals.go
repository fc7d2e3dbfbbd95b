package learning

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// proposalsLong is what 'waybill proposals --help' prints above the usage.
const proposalsLong = `A proposal is an improvement for review: a workflow or a pack of workflows, a prompt
template, an automation, or an agent pack. It has no effect until it is applied, after
people with the required role have approved it. The artifact is installed byte for byte
as it was reviewed, and can be rolled back. A workflow may replace a file of the project
or of the user: then its id means the installed workflow, and the file stays as it is.

Users and agents can propose. Only a person at a terminal can approve.`

// NewProposals returns the command "proposals" with its subcommands
// (docs/design.md#proposals). Agents may propose; approving requires a person
// at a terminal, which the engine checks.
func NewProposals(a *cli.App) *cobra.Command {
	return cli.NewGroup("proposals", cli.GroupRun, "Propose, review and install improvements", proposalsLong,
		newProposalsCreate(a), newProposalsList(a), newProposalsGet(a),
		newProposalsRevise(a),
		newProposalsApprove(a), newProposalsApply(a), newProposalsReject(a),
		newProposalsArchive(a),
		newProposalsRollback(a), newProposalsInstalled(a), newProposalsEvents(a))
}

// presenceOf returns what the program observes of the caller. It is observed and not claimed: no flag
// can set it, since a script could pass that flag.
func presenceOf(a *cli.App) learning.Presence {
	return learning.Presence{AtTerminal: a.AtTerminal(), Account: a.Account}
}

// similarityCandidates returns the workflows of the catalog, to compare a
// proposed workflow with. Their signatures are computed from the structure of
// the sources. It is nil for other kinds of artifacts, and when the catalog
// cannot be read: a proposal is not rejected for a missing comparison.
func similarityCandidates(a *cli.App, cmd *cobra.Command, kind proposal.Kind) (out []similar.Candidate) {
	if kind != proposal.WorkflowChainPack {
		return nil
	}
	// Workflows that do not validate are compared too.
	c, err := a.Catalog(cmd.Context())
	if err != nil {
		return nil
	}
	for _, e := range c.Entries {
		if v, ok := sourceValue(e); ok {
			out = append(out, similar.Candidate{Ref: "workflow:" + e.ID, Digest: canon.Sum(v.JCS()),
				Signature: similar.SignatureOf(v)})
		}
	}
	return out
}

// sourceValue returns the source of a workflow as JSON. ok is false for a source
// in YAML and for an installed workflow: the engine compares installed workflows
// by their proposals, whose names users know.
func sourceValue(e catalog.Entry) (v canon.Value, ok bool) {
	if e.ID == "" || e.Kind == source.SourceInstalled {
		return v, false
	}
	v, err := canon.Parse(e.Data)
	return v, err == nil
}

// changeProposal is the common part of commands that change one proposal: it
// opens the store, makes the call, and answers with the document "proposal"
// (docs/design.md#proposals). In text output, show prints what was done; the
// members from which secrets were removed follow.
func changeProposal(a *cli.App, cmd *cobra.Command, call func(context.Context, *cli.Store) (learning.Proposed, error),
	show func(*page.Page, learning.Proposed)) error {
	return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
		done, err := call(ctx, o)
		if err != nil {
			return err
		}
		var diff *learning.Difference
		if !done.About.Replaces.IsZero() {
			// The change is recorded: what cannot be read now is left out.
			if _, d, err := o.Proposal(ctx, a.Flags.Workspace, done.Proposal.ID.String()); err == nil {
				diff, _ = difference(ctx, a, o, &d)
			}
		}
		return answerProposal(a, done, diff, func(p *page.Page) { show(p, done) })
	})
}

// answerProposal answers with a proposal that was changed. show prints what was
// done in text output, before the redactions.
func answerProposal(a *cli.App, done learning.Proposed, diff *learning.Difference, show func(*page.Page)) error {
	more := besideOf(diff)
	if len(done.Redacted) > 0 {
		more = append(more, cli.Beside{Name: "redactions", Value: done.Redacted})
	}
	return cli.AnswerBeside(a, "proposal", done.Proposal, more, func(p *page.Page) {
		show(p)
		render.Redactions(p, done.Redacted)
	})
}

// besideOf returns the members about what a proposal replaces. They are beside data, whose form is closed
// (docs/design.md#replacing).
func besideOf(d *learning.Difference) (out []cli.Beside) {
	if d == nil {
		return nil
	}
	if !d.Replaces.IsZero() {
		out = append(out, cli.Beside{Name: "replaces", Value: d.Replaces})
	}
	if d.Known {
		out = append(out, cli.Beside{Name: "diff", Value: d.Text})
	}
	if d.Problem != "" {
		out = append(out, cli.Beside{Name: "replacesProblem", Value: d.Problem})
	}
	return out
}

// difference returns what a proposal changes in what it replaces, as seen from the working directory.
func difference(ctx context.Context, a *cli.App, o *cli.Store, d *learning.ProposalDetails) (*learning.Difference, error) {
	out, err := learning.DifferenceOf(ctx, o.Learning, a.Flags.Workspace, *d, cli.FindReplaced(a))
	d.Diff, d.Problem = out.Text, out.Problem
	return &out, err
}
