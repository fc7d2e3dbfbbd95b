package proposals_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
)

var agentNamedAda = event.Actor{Kind: event.Agent, Ref: "ada"} // it calls itself like the person

// A log with valid digests can still have been written by hand: none of these records may install
// anything.
func TestForgedRecordsInstallNothing(t *testing.T) {
	stolen := id.NewProposal(id.Seed{9})
	for name, forge := range map[string]func(l *learning, p id.Proposal, good proposal.Activation) (event.Actor,
		event.Payload){
		"of bytes that were not proposed": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.SHA256 = canon.Sum([]byte("evil"))
			return person, proposal.Apply(l.at(p), a)
		},
		"of an earlier revision": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor, event.Payload) {
			a.SHA256 = l.get("", p).Revisions[0].Artifact.SHA256
			return person, proposal.Apply(l.at(p), a)
		},
		"into another slot": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor, event.Payload) {
			a.Slot.ID = "test.other"
			return person, proposal.Apply(l.at(p), a)
		},
		"into a slot that spells the same ref": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.Slot.ID, a.Version = a.Slot.ID+"@"+a.Version, ""
			return person, proposal.Apply(l.at(p), a)
		},
		"under another version": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor, event.Payload) {
			a.Version = "9.9.9"
			return person, proposal.Apply(l.at(p), a)
		},
		"by an approval that is void": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.Approvals = []id.Event{l.get("", p).Approvals[0].ApprovalID}
			return person, proposal.Apply(l.at(p), a)
		},
		"by one good approval and a void one": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.Approvals = append(a.Approvals, l.get("", p).Approvals[0].ApprovalID)
			return person, proposal.Apply(l.at(p), a)
		},
		"by an approval that is nowhere": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.Approvals = []id.Event{id.EventOf("x", "y")}
			return person, proposal.Apply(l.at(p), a)
		},
		"past the gate by an agent": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.Override = true
			return agentNamedAda, proposal.Apply(l.at(p), a)
		},
		"in the name of another person": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			a.Principal = "bob"
			return person, proposal.Apply(l.at(p), a)
		},
		"at another place of the log": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			at := l.at(p)
			at.Ordinal--
			return person, proposal.Apply(at, a)
		},
		"of an unknown proposal": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor,
			event.Payload) {
			return person, proposal.Apply(l.at(stolen), a)
		},
		"after it was rejected": func(l *learning, p id.Proposal, a proposal.Activation) (event.Actor, event.Payload) {
			l.add(person, proposal.Reject(l.at(p)))
			return person, proposal.Apply(l.at(p), a)
		},
	} {
		l := newLearning(t)
		p := l.create(1, "", draftOf("test.flow", "one"))
		l.approve("", p, person)
		l.add(person, proposal.Revise(l.at(p), 2, draftOf("test.flow", "two"), nil))
		good := l.activation(l.get("", p), l.approve("", p, person).ApprovalID)
		by, data := forge(l, p, good)
		if l.add(by, data) || l.get("", p).State == proposal.StateApplied || len(l.fold.Installed("")) > 0 ||
			len(l.fold.Findings) != 1 {
			t.Errorf("applied %s: %s, %v", name, l.get("", p).State, l.fold.Findings)
			continue
		}
		if f := l.fold.Findings[0]; f.Code != manifest.BrokenReference || *f.Event != l.next-1 ||
			!strings.Contains(f.Message, "is ignored: ") || f.Path != "proposals" {
			t.Errorf("%s: %+v", name, f)
		} else if name == "of an earlier revision" &&
			!strings.Contains(f.Message, "its artifact is not that of the last revision") {
			t.Errorf("%s: %s", name, f.Message)
		}
	}
}

func TestForgedApprovalsDoNotCount(t *testing.T) {
	for name, change := range map[string]func(a *proposal.Approved) event.Actor{
		"by an agent":    func(a *proposal.Approved) event.Actor { return agentNamedAda },
		"in bob's name":  func(a *proposal.Approved) event.Actor { a.Principal = "bob"; return person },
		"of other bytes": func(a *proposal.Approved) event.Actor { a.ArtifactSHA256 = canon.Sum(nil); return person },
		"called other":   func(a *proposal.Approved) event.Actor { a.ApprovalID = id.EventOf("x", "y"); return person },
	} {
		l := newLearning(t)
		p := l.create(1, "", draftOf("test.flow", "one"))
		a := proposal.Approve(proposalStore, l.at(p), consentOf(person, l.get("", p).Last().Artifact.SHA256))
		by := change(&a)
		if l.add(by, a) || len(l.get("", p).Approvals) != 0 {
			t.Errorf("an approval %s counts", name)
		}
	}
}

func TestOtherForgedRecordsChangeNothing(t *testing.T) {
	l := newLearning(t)
	p := l.create(1, "", draftOf("test.flow", "one"))
	other := draftOf("test.flow", "x")
	other.Kind, other.Slot.Kind = proposal.Automation, proposal.Automation
	for name, data := range map[string]func() event.Payload{
		"created again": func() event.Payload {
			return proposal.Create(l.at(p), draftOf("test.flow", "evil"), proposal.Owner{Tenant: "t"}, nil)
		},
		"a revision left out": func() event.Payload {
			return proposal.Revise(l.at(p), 3, draftOf("test.flow", "x"),
				nil)
		},
		"of another kind": func() event.Payload { return proposal.Revise(l.at(p), 2, other, nil) },
		"rolled back": func() event.Payload {
			return proposal.RollBack(l.at(p), draftOf("test.flow", "x").Slot, canon.Digest{})
		},
	} {
		if l.add(person, data()) || l.get("", p).State != proposal.StateDraft || len(l.get("", p).Revisions) != 1 ||
			l.get("", p).Last().Title != "one" {
			t.Errorf("%s: accepted", name)
		}
	}
	l.apply("", p)
	if l.add(person, proposal.RollBack(l.at(p), proposal.Slot{Kind: proposal.WorkflowChainPack, ID: "test.other"},
		canon.Digest{})) || l.texts("") != "one" {
		t.Error("rolled back from another slot")
	}
	// A record with a wrong RestoredSHA256 rolls back all the same.
	if l.add(person, proposal.RollBack(l.at(p), l.get("", p).Last().Slot, canon.Sum(nil))) || l.texts("") != "" ||
		l.get("", p).State != proposal.StateArchived {
		t.Error("a record with a wrong restoredSha256 does not roll back")
	}
}

// A newer version may have rolled something back with a record of an unknown form: then nothing is
// installed. An ignorable record has no such effect.
func TestNothingIsInstalledFromAnUnreadableLog(t *testing.T) {
	for _, tt := range []struct {
		name, was, is string
		blind         bool
	}{
		{"unknown kind", `"proposal_archived"`, `"proposal_suspended"`, true},
		{"unknown member", `"reason":`, `"more":1,"reason":`, true},
		{"to be passed over", `"kind":"proposal_archived"`, `"ignorable":true,"kind":"proposal_praised"`, false},
	} {
		l := newLearning(t)
		p := l.create(1, "", draftOf("test.flow", "one"))
		l.apply("", p)
		seg, err := manifest.EncodeSegment(proposalsLog,
			[]event.Event{event.New(proposalStore.String(), l.next, event.Scope{}, person, 1,
				proposal.Archive(l.at(p)))})
		if err != nil {
			t.Fatal(err)
		}
		line := bytes.Replace(seg.Bytes, []byte(tt.was), []byte(tt.is), 1)
		if bytes.Equal(line, seg.Bytes) || l.visit(line) || l.fold.HasUnknownRecords() != tt.blind ||
			(len(l.fold.Installed("")) == 0) != tt.blind {
			t.Errorf("%s: %v, blind %v, %v", tt.name, l.fold.Findings, l.fold.HasUnknownRecords(), l.fold.Installed(""))
		}
		if f := l.fold.Findings[len(l.fold.Findings)-1]; f.Code != manifest.UnknownEvents {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

// TestApprovalsOfPolicies: a record that states the policy names the principal of an account
// under any name of the actor; and an activation does not name fewer approvals than each of them
// states to be required, or two of one account.
func TestApprovalsOfPolicies(t *testing.T) {
	policy := canon.Sum([]byte("policy"))
	terms := func(account config.Account) proposal.Terms {
		return proposal.Terms{Account: account, PolicyDigest: policy, Quorum: 2}
	}
	for name, tt := range map[string]struct {
		terms   []proposal.Terms // of the approvals that are named
		applies bool
	}{
		"one of one":           {[]proposal.Terms{{PolicyDigest: policy, Quorum: 1}}, true},
		"two accounts":         {[]proposal.Terms{terms("uid:1"), terms("uid:2")}, true},
		"one of two":           {[]proposal.Terms{terms("uid:1")}, false},
		"one account twice":    {[]proposal.Terms{terms("uid:1"), terms("uid:1")}, false},
		"no account twice":     {[]proposal.Terms{terms(""), terms("")}, false},
		"one without a policy": {[]proposal.Terms{terms("uid:1"), {}}, false},
	} {
		l := newLearning(t)
		p := l.create(1, "", draftOf("test.flow", "one"))
		var given []id.Event
		for i, on := range tt.terms {
			c := consentOf(person, l.get("", p).Last().Artifact.SHA256)
			c.Terms = on
			if !on.PolicyDigest.IsZero() {
				c.Principal = []string{"bob", "eve"}[i]
			}
			a := proposal.Approve(proposalStore, l.at(p), c)
			if !l.add(person, a) {
				t.Fatal(l.fold.Findings)
			}
			given = append(given, a.ApprovalID)
		}
		if all := l.get("", p).PolicyApprovals(); all[0].Terms != tt.terms[0] || all[0].Principal != "bob" {
			t.Errorf("%s: %+v", name, all)
		}
		a := l.activation(l.get("", p), given...)
		a.PolicyDigest, a.Principal = policy, "carol"
		if l.add(agentNamedAda, proposal.Apply(l.at(p), a)) != tt.applies {
			t.Errorf("%s: applied %v, %v", name, !tt.applies, l.fold.Findings)
		}
	}
}
