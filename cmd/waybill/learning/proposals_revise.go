package learning

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// proposalsReviseLong is what 'waybill proposals revise --help' prints above
// the usage.
const proposalsReviseLong = `Record a new revision of a proposal. What FILE (- reads stdin) and the flags state is
changed, the rest stays: a title alone is enough. FILE is a workflow by itself, in YAML or
JSON, or an object with some of "title", "rationale", "artifact" and "replaces"; null
removes a text. --replaces names what is replaced as it is now, after it changed.

All revisions stay readable; the last one is approved and applied. Approvals of earlier
revisions become void; revising a proposal that has approvals requires the role of an
approver. A rejected or archived proposal is open again afterwards.`

// newProposalsRevise returns "proposals revise". It records a new revision. An
// approval is valid only for the bytes that were approved, so a revision voids
// the approvals.
func newProposalsRevise(a *cli.App) *cobra.Command {
	var req learning.ProposeRequest
	var in draftInput
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "revise ID [FILE]",
		Short: "Revise a proposal and void its approvals",
		Long:  proposalsReviseLong,
		Example: "  waybill proposals revise q4yplb --title \"Test before the release\"\n" +
			"  waybill proposals revise q4yplb ./release.yaml --reason \"Check first\"",
		Args: cli.AtLeast(1, "ID", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			patch := canon.OfMembers()
			var err error
			if len(args) == 2 {
				patch, err = in.read(a, cmd, args[1])
			} else {
				patch = in.given(cmd).Over(patch)
			}
			if err != nil {
				return err
			}
			if patch.Kind() == canon.Object && patch.Len() == 0 && !cmd.Flags().Changed("replaces") {
				return cli.UsageFault(cmd, "nothing is revised").
					Suggest("Give a file, or what changes, such as %s.", fault.Command{"proposals", "revise", args[0], "--title", "TITLE"})
			}
			if err := in.merge(a, cmd, args[0], patch, &req); err != nil {
				return err
			}
			if err := in.complete(a, cmd, &req); err != nil {
				return err
			}
			return changeProposal(a, cmd, func(ctx context.Context, o *cli.Store) (learning.Proposed, error) {
				return o.ReviseProposal(ctx, o.Caller(), args[0], req)
			}, func(p *page.Page, done learning.Proposed) {
				p.Text(p.Good("✓ "), fmt.Sprintf("Revision %d of: %s.", done.About.Revision,
					render.ProposalTitle(done.Proposal)))
				in.showReplaces(p, done)
				showDuplicates(p, done.About.Duplicates)
			})
		},
	},
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
	in.addFlags(cmd)
	return cmd
}

// draftInput is what a caller gives for a draft: a file, and flags beside it.
type draftInput struct {
	title, rationale, replaces string

	alone  bool         // the file is a workflow by itself
	named  bool         // the file states what is replaced
	beside string       // a file with the id of the draft, which is not replaced; "" for none
	digest canon.Digest // of the file
}

// addFlags adds the flags to a command.
func (in *draftInput) addFlags(cmd *cobra.Command) {
	cli.WithOptions(cmd,
		cli.Opt(&in.title, "title TEXT", "the title, TEXT of one line"),
		cli.Opt(&in.rationale, "rationale TEXT", "why it is proposed, as TEXT"),
		cli.Opt(&in.replaces, "replaces FILE", "replace FILE of 'workflows list', \"installed\" or \"none\""))
}

// showReplaces prints what a proposal replaces, or that it does not replace a file with its id.
func (in *draftInput) showReplaces(p *page.Page, done learning.Proposed) {
	if r := done.About.Replaces; !r.IsZero() {
		p.Text("Replaces  ", r.String())
	}
	if in.beside != "" {
		p.Text(p.Warn("! "), fmt.Sprintf("%s has its id too, and is not replaced: once the proposal is applied, the id is ambiguous. "+
			"Name it with --replaces.", page.OneLine(in.beside)))
	}
}

// given returns the texts that the flags of a command state.
func (in *draftInput) given(cmd *cobra.Command) (g proposal.Given) {
	if cmd.Flags().Changed("title") {
		g.Title = &in.title
	}
	if cmd.Flags().Changed("rationale") {
		g.Rationale = &in.rationale
	}
	return g
}

// read reads a file, with the flags in place of what it states. Errors: VALIDATION_ERROR for a text that cannot be
// read, CAPABILITY_NOT_PROVIDED.
func (in *draftInput) read(a *cli.App, cmd *cobra.Command, name string) (canon.Value, error) {
	// First: what the store does not provide is refused before the file is read.
	if err := a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error { return learning.CheckProposals(ctx, o.Learning) }); err != nil {
		return canon.Value{}, err
	}
	data, err := a.ReadInput("FILE", name, limits.ProposalFileBytesMax)
	if err != nil {
		return canon.Value{}, err
	}
	root, alone, err := proposal.ReadAny(name, data)
	if err != nil {
		return root, err
	}
	in.alone, in.digest = alone, canon.Sum(data)
	replaces, _ := root.Get("replaces")
	in.named = !replaces.IsNull()
	return in.given(cmd).Over(root), nil
}

// merge sets the draft of a revision: what patch has, the rest as it is.
func (in *draftInput) merge(a *cli.App, cmd *cobra.Command, ref string, patch canon.Value, req *learning.ProposeRequest) error {
	return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) (err error) {
		req.Draft, req.Merged, err = learning.MergedDraft(ctx, o.Learning, a.Flags.Workspace, ref, patch)
		return err
	})
}

// complete adds what is replaced, the workspace of the call and the workflows to compare the draft with.
func (in *draftInput) complete(a *cli.App, cmd *cobra.Command, req *learning.ProposeRequest) (err error) {
	req.Presence, req.Workspace = presenceOf(a), a.Flags.Workspace
	if req.Draft, err = in.replacing(a, cmd, req.Draft); err != nil {
		return err
	}
	// The engine compares; the catalog of candidates is known only here.
	req.OtherWorkflows = similarityCandidates(a, cmd, req.Draft.Kind)
	return nil
}

// replacing sets what a draft replaces: what --replaces names, what its file names, or for a workflow by itself
// what has its id.
func (in *draftInput) replacing(a *cli.App, cmd *cobra.Command, d proposal.Draft) (proposal.Draft, error) {
	flag := cmd.Flags().Changed("replaces")
	if flag && in.replaces == "" {
		return d, cli.UsageFault(cmd, "--replaces is given and empty").Suggest(`Name a file, "installed" or "none".`)
	}
	if in.replaces == "none" {
		return d.Replacing(proposal.Replaces{})
	}
	if flag && d.WorkflowID() == "" {
		return d, fault.New(fault.ValidationError, "the artifact is not one workflow with an id, and replaces nothing").
			Suggest("Remove --replaces.").With("field", "replaces")
	}
	if d.WorkflowID() == "" {
		return d, nil
	}
	c, err := a.Catalog(cmd.Context())
	// What an earlier revision named stays; a decision about it tells whether it changed.
	if !flag && !in.alone && !in.named {
		if e, ok, _ := c.Replaceable(d.WorkflowID(), "", in.digest); ok && d.Replaces.IsZero() && e.Kind != source.SourceInstalled {
			in.beside = e.Ref
		}
		return d, nil
	}
	if err != nil {
		return d, err
	}
	if flag || in.alone {
		e, ok, err := c.Replaceable(d.WorkflowID(), in.replaces, in.digest)
		if err != nil || !ok {
			return d, err
		}
		return d.Replacing(replacesOf(e))
	}
	e, ok := c.Named(d.WorkflowID(), catalog.Replaced{Kind: d.Replaces.SourceKind, Ref: d.Replaces.SourceRef, Digest: d.Replaces.Digest})
	if !ok {
		return d, fault.New(fault.ValidationError, "replaces: no workflow %s of the source %s has the digest %s", d.Replaces.WorkflowID,
			d.Replaces.SourceKind, d.Replaces.Digest).
			Suggest("Give the workflow by itself as FILE, or name what it replaces with --replaces; %s shows what there is.",
				fault.Command{"workflows", "list"}).With("field", "replaces")
	}
	return d.Replacing(replacesOf(e))
}

// replacesOf names a workflow of the catalog as what a proposal replaces.
func replacesOf(e catalog.Entry) proposal.Replaces {
	r := e.Replaced()
	return proposal.Replaces{WorkflowID: e.ID, SourceKind: r.Kind, SourceRef: r.Ref, Digest: r.Digest}
}
