package projections

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
)

// ProposalFilter says which proposals are meant. Workspace is always asked: "" means those
// of none. State and Kind "" are any.
type ProposalFilter struct {
	Workspace string
	State     proposal.State
	Kind      proposal.Kind
}

func (f ProposalFilter) takes(p *Proposal) bool {
	return p.Owner.Workspace == f.Workspace && (f.State == "" || p.State == f.State) &&
		(f.Kind == "" || p.Kind == f.Kind)
}

// List is what a filter takes, the newest first, as created.
func (p *Proposals) List(f ProposalFilter) []*Proposal {
	out := []*Proposal{}
	for _, one := range slices.Backward(p.order) {
		if f.takes(one) {
			out = append(out, one)
		}
	}
	return out
}

// Find is the proposal of a workspace that an id names, or the beginning of one, with or
// without "prop_". PROPOSAL_NOT_FOUND is the answer for another workspace's too: nothing
// tells that it is there. VALIDATION_ERROR: several begin so.
func (p *Proposals) Find(workspace, ref string) (*Proposal, error) {
	var found []*Proposal
	for _, one := range p.List(ProposalFilter{Workspace: workspace}) {
		if one.ID.String() == ref {
			return one, nil
		}
		if begins(one.ID, ref) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.New(fault.ProposalNotFound, "no proposal here is called %q, and none begins with it", ref)
	case 1:
		return found[0], nil
	}
	return nil, fault.New(fault.ValidationError, "%d proposals begin with %q", len(found), ref).
		Suggest("Give more characters of the id.").With("field", "proposalId").
		With("expected", "the beginning of one id").With("got", ref)
}

func begins(p id.Proposal, ref string) bool {
	const prefix = "prop_"
	return ref != "" && ref != prefix &&
		(strings.HasPrefix(p.String(), ref) || strings.HasPrefix(p.String(), prefix+ref))
}

// Installed is what an applied proposal brought.
type Installed struct {
	ProposalID id.Proposal       `json:"proposalId"`
	Slot       proposal.Slot     `json:"slot"`
	Version    string            `json:"version,omitzero"`
	Artifact   proposal.Artifact `json:"artifact"`
	Ref        string            `json:"ref"`
	Workspace  string            `json:"workspace,omitzero"` // "" is seen in every workspace
	AtMs       int64             `json:"atMs"`               // of the activation

	at place
}

// place is where one thing is installed at a time. Of a prompt template several versions
// stand side by side, since a workflow may ask for one of them.
type place struct {
	slot      proposal.Slot
	version   string // of a prompt template
	workspace string
}

// placeOf is where what a proposal holds now is installed, or would be.
func placeOf(one *Proposal) place {
	last := one.Last()
	at := place{slot: last.Slot, workspace: one.Owner.Workspace}
	if last.Slot.Kind == proposal.PromptTemplate {
		at.version = last.Version
	}
	return at
}

// Installed lists what is in use in a workspace: in each slot (and for prompt templates
// of each version) the newest applied proposal that was not taken back, of the workspace
// itself and of none. Where both have one in a slot, both are listed: no source shadows
// another, and whoever looks for that name says so. It is in order of kind, id, version
// and workspace.
//
// Nothing is listed of a log that Blind tells of. A log that is damaged may have lost
// what took something out: whoever asks has to know its verdict.
func (p *Proposals) Installed(workspace string) []Installed {
	out := []Installed{}
	if p.blind {
		return out
	}
	for at, one := range p.newest(nil) {
		if at.workspace != "" && at.workspace != workspace {
			continue
		}
		last := one.Last()
		out = append(out, Installed{ProposalID: one.ID, Slot: at.slot, Version: last.Version, Artifact: last.Artifact,
			Ref: one.applied.InstalledRef, Workspace: at.workspace, AtMs: one.History[len(one.History)-1].AtMs, at: at})
	}
	slices.SortFunc(out, func(a, b Installed) int {
		return cmp.Or(cmp.Compare(a.Slot.Kind, b.Slot.Kind), cmp.Compare(a.Slot.ID, b.Slot.ID),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Workspace, b.Workspace))
	})
	return out
}

// Displaced is what is in use where a proposal would be installed, or is; nil where
// nothing is.
func (p *Proposals) Displaced(one *Proposal) *Installed {
	at := placeOf(one)
	for _, i := range p.Installed(at.workspace) {
		if i.at == at {
			return &i
		}
	}
	return nil
}

// RestoredBy is the digest of what would come back if a proposal were rolled back now:
// zero where it is not what is installed in its slot, and where nothing was before it.
func (p *Proposals) RestoredBy(one *Proposal) canon.Digest {
	if one.State != proposal.StateApplied {
		return canon.Digest{}
	}
	at := placeOf(one)
	before := p.newest(one)[at]
	if p.newest(nil)[at] != one || before == nil {
		return canon.Digest{}
	}
	return before.applied.ArtifactSHA256
}

// newest is which proposal is installed where, with one left out of account. What is
// applied was checked as it came in; that its bytes are still those of the last revision
// is checked again here, where it takes effect.
func (p *Proposals) newest(without *Proposal) map[place]*Proposal {
	out := map[place]*Proposal{}
	for _, one := range p.order {
		if one == without || one.State != proposal.StateApplied ||
			one.applied.ArtifactSHA256 != one.Last().Artifact.SHA256 {
			continue
		}
		at := placeOf(one)
		if other := out[at]; other == nil || one.appliedAt > other.appliedAt {
			out[at] = one
		}
	}
	return out
}

// Wire is a proposal as RFC 0096 shows it, with the artifact of its last revision.
func (p *Proposal) Wire(artifact canon.Value) proposal.Proposal {
	last := p.Last()
	w := proposal.Proposal{ID: p.ID, Kind: p.Kind, State: p.State, Title: last.Title, Rationale: last.Rationale,
		Artifact:   artifact,
		Provenance: p.Provenance, DuplicateOf: proposal.Nearest(last.Duplicates), Owner: p.Owner,
		CreatedAt: event.TimeText(p.CreatedAtMs), UpdatedAt: event.TimeText(p.UpdatedAtMs)}
	if applied, ok := p.Activation(); ok {
		a := applied.Activation()
		w.Activation = &a
	}
	return w
}
