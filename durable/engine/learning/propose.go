package learning

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/proposals"
)

// ProposeRequest requests to record a new proposal, or a revision of one.
type ProposeRequest struct {
	Presence // of a revision
	Draft    proposal.Draft
	// FromRuns are ids, prefixes or @last, in addition to the runs in the
	// draft.
	FromRuns  []string
	Workspace string
	Reason    string
	// Merged is the revision that the draft of a revision was merged with, 0 for a draft of its own.
	Merged int64
	// OtherWorkflows are workflows of other sources to compare with for similarity.
	OtherWorkflows []similar.Candidate
}

// Proposed is a proposal after a call, with what was redacted from the request.
type Proposed struct {
	Proposal proposal.Proposal
	About    ProposalAbout
	Redacted []redact.Finding
}

// Propose records a draft as a new proposal (docs/design.md#proposals). It has
// no effect until a person applies it. Errors: RUN_NOT_FOUND for an unknown
// source run, ARTIFACT_ERASED for bytes that were erased before,
// VALIDATION_ERROR, CAPABILITY_NOT_PROVIDED.
func (l *Learning) Propose(ctx context.Context, by engine.Caller, seed id.Seed, req ProposeRequest) (Proposed, error) {
	defer l.ledger.WritePending(ctx)
	if err := l.checkPropose(ctx, &req); err != nil {
		return Proposed{}, err
	}
	store, err := l.store.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return Proposed{}, err
	}
	tenant, err := l.store.Tenant(ctx)
	if err != nil {
		return Proposed{}, err
	}
	name := id.NewProposal(seed)
	owner := proposal.Owner{Tenant: tenant, Workspace: req.Workspace, Principal: proposal.NameOf(by.Actor)}
	err = l.changeProposals(ctx, by, store, func(all *proposals.Log, next int64) (proposal.Record,
		[]manifest.Object, error) {
		like := l.duplicates(ctx, all, req, name)
		return proposal.Create(proposal.At{Proposal: name, Ordinal: next, Reason: req.Reason}, req.Draft, owner, like),
			req.objects(), nil
	})
	if err != nil {
		return Proposed{}, err
	}
	return l.readProposed(ctx, req.Workspace, name.String(), req.redactions())
}

// ReviseProposal records a further revision of a proposal. Approvals of earlier
// revisions do not count for it, so a proposal with approvals is revised by callers with the
// approver's role: PROPOSAL_FORBIDDEN.
func (l *Learning) ReviseProposal(ctx context.Context, by engine.Caller, ref string, req ProposeRequest) (Proposed,
	error) {
	defer l.ledger.WritePending(ctx)
	if err := l.checkPropose(ctx, &req); err != nil {
		return Proposed{}, err
	}
	authority, err := l.authorityOf(ctx, req.caller(by))
	if err != nil {
		return Proposed{}, err
	}
	name := ""
	err = l.changeProposal(ctx, by, req.Workspace, ref, func(c proposalChange) (proposal.Record, []manifest.Object,
		error) {
		name = c.one.ID.String()
		if _, err := proposal.Next(c.one.State, proposal.MoveRevise); err != nil {
			return nil, nil, err
		}
		if last := c.one.Last().Revision; req.Merged != 0 && req.Merged != last {
			return nil, nil, fault.New(fault.ProposalChanged, "%s was revised in the meantime: the change is of revision %d, "+
				"and revision %d is the last one now", c.one.ID, req.Merged, last).With("proposalId", name)
		}
		if err := req.Draft.CheckKind(c.one.Kind); err != nil {
			return nil, nil, err
		}
		if err := (decision{authority: authority, one: c.one}).checkDiscard(); err != nil {
			return nil, nil, err
		}
		c.at.Reason = req.Reason
		return proposal.Revise(c.at, c.one.Last().Revision+1, req.Draft, l.duplicates(ctx, c.all, req, c.one.ID)),
			req.objects(), nil
	})
	if err != nil {
		return Proposed{}, err
	}
	return l.readProposed(ctx, req.Workspace, name, req.redactions())
}

// checkPropose refuses what is refused in any case, before a store is created
// or a lock is taken. It replaces the source runs in the draft by their full
// ids.
func (l *Learning) checkPropose(ctx context.Context, req *ProposeRequest) error {
	if _, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals); err != nil {
		return err
	}
	if err := proposal.CheckReason(req.Reason); err != nil {
		return err
	}
	// Erased bytes are not stored again under the same digest, because a reader
	// could not be shown them.
	if _, err := l.store.Object(ctx, manifest.Artifact, req.Draft.Artifact.SHA256); fault.Is(err,
		fault.ArtifactErased) {
		return fault.Wrap(err, fault.ArtifactErased, "it cannot be proposed again: %s", fault.Of(err).Message).
			With("sha256", req.Draft.Artifact.SHA256.String())
	}
	var err error
	if req.Draft, err = req.Draft.Replacing(req.Draft.Replaces); err != nil {
		return err
	}
	refs := slices.Concat(req.FromRuns, req.Draft.RunRefs)
	for _, run := range req.Draft.SourceRunIDs {
		refs = append(refs, run.String())
	}
	var runs []id.Run
	for _, ref := range refs {
		at, err := l.e.Locate(ctx, ref)
		if err != nil {
			return err
		}
		if !slices.Contains(runs, at.Run) {
			runs = append(runs, at.Run)
		}
	}
	if len(runs) > limits.SourceRunsMax {
		return fault.New(fault.ValidationError, "%d source runs; at most %d are allowed", len(runs),
			limits.SourceRunsMax).
			With("field", "sourceRunIds").With("expected", limits.SourceRunsMax).With("got", len(runs))
	}
	req.Draft.SourceRunIDs, req.Draft.RunRefs = runs, nil
	return nil
}

// objects is the artifact in the form in which it is stored.
func (req ProposeRequest) objects() []manifest.Object {
	return []manifest.Object{{Kind: manifest.Artifact, Bytes: req.Draft.Bytes}}
}

// redactions returns the places of the request from which secrets are removed: of the file, and of the reason.
func (req ProposeRequest) redactions() []redact.Finding {
	return slices.Concat(req.Draft.Redacted, proposal.ReasonRedactions(req.Reason))
}

// duplicates ranks the similarity of a draft to installed artifacts, to open
// proposals of its kind, and to the workflows that the caller passes. The
// result is recorded with the revision.
func (l *Learning) duplicates(ctx context.Context, all *proposals.Log, req ProposeRequest,
	self id.Proposal) []proposal.Duplicate {
	draft, err := canon.Parse(req.Draft.Bytes)
	if err != nil {
		return nil
	}
	var others []similar.Candidate
	add := func(ref string, digest canon.Digest) {
		if v, err := l.parsedObject(ctx, manifest.Artifact, digest); err == nil {
			others = append(others, similar.Candidate{Ref: ref, Digest: digest, Signature: similar.SignatureOf(v)})
		}
	}
	inUse := map[canon.Digest]bool{}
	for _, i := range all.Installed(req.Workspace) {
		if i.Slot.Kind == req.Draft.Kind && i.ProposalID != self {
			inUse[i.Artifact.SHA256] = true
			add(i.Ref, i.Artifact.SHA256)
		}
	}
	for _, one := range all.List(ProposalQuery{Workspace: req.Workspace, Kind: req.Draft.Kind}) {
		// An installed artifact is listed once, not also as a proposal.
		if one.ID != self && one.State.Open() && !inUse[one.Last().Artifact.SHA256] {
			add("proposal:"+one.ID.String(), one.Last().Artifact.SHA256)
		}
	}
	if req.Draft.Kind == proposal.WorkflowChainPack {
		others = append(others, req.OtherWorkflows...)
	}
	var out []proposal.Duplicate
	for _, m := range similar.Rank(similar.Candidate{Digest: req.Draft.Artifact.SHA256,
		Signature: similar.SignatureOf(draft)},
		others) {
		out = append(out, proposal.Duplicate{Percent: int64(m.Percent), Ref: m.Ref})
	}
	return out
}

// proposalChange is a proposal as it is under the log's lock, and the position
// of the record to append.
type proposalChange struct {
	store id.Store
	all   *proposals.Log
	one   *proposals.Proposal
	at    proposal.At
}

// changeProposal is changeProposals for one existing proposal.
func (l *Learning) changeProposal(ctx context.Context, by engine.Caller, workspace, ref string,
	plan func(proposalChange) (proposal.Record, []manifest.Object, error)) error {
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return err
	}
	// An unknown proposal is refused before a lock is taken.
	if found, err := l.readProposals(ctx); err != nil {
		return err
	} else if _, err := found.fold.Find(workspace, ref); err != nil {
		return err
	}
	return l.changeProposals(ctx, by, store, func(all *proposals.Log, next int64) (proposal.Record,
		[]manifest.Object, error) {
		one, err := all.Find(workspace, ref)
		if err != nil {
			return nil, nil, err
		}
		return plan(proposalChange{store, all, one, proposal.At{Proposal: one.ID, Ordinal: next}})
	})
}

// readProposed returns a proposal after a call. Errors become
// STORE_ANSWER_UNREAD, because the change is recorded.
func (l *Learning) readProposed(ctx context.Context, workspace, ref string, redactions []redact.Finding) (Proposed,
	error) {
	wire, d, err := l.Proposal(ctx, workspace, ref)
	if err != nil {
		err = fault.Wrap(err, fault.StoreAnswerUnread, "%s is recorded, but cannot be read: %s", ref,
			strings.TrimSuffix(fault.Of(err).Message, "."))
	}
	return Proposed{Proposal: wire, About: d.About, Redacted: redactions}, err
}
