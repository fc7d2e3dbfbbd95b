package proposals

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/sorting"
)

// Filter selects proposals. Workspace always applies: "" selects those without a workspace.
// An empty State or Kind selects all.
type Filter struct {
	Workspace string
	State     proposal.State
	Kind      proposal.Kind
}

// matches reports whether the filter selects a proposal.
func (f Filter) matches(p *Proposal) bool {
	return p.Owner.Workspace == f.Workspace && (f.State == "" || p.State == f.State) &&
		(f.Kind == "" || p.Kind == f.Kind)
}

// List returns the selected proposals, newest first by creation, never nil.
func (p *Log) List(f Filter) []*Proposal {
	out := []*Proposal{}
	for _, prop := range slices.Backward(p.order) {
		if f.matches(prop) {
			out = append(out, prop)
		}
	}
	return out
}

// Latest names the proposal of a workspace that was created last.
const Latest = "@last"

// Find returns the proposal of a workspace by its id or a prefix of it, with or without "prop_", or by Latest.
// Errors: PROPOSAL_NOT_FOUND, also for a proposal of another workspace, so that its existence is
// not revealed; VALIDATION_ERROR if several ids have the prefix.
func (p *Log) Find(workspace, ref string) (*Proposal, error) {
	ref = id.Typed(ref)
	var found []*Proposal
	for _, prop := range p.List(Filter{Workspace: workspace}) {
		if prop.ID.String() == ref || ref == Latest {
			return prop, nil
		}
		if hasIDPrefix(prop.ID, ref) {
			found = append(found, prop)
		}
	}
	switch len(found) {
	case 0:
		if f := fault.WrongKind(fault.ProposalNotFound, ref, id.Noun(ref), "a proposal"); f != nil {
			return nil, f
		}
		return nil, fault.New(fault.ProposalNotFound, "this workspace has no proposal with the id or prefix %q", ref)
	case 1:
		return found[0], nil
	}
	return nil, fault.New(fault.ValidationError, "%d proposals match the prefix %q", len(found), ref).
		Suggest("Give more characters of the id.").With("field", "proposalId").
		With("expected", "a prefix of one id").With("got", ref)
}

// hasIDPrefix reports whether ref is a prefix of the id that has at least one character after
// "prop_".
func hasIDPrefix(p id.Proposal, ref string) bool {
	const prefix = "prop_"
	return ref != "" && ref != prefix &&
		(strings.HasPrefix(p.String(), ref) || strings.HasPrefix(p.String(), prefix+ref))
}

// Installation is what an applied proposal installed.
type Installation struct {
	ProposalID id.Proposal       `json:"proposalId"`
	Slot       proposal.Slot     `json:"slot"`
	Version    string            `json:"version,omitzero"`
	Artifact   proposal.Artifact `json:"artifact"`
	Ref        string            `json:"ref"`
	Workspace  string            `json:"workspace,omitzero"` // "" is visible in every workspace
	AtMs       int64             `json:"atMs"`               // of the activation
	// Replaces is what the proposal names; see ReplacedFiles.
	Replaces proposal.Replaces `json:"replaces,omitzero"`

	key    slotKey
	record id.Event // that installed it
}

// slotKey names the position that one installed artifact occupies. Several versions of a prompt
// template are installed at once, since a workflow may name a version.
type slotKey struct {
	slot      proposal.Slot
	version   string // of prompt templates, else ""
	workspace string
}

// slotKeyOf returns where the last revision of a proposal is installed, or would be.
func slotKeyOf(prop *Proposal) slotKey {
	last := prop.Last()
	key := slotKey{slot: last.Slot, workspace: prop.Owner.Workspace}
	if last.Slot.Kind == proposal.PromptTemplate {
		key.version = last.Version
	}
	return key
}

// Installed lists what is in use in a workspace: in each slot (and for prompt templates in each
// version) the newest applied proposal that was not rolled back, of the workspace itself and of no
// workspace. If both have one in a slot, both are listed: no source overrides another, and the
// lookup of that name reports the conflict. The order is kind, id, version, workspace.
//
// The list is empty if HasUnknownRecords reports true. A damaged log may have lost a rollback: the caller has
// to check the log's verdict.
func (p *Log) Installed(workspace string) []Installation {
	out := []Installation{}
	if p.hasUnknown {
		return out
	}
	for key, prop := range p.installedBySlot(nil) {
		if key.workspace != "" && key.workspace != workspace {
			continue
		}
		last := prop.Last()
		out = append(out, Installation{ProposalID: prop.ID, Slot: key.slot, Version: last.Version,
			Artifact: last.Artifact,
			Ref:      prop.applied.InstalledRef, Workspace: key.workspace, AtMs: prop.History[len(prop.History)-1].AtMs, record: prop.appliedBy,
			Replaces: prop.applied.Replaces, key: key})
	}
	sorting.By(out, func(a, b Installation) int {
		return cmp.Or(cmp.Compare(a.Slot.Kind, b.Slot.Kind), cmp.Compare(a.Slot.ID, b.Slot.ID),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Workspace, b.Workspace))
	})
	return out
}

// ReplacedFiles returns the files that what an applied proposal installed is used instead of, each while it has
// its digest: the one that the proposal names, and those that what it took the slot from was used instead of.
func (p *Log) ReplacedFiles(of id.Proposal) []proposal.Replaces {
	prop := p.all[of]
	if prop == nil || prop.State != proposal.StateApplied {
		return nil
	}
	return prop.replaced
}

// InstalledAnywhere lists what is in use in any workspace, in no order.
func (p *Log) InstalledAnywhere() (out []Installation) {
	seen := map[string]bool{}
	for _, prop := range p.order {
		if w := prop.Owner.Workspace; !seen[w] {
			seen[w] = true
			for _, i := range p.Installed(w) {
				if i.Workspace == w {
					out = append(out, i)
				}
			}
		}
	}
	return out
}

// InstalledInSlot returns what is in use in the slot of a proposal, the proposal itself included; nil if
// nothing is.
func (p *Log) InstalledInSlot(prop *Proposal) *Installation {
	key := slotKeyOf(prop)
	for _, i := range p.Installed(key.workspace) {
		if i.key == key {
			return &i
		}
	}
	return nil
}

// RestoredDigest returns the digest of the artifact that would be in use after rolling a proposal back
// now. It is zero if the proposal is not the one in use in its slot, and if no other was applied
// before it.
func (p *Log) RestoredDigest(prop *Proposal) canon.Digest {
	if prop.State != proposal.StateApplied {
		return canon.Digest{}
	}
	key := slotKeyOf(prop)
	before := p.installedBySlot(prop)[key]
	if p.installedBySlot(nil)[key] != prop || before == nil {
		return canon.Digest{}
	}
	return before.applied.ArtifactSHA256
}

// installedBySlot returns the proposal in use in each slot, computed without the proposal except.
// The artifact of an activation was compared with the last revision when it was folded; it is
// compared again here, where it takes effect.
func (p *Log) installedBySlot(except *Proposal) map[slotKey]*Proposal {
	out := map[slotKey]*Proposal{}
	for _, prop := range p.order {
		if prop == except || prop.State != proposal.StateApplied ||
			prop.applied.ArtifactSHA256 != prop.Last().Artifact.SHA256 {
			continue
		}
		key := slotKeyOf(prop)
		if other := out[key]; other == nil || prop.appliedAt > other.appliedAt {
			out[key] = prop
		}
	}
	return out
}

// inUse returns the proposal in use in one slot, nil if none is.
func (p *Log) inUse(key slotKey) (out *Proposal) {
	for _, prop := range p.order {
		if prop.State == proposal.StateApplied && slotKeyOf(prop) == key && (out == nil || prop.appliedAt > out.appliedAt) {
			out = prop
		}
	}
	return out
}

// Wire returns a proposal in its public form (docs/design.md#proposals), with the artifact of its
// last revision, which the caller reads.
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
