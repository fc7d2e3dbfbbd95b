package proposals_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
)

// modelProposal is the state of a proposal in the model, which has no log.
type modelProposal struct {
	id        id.Proposal
	workspace string
	state     proposal.State
	drafts    []proposal.Draft
	live      []id.Event // approvals of the last draft
	void      []id.Event
}

func (s *modelProposal) last() proposal.Draft { return s.drafts[len(s.drafts)-1] }

// modelSlot names a slot; the model stores a stack of applied proposals for each, the newest last.
type modelSlot struct{ workspace, slot string }

type learningModel struct {
	*learning
	r       *rapid.T
	all     []*modelProposal
	stacks  map[modelSlot][]*modelProposal
	numbers int
}

func (m *learningModel) draft() proposal.Draft {
	m.numbers++
	return draftOf(rapid.SampledFrom([]string{"test.one", "test.two"}).Draw(m.r, "slot"), fmt.Sprint(m.numbers))
}

func (m *learningModel) coin(what string) bool {
	return rapid.IntRange(0, 3).Draw(m.r, what) == 0
}

// step writes one record, legal or not in the state of its proposal, and passes the expectation.
func (m *learningModel) step() {
	if len(m.all) == 0 || len(m.all) < 4 && m.coin("create") {
		s := &modelProposal{id: id.NewProposal(id.Seed{byte(len(m.all) + 1)}),
			workspace: rapid.SampledFrom([]string{"", "shop"}).Draw(m.r, "workspace"), state: proposal.StateDraft}
		s.drafts = []proposal.Draft{m.draft()}
		m.all = append(m.all, s)
		m.write(person, proposal.Create(m.at(s.id), s.last(), proposal.Owner{Tenant: "t", Workspace: s.workspace}, nil),
			true)
		return
	}
	s := rapid.SampledFrom(m.all).Draw(m.r, "proposal")
	switch rapid.SampledFrom([]string{"revise", "approve", "approve", "apply", "apply", "reject", "archive", "rollback",
		"again", "elsewhere"}).Draw(m.r, "move") {
	case "revise":
		m.revise(s)
	case "approve":
		m.approveSome(s)
	case "apply":
		m.applySome(s)
	case "reject":
		open := s.state == proposal.StateDraft || s.state == proposal.StateRevised
		m.to(s, proposal.Reject(m.at(s.id)), open, proposal.StateRejected)
	case "archive":
		m.to(s, proposal.Archive(m.at(s.id)), s.state != proposal.StateApplied && s.state != proposal.StateArchived,
			proposal.StateArchived)
	case "rollback":
		m.rollBackSome(s)
	case "again":
		m.write(person, proposal.Create(m.at(s.id), m.draft(), proposal.Owner{Tenant: "t"}, nil), false)
	case "elsewhere":
		at := m.at(s.id)
		at.Ordinal += 3
		m.write(person, proposal.Archive(at), false)
	}
}

func (m *learningModel) write(by event.Actor, data event.Payload, legal bool) {
	if accepted := m.add(by, data); accepted != legal {
		m.r.Fatalf("%+v: accepted %v, want %v: %v", data, accepted, legal, m.fold.Findings)
	}
}

func (m *learningModel) to(s *modelProposal, data event.Payload, legal bool, state proposal.State) {
	m.write(person, data, legal)
	if legal {
		s.state = state
	}
}

func (m *learningModel) revise(s *modelProposal) {
	d, number := m.draft(), int64(len(s.drafts)+1)
	legal := s.state != proposal.StateApplied
	if m.coin("wrong number") {
		number, legal = number+1, false
	}
	m.to(s, proposal.Revise(m.at(s.id), number, d, nil), legal, proposal.StateRevised)
	if legal {
		s.drafts, s.void, s.live = append(s.drafts, d), append(s.void, s.live...), nil
	}
}

func (m *learningModel) approveSome(s *modelProposal) {
	seen := rapid.SampledFrom(s.drafts).Draw(m.r, "seen").Artifact.SHA256
	by := rapid.SampledFrom([]event.Actor{person, {Kind: event.Human}, agentNamedAda}).Draw(m.r, "by")
	a := proposal.Approve(proposalStore, m.at(s.id), consentOf(by, seen))
	legal := by.Kind == event.Human && seen == s.last().Artifact.SHA256 &&
		(s.state == proposal.StateDraft || s.state == proposal.StateRevised)
	m.write(by, a, legal)
	if legal {
		s.live = append(s.live, a.ApprovalID)
	}
}

func (m *learningModel) applySome(s *modelProposal) {
	d, by := rapid.SampledFrom(s.drafts).Draw(m.r, "draft"), person
	a := proposal.Activation{Mode: proposal.ApprovalGate, Principal: person.Ref, SHA256: d.Artifact.SHA256, Slot: d.Slot,
		Version: d.Version, Approvals: s.live}
	legal := d.Artifact == s.last().Artifact && (s.state == proposal.StateDraft || s.state == proposal.StateRevised)
	switch known := slices.Concat(s.live, s.void); {
	case m.coin("direct"):
		a.Mode, a.Approvals = proposal.DirectRBAC, nil
	case m.coin("override") || len(known) == 0:
		a.Override = true
		if m.coin("by an agent") {
			by, legal = agentNamedAda, false
		}
	default:
		a.Approvals = known[:rapid.IntRange(1, len(known)).Draw(m.r, "approvals")]
		legal = legal && len(a.Approvals) <= len(s.live)
	}
	before := m.fold.Installed("shop")
	m.write(by, proposal.Apply(m.at(s.id), a), legal)
	if !legal {
		return
	}
	s.state = proposal.StateApplied
	at := modelSlot{s.workspace, d.Slot.ID}
	m.stacks[at] = append(m.stacks[at], s)
	if m.coin("rolled back at once") {
		m.rollBack(s.workspace, s.id)
		s.state, m.stacks[at] = proposal.StateArchived, m.stacks[at][:len(m.stacks[at])-1]
		if after := m.fold.Installed("shop"); !slices.Equal(before, after) {
			m.r.Fatalf("the previous installation was not restored:\n%v\n%v", before, after)
		}
	}
}

func (m *learningModel) rollBackSome(s *modelProposal) {
	at := modelSlot{s.workspace, s.last().Slot.ID}
	stack := m.stacks[at]
	var restored canon.Digest
	if n := len(stack); n > 1 && stack[n-1] == s {
		restored = stack[n-2].last().Artifact.SHA256
	}
	legal := s.state == proposal.StateApplied
	if legal && m.fold.RestoredDigest(m.get(s.workspace, s.id)) != restored {
		m.r.Fatalf("RestoredBy returns %s, want %s", m.fold.RestoredDigest(m.get(s.workspace, s.id)), restored)
	}
	m.to(s, proposal.RollBack(m.at(s.id), s.last().Slot, restored), legal, proposal.StateArchived)
	if legal {
		m.stacks[at] = slices.DeleteFunc(slices.Clone(stack), func(one *modelProposal) bool { return one == s })
	}
}

// compare checks the fold against the model.
func (m *learningModel) compare() {
	for _, s := range m.all {
		one := m.get(s.workspace, s.id)
		live := 0
		for _, a := range one.Approvals {
			if a.Void == "" {
				live++
			}
		}
		if one.State != s.state || len(one.Revisions) != len(s.drafts) || one.Last().Artifact != s.last().Artifact ||
			live != len(s.live) || len(one.Approvals) != len(s.live)+len(s.void) {
			m.r.Fatalf("%+v\n%+v", s, one)
		}
	}
	for _, workspace := range []string{"", "shop"} {
		want, seen := map[modelSlot]canon.Digest{}, map[modelSlot]bool{}
		for at, stack := range m.stacks {
			if len(stack) > 0 && (at.workspace == "" || at.workspace == workspace) {
				want[at] = stack[len(stack)-1].last().Artifact.SHA256
			}
		}
		for _, in := range m.fold.Installed(workspace) {
			at := modelSlot{in.Workspace, in.Slot.ID}
			if seen[at] || want[at] != in.Artifact.SHA256 {
				m.r.Fatalf("in %q: %+v, want %v", workspace, in, want)
			}
			seen[at] = true
		}
		if len(seen) != len(want) {
			m.r.Fatalf("in %q: %v, want %v", workspace, seen, want)
		}
	}
}

// For random records in random order the fold equals the model: illegal records change nothing, a
// slot has one installation, and a rollback restores the previous one.
func TestProposalsFollowTheModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &learningModel{learning: newLearning(t), r: r, stacks: map[modelSlot][]*modelProposal{}}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			m.step()
			m.compare()
		}
	})
}
