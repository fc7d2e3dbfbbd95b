package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/difference"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/projections/proposals"
)

// ReplacedFile is the file at a place as it is now.
type ReplacedFile struct {
	Digest canon.Digest
	Value  canon.Value // its workflow
}

// ReadReplaced finds the file at the place that a proposal names, as the caller sees it from its directory; ok is
// false for a place without a file that has a workflow.
type ReadReplaced func(context.Context, proposal.Replaces) (file ReplacedFile, ok bool, err error)

// Difference is what a proposal changes in what it replaces (docs/design.md#replacing).
type Difference struct {
	Replaces proposal.Replaces
	// Text is the difference in the unified form, of one spelling of both; "" where they are equal.
	Text string
	// Known reports that both sides could be compared, and Problem why what is replaced is not what the
	// proposal names, "" if it is.
	Known   bool
	Problem string
}

// DifferenceOf compares a proposal with what it replaces: with what it names, else with what is in use in its slot.
// Secrets in a file are not shown.
func DifferenceOf(ctx context.Context, l *Learning, workspace string, d ProposalDetails, read ReadReplaced) (out Difference,
	err error) {
	out.Replaces = d.Last().Replaces
	if d.About.Unreadable != "" || out.Replaces.IsZero() && d.SlotContent.IsNull() {
		return out, nil
	}
	before, from := d.SlotContent, "installed"
	if !out.Replaces.IsZero() {
		from = out.Replaces.String()
		found, err := l.readProposals(ctx)
		if err != nil {
			return out, err
		}
		if before, out.Problem, err = replacedNow(ctx, l, found.fold, workspace, d.ID, out.Replaces, read); err != nil {
			return out, err
		}
		// What was installed and is not any more is read from the store, and compared all the same.
		if before.IsNull() && !out.Replaces.IsFile() {
			before, _ = l.parsedObject(ctx, manifest.Artifact, out.Replaces.Digest)
		}
		if !d.State.Open() {
			out.Problem = "" // it was about the decision
		}
	}
	if before.IsNull() {
		return out, nil
	}
	out.Known = true
	lines := difference.Values(redact.Value(before, nil).JCS(), d.LastArtifact.JCS())
	if len(lines) > 0 {
		out.Text = fmt.Sprintf("--- %s\n+++ %s, revision %d\n%s\n", from, d.ID, d.Last().Revision, strings.Join(lines, "\n"))
	}
	return out, nil
}

// replacedNow returns what a proposal replaces, null if that is not what it names; problem says why.
func replacedNow(ctx context.Context, l *Learning, all *proposals.Log, workspace string, self id.Proposal, r proposal.Replaces,
	read ReadReplaced) (v canon.Value, problem string, err error) {
	if !r.IsFile() {
		v, digest, err := installedWorkflow(ctx, l, all, workspace, self, r)
		switch {
		case err != nil || digest == r.Digest:
			return v, "", err
		case digest.IsZero():
			return canon.Value{}, fmt.Sprintf("nothing is installed as %s any more", r.WorkflowID), nil
		}
		return canon.Value{}, fmt.Sprintf("another workflow is installed as %s now", r.WorkflowID), nil
	}
	if read == nil {
		return v, fmt.Sprintf("%s cannot be read here", r), nil
	}
	file, ok, err := read(ctx, r)
	switch {
	case err != nil:
		return v, "", err
	case !ok:
		return v, fmt.Sprintf("%s is not found from this directory", r), nil
	case file.Digest != r.Digest:
		return v, fmt.Sprintf("%s changed: it was %s, and is %s now", r, r.Digest, file.Digest), nil
	}
	return file.Value, "", nil
}

// installedWorkflow returns the installed workflow that a proposal names, else the digest of another one with the
// id, zero if none is installed.
func installedWorkflow(ctx context.Context, l *Learning, all *proposals.Log, workspace string, self id.Proposal,
	r proposal.Replaces) (found canon.Value, digest canon.Digest, err error) {
	for _, i := range all.Installed(workspace) {
		if i.Slot.Kind != proposal.WorkflowChainPack || i.ProposalID == self {
			continue
		}
		v, err := l.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256)
		if fault.Is(err, fault.StoreCorrupt) {
			v, err = l.parsedObject(ctx, manifest.Artifact, i.Artifact.SHA256)
		}
		if ctx.Err() != nil {
			return found, digest, fault.Wrap(ctx.Err(), fault.Interrupted, "reading was interrupted")
		}
		if err != nil {
			continue // it is not in use
		}
		for _, w := range installable.Workflows(v) {
			if name, _ := w.Source.Get("id"); name.Text() != r.WorkflowID {
				continue
			}
			digest = canon.Sum(w.Source.JCS())
			if digest == r.Digest {
				return w.Source, digest, nil
			}
		}
	}
	return found, digest, nil
}

// checkReplaced refuses, with PROPOSAL_CHANGED, a decision about a proposal that replaces something else than it
// names, as far as the caller sees it.
func checkReplaced(ctx context.Context, l *Learning, d decision, req DecideRequest) error {
	r := d.one.Last().Replaces
	if r.IsZero() {
		return nil
	}
	_, problem, err := replacedNow(ctx, l, d.all, req.Workspace, d.one.ID, r, req.Replaced)
	if err != nil || problem == "" {
		return err
	}
	revise := fault.Command{"proposals", "revise", d.one.ID.String()}
	f := fault.New(fault.ProposalChanged, "what %s would replace is not what it names: %s; nothing was recorded", d.one.ID, problem).
		With("proposalId", d.one.ID.String()).With("replaces", r.String())
	if !r.IsFile() {
		return f.Suggest("%s records what has the id now.", append(revise, "FILE"))
	}
	return f.Suggest("Run the command in the directory of the project. If the file is as it should be, %s records it as it is "+
		"now; with %s nothing is replaced.", append(slices.Clone(revise), "--replaces", r.SourceRef),
		append(slices.Clone(revise), "--replaces", "none"))
}

// MergedDraft returns the draft of a revision: what patch has, the rest as it is in the proposal. Errors:
// PROPOSAL_NOT_FOUND, VALIDATION_ERROR, and that of an artifact which cannot be read.
func MergedDraft(ctx context.Context, l *Learning, workspace, ref string, patch canon.Value) (draft proposal.Draft, revision int64,
	err error) {
	now, d, err := l.Proposal(ctx, workspace, ref)
	if err != nil {
		return draft, 0, err
	}
	if _, given := patch.Get("artifact"); d.About.Unreadable != "" && !given {
		return draft, 0, fault.New(fault.ValidationError, "a revision of %s needs an artifact: the one that it has cannot be read: %s",
			d.ID, d.About.Unreadable).With("field", "artifact")
	}
	merged, err := proposal.Merged(now, d.Last().Replaces, patch)
	if err == nil {
		draft, err = proposal.DraftOf(merged)
	}
	return draft, d.Last().Revision, err
}
