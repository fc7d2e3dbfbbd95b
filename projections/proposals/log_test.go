package proposals_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/proposals"
)

var proposalsLog = manifest.StoreLog(proposalStore, proposal.Table)

// learning writes a proposals log record by record and folds it.
type learning struct {
	t    testing.TB
	fold *proposals.Log
	head manifest.Head
	next int64
}

var (
	proposalStore = id.NewStore(id.Seed{1})
	proposalRun   = id.NewRun(id.Seed{3})
	person        = event.Actor{Kind: event.Human, Ref: "ada"}
)

func newLearning(t testing.TB) *learning {
	return &learning{t: t, fold: proposals.NewLog(proposalsLog)}
}

// at returns the common members of the next record of a proposal.
func (l *learning) at(p id.Proposal) proposal.At {
	return proposal.At{Proposal: p, Ordinal: l.next, Reason: "because"}
}

// add encodes a record as a store does, so that only storable records are folded, and reports
// whether it was accepted.
func (l *learning) add(by event.Actor, data event.Payload) bool {
	l.t.Helper()
	seg, err := manifest.EncodeSegment(proposalsLog,
		[]event.Event{event.New(proposalStore.String(), l.next, event.Scope{}, by, 1000+l.next, data)})
	if err != nil {
		l.t.Fatal(err)
	}
	return l.visit(seg.Bytes)
}

func (l *learning) visit(line []byte) bool {
	l.t.Helper()
	seg, err := manifest.DecodeSegment(proposalsLog, l.next, l.next, line)
	if err != nil {
		l.t.Fatal(err)
	}
	before := len(l.fold.Findings)
	l.next++
	l.head.Next = l.next
	if err := l.fold.Visit(seg, l.head); err != nil {
		l.t.Fatal(err)
	}
	return len(l.fold.Findings) == before
}

// draftOf returns a draft for a slot; different texts give different artifacts.
func draftOf(slot, text string) proposal.Draft {
	d, err := proposal.ParseFile([]byte(`{"kind":"workflow-chain-pack","title":"` + text + `","artifact":{"id":"` +
		slot + `","steps":["` + text + `"],"version":"1.0.0"}}`))
	if err != nil {
		panic(err)
	}
	return d
}

func (l *learning) create(n byte, workspace string, d proposal.Draft) id.Proposal {
	l.t.Helper()
	p := id.NewProposal(id.Seed{n})
	if !l.add(person, proposal.Create(l.at(p), d, proposal.Owner{Tenant: "local", Workspace: workspace}, nil)) {
		l.t.Fatal(l.fold.Findings)
	}
	return p
}

func (l *learning) get(workspace string, p id.Proposal) *proposals.Proposal {
	l.t.Helper()
	one, err := l.fold.Find(workspace, p.String())
	if err != nil {
		l.t.Fatal(err)
	}
	return one
}

// consentOf returns the consent of a reviewer, as versions without the policy recorded it.
func consentOf(by event.Actor, seen canon.Digest) proposal.Consent {
	return proposal.Consent{Seen: seen, Principal: proposal.NameOf(by), Role: "reviewer"}
}

func (l *learning) approve(workspace string, p id.Proposal, by event.Actor) proposal.Approved {
	l.t.Helper()
	a := proposal.Approve(proposalStore, l.at(p), consentOf(by, l.get(workspace, p).Last().Artifact.SHA256))
	if !l.add(by, a) {
		l.t.Fatal(l.fold.Findings)
	}
	return a
}

// activation returns the activation of the last revision with these approvals.
func (l *learning) activation(one *proposals.Proposal, approvals ...id.Event) proposal.Activation {
	last := one.Last()
	return proposal.Activation{Mode: proposal.ApprovalGate, Approvals: approvals, Principal: person.Ref,
		SHA256: last.Artifact.SHA256, Slot: last.Slot, Version: last.Version, Replaces: last.Replaces}
}

func (l *learning) apply(workspace string, p id.Proposal) {
	l.t.Helper()
	a := l.approve(workspace, p, person)
	if !l.add(person, proposal.Apply(l.at(p), l.activation(l.get(workspace, p), a.ApprovalID))) {
		l.t.Fatal(l.fold.Findings)
	}
}

func (l *learning) rollBack(workspace string, p id.Proposal) {
	l.t.Helper()
	one := l.get(workspace, p)
	if !l.add(person, proposal.RollBack(l.at(p), one.Last().Slot, l.fold.RestoredDigest(one))) {
		l.t.Fatal(l.fold.Findings)
	}
}

// texts returns the titles of what is installed in a workspace.
func (l *learning) texts(workspace string) string {
	var out []string
	for _, in := range l.fold.Installed(workspace) {
		for _, w := range []string{"", "shop", "home"} {
			if one, err := l.fold.Find(w, in.ProposalID.String()); err == nil {
				out = append(out, one.Last().Title)
			}
		}
	}
	return strings.Join(out, " ")
}
