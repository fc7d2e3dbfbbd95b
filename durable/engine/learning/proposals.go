package learning

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/proposals"
)

// ProposalQuery selects proposals. Proposals of other workspaces are never
// selected, even by id.
type ProposalQuery = proposals.Filter

// ProposalList is the document "proposals": the newest first, in the form of
// the wire protocol (docs/design.md#proposals). About adds by id what that has
// no member for.
type ProposalList struct {
	Proposals []proposal.Proposal      `json:"proposals"`
	About     map[string]ProposalAbout `json:"about"`
	Health    manifest.Health          `json:"health"` // of the log
	Findings  []manifest.Finding       `json:"findings"`
}

// ProposalAbout is what is known of a proposal besides its form on the wire.
type ProposalAbout struct {
	Revision       int64         `json:"revision"`
	Slot           proposal.Slot `json:"slot"`
	Version        string        `json:"version,omitzero"`
	ArtifactSHA256 canon.Digest  `json:"artifactSha256"`
	// Replaces is what the last revision replaces.
	Replaces proposal.Replaces `json:"replaces,omitzero"`
	// Duplicates are similar artifacts, the most similar first
	// (docs/design.md#proposals).
	Duplicates    []proposal.Duplicate `json:"duplicates"`
	Approvals     int64                `json:"approvals"` // that are valid now
	ApprovalsWant int64                `json:"approvalsWanted"`
	// Unreadable is the reason why the artifact is not shown: it was erased or
	// is damaged.
	Unreadable string `json:"unreadable,omitzero"`
}

// Proposals lists the proposals of a workspace. Of a damaged log the valid
// prefix is listed, and Health and Findings report the damage.
// CAPABILITY_NOT_PROVIDED if proposals are turned off.
func (l *Learning) Proposals(ctx context.Context, q ProposalQuery) (ProposalList, error) {
	out := ProposalList{Proposals: []proposal.Proposal{}, About: map[string]ProposalAbout{},
		Findings: []manifest.Finding{}}
	read, err := l.readProposals(ctx)
	if err != nil {
		return out, err
	}
	out.Health = read.verdict.Health
	out.Findings = append(append(out.Findings, read.verdict.Findings...), read.fold.Findings...)
	for _, one := range read.fold.List(q) {
		if ctx.Err() != nil {
			return out, fault.Wrap(ctx.Err(), fault.Interrupted, "reading was interrupted")
		}
		wire, about := l.proposalView(ctx, read.policy, one)
		out.Proposals, out.About[one.ID.String()] = append(out.Proposals, wire), about
	}
	return out, nil
}

// ProposalDetails is the document "proposal_history": everything recorded about
// one proposal.
type ProposalDetails struct {
	*proposals.Proposal
	About        ProposalAbout `json:"about"`
	Gate         ProposalGate  `json:"gate"`
	LastArtifact canon.Value   `json:"artifact"` // of the last revision
	// Content of its slot, where that differs from the proposal.
	SlotContent canon.Value `json:"installed,omitzero"`
	// Diff is the Text of the Difference, which the caller adds, and Problem its Problem.
	Diff    string          `json:"diff,omitzero"`
	Problem string          `json:"replacesProblem,omitzero"`
	Health  manifest.Health `json:"health"`

	shown Shown
}

// Shown identifies what a view of d shows, for the decision of a person who saw it.
func (d ProposalDetails) Shown() Shown { return d.shown }

// ProposalGate is the state of a proposal's approvals.
type ProposalGate struct {
	Mode    proposal.Mode `json:"mode"`
	Role    string        `json:"role"`
	Have    int64         `json:"have"`
	Want    int64         `json:"want"`
	Granted bool          `json:"granted"`
}

// Proposal returns one proposal, by its id or a unique prefix of one: in the
// form of the wire protocol, and with everything recorded about it.
// PROPOSAL_NOT_FOUND otherwise.
func (l *Learning) Proposal(ctx context.Context, workspace, ref string) (proposal.Proposal, ProposalDetails, error) {
	read, err := l.readProposals(ctx)
	if err != nil {
		return proposal.Proposal{}, ProposalDetails{}, err
	}
	one, err := read.fold.Find(workspace, ref)
	if err != nil {
		return proposal.Proposal{}, ProposalDetails{}, err
	}
	wire, about := l.proposalView(ctx, read.policy, one)
	d := ProposalDetails{Proposal: one, About: about, LastArtifact: wire.Artifact, Health: read.verdict.Health,
		shown: shownOf(read.fold, one)}
	gate := gateOf(read.policy, one)
	d.Gate = ProposalGate{read.policy.Mode, gate.Role, gate.Have, gate.Want, gate.Granted()}
	d.Approvals = markVoid(one.Approvals, gate)
	if i := read.fold.InstalledInSlot(one); i != nil && i.Artifact.SHA256 != about.ArtifactSHA256 {
		d.SlotContent, _ = l.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256)
	}
	return wire, d, nil
}

// markVoid returns the approvals with the reasons for which the current policy
// ignores some of them.
func markVoid(all []proposals.Approval, gate proposal.Gate) []proposals.Approval {
	out := append([]proposals.Approval{}, all...)
	for i := range out {
		for _, v := range gate.Void {
			if v.ID == out[i].ApprovalID {
				out[i].Void = v.Void
			}
		}
	}
	return out
}

// proposalView renders one proposal. An artifact that cannot be read is shown
// as an empty object, with the reason in Unreadable.
func (l *Learning) proposalView(ctx context.Context, policy proposal.Policy,
	one *proposals.Proposal) (proposal.Proposal, ProposalAbout) {
	last := one.Last()
	gate := gateOf(policy, one)
	about := ProposalAbout{Revision: last.Revision, Slot: last.Slot, Version: last.Version,
		ArtifactSHA256: last.Artifact.SHA256, Replaces: last.Replaces,
		Duplicates: last.Duplicates, Approvals: gate.Have}
	if policy.Mode == proposal.ApprovalGate {
		about.ApprovalsWant = gate.Want
	}
	artifact, err := l.parsedObject(ctx, manifest.Artifact, last.Artifact.SHA256)
	if err != nil {
		artifact, about.Unreadable = canon.OfMembers(), fault.Of(err).Message
	}
	return one.Wire(artifact), about
}

// parsedObject reads and parses an object that holds JSON.
func (l *Learning) parsedObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (canon.Value, error) {
	data, err := l.store.Object(ctx, kind, ref)
	if err != nil {
		return canon.Value{}, err
	}
	return canon.Parse(data)
}

// proposalsReading is the log of proposals as it was read.
type proposalsReading struct {
	// log has no owner if no store exists.
	log     manifest.Log
	fold    *proposals.Log
	verdict manifest.Verdict
	policy  proposal.Policy
}

// readProposals reads the log of proposals, of a damaged one the valid prefix.
// A store that does not exist has no proposals. CAPABILITY_NOT_PROVIDED if the
// configuration turns proposals off.
func (l *Learning) readProposals(ctx context.Context) (proposalsReading, error) {
	conf, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals)
	if err != nil {
		return proposalsReading{}, err
	}
	return l.readProposalLog(ctx, conf)
}

// readProposalLog is readProposals without the check of the configuration.
// Installed artifacts use it: turning proposals off does not uninstall what was
// approved.
func (l *Learning) readProposalLog(ctx context.Context, conf config.Config) (out proposalsReading, err error) {
	out.policy, out.verdict = proposal.PolicyOf(conf), manifest.Verdict{Health: manifest.Healthy}
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		out.fold = proposals.NewLog(manifest.Log{})
		return out, err
	}
	out.log = proposal.LogOf(store)
	out.verdict, err = l.store.Read(ctx, ports.ReadRequest{Log: out.log},
		ports.Into(&out.fold, func() *proposals.Log { return proposals.NewLog(out.log) }))
	return out, err
}

// changeProposals appends one record under the log's lock. plan receives the
// log as it is under the lock, which may differ from an earlier reading, and
// returns the record with the objects to store; a nil record appends nothing.
// SESSION_UNHEALTHY if the log has records that this version does not know,
// STORE_CONFLICT if it was replaced.
func (l *Learning) changeProposals(ctx context.Context, by engine.Caller, store id.Store,
	plan func(all *proposals.Log, next int64) (proposal.Record, []manifest.Object, error)) error {
	log := proposal.LogOf(store)
	var fold *proposals.Log
	inside := func(w ports.Witness, v manifest.Verdict) error {
		// An unknown record may have decided about this proposal.
		if fold.HasUnknownRecords() {
			return fault.New(fault.SessionUnhealthy,
				"the log of the proposals has records that this version does not know; nothing is written to it").
				Suggest("Use the newer binary.")
		}
		record, objects, err := plan(fold, v.Head.Next)
		if err != nil || record == nil {
			return err
		}
		p := manifest.Plan{Log: log, Objects: objects,
			Events: []event.Event{event.New(log.Owner, v.Head.Next, event.Scope{}, by.Actor, by.AtMs, record)}}
		if _, err := l.store.Append(ctx, w, v.Head, p); err != nil {
			return err
		}
		l.ledger.Note(p)
		return nil
	}
	err := ports.WithHealthySession(ctx, l.store, l.store, log, manifest.Head{},
		ports.Into(&fold, func() *proposals.Log { return proposals.NewLog(log) }), inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		return fault.New(fault.StoreConflict, "the log of the proposals changed while it was written to")
	}
	return err
}
