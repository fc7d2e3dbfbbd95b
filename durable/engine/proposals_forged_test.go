package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// laterProposal is of another version of the table.
type laterProposal struct {
	ProposalID id.Proposal `json:"proposalId"`
}

func (laterProposal) Kind() string { return "proposal_doubted" }

func (d laterProposal) DedupeKey(string, event.Scope) string {
	return "proposal_doubted:" + d.ProposalID.String()
}

func (laterProposal) Check(event.Scope) error { return nil }

var laterProposals = event.NewTable("proposals", "storeId", event.Row[laterProposal](event.NoScope),
	event.Row[proposal.Created](event.NoScope),
	event.Row[proposal.Approved](event.NoScope), event.Row[proposal.Applied](event.NoScope))

// append writes to the log of the proposals what no use case would write.
func (r *review) append(table *event.Table, by engine.Caller, data func(next int64) event.Payload) error {
	ctx := context.Background()
	store, err := r.g.Store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return err
	}
	log := manifest.StoreLog(store, table)
	return ports.WithHealthySession(ctx, r.g.Store, r.g.Store, log, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			e := event.New(log.Owner, v.Head.Next, event.Scope{}, by.Actor, by.AtMs, data(v.Head.Next))
			_, err := r.g.Store.Append(ctx, w, v.Head, manifest.Plan{Log: log, Events: []event.Event{e}})
			return err
		})
}

// forger makes records, each by the index that its event will have.
type forger func(r *review, p learning.Proposed, ada engine.Caller) []func(int64) event.Payload

func forgedAt(p learning.Proposed, next int64) proposal.At {
	return proposal.At{Proposal: p.Proposal.ID, Ordinal: next, Reason: "forged"}
}

func actOf(p learning.Proposed, by engine.Caller) proposal.Activation {
	return proposal.Activation{Mode: proposal.ApprovalGate, Principal: by.Actor.Ref, SHA256: p.About.ArtifactSHA256,
		Slot: p.About.Slot, Version: p.About.Version}
}

func storeOf(r *review) id.Store {
	s, err := r.g.Store.StoreID(context.Background(), ports.ReadOnly)
	must(r.T, err)
	return s
}

// forgers are the sequences of records to append.
var forgers = map[string]forger{
	"an approval without an approver": func(r *review, p learning.Proposed,
		ada engine.Caller) []func(int64) event.Payload {
		return []func(int64) event.Payload{func(next int64) event.Payload {
			a := actOf(p, ada)
			a.Approvals = []id.Event{id.EventOf("x", "y")}
			return proposal.Apply(forgedAt(p, next), a)
		}}
	},
	"an approval of other bytes": func(r *review, p learning.Proposed, ada engine.Caller) []func(int64) event.Payload {
		var given id.Event
		return []func(int64) event.Payload{func(next int64) event.Payload {
			a := proposal.Approve(storeOf(r), forgedAt(p, next),
				proposal.Consent{Seen: canon.Sum([]byte("{}")), Principal: ada.Actor.Ref, Role: "reviewer"})
			given = a.ApprovalID
			return a
		}, func(next int64) event.Payload {
			a := actOf(p, ada)
			a.Approvals = []id.Event{given}
			return proposal.Apply(forgedAt(p, next), a)
		}}
	},
	"other bytes than the last revision": func(r *review, p learning.Proposed,
		ada engine.Caller) []func(int64) event.Payload {
		return []func(int64) event.Payload{func(next int64) event.Payload {
			a := actOf(p, ada)
			a.Override, a.SHA256 = true, canon.Sum([]byte("{}"))
			return proposal.Apply(forgedAt(p, next), a)
		}}
	},
	"another place": func(r *review, p learning.Proposed, ada engine.Caller) []func(int64) event.Payload {
		return []func(int64) event.Payload{func(next int64) event.Payload {
			a := actOf(p, ada)
			a.Override, a.Slot.ID = true, "test.other"
			return proposal.Apply(forgedAt(p, next), a)
		}}
	},
	"in place of a file": func(r *review, p learning.Proposed, ada engine.Caller) []func(int64) event.Payload {
		return []func(int64) event.Payload{func(next int64) event.Payload {
			a := actOf(p, ada)
			a.Override, a.Replaces = true, replacedText("old")
			return proposal.Apply(forgedAt(p, next), a)
		}}
	},
	"after a rejection": func(r *review, p learning.Proposed, ada engine.Caller) []func(int64) event.Payload {
		return []func(int64) event.Payload{func(next int64) event.Payload { return proposal.Reject(forgedAt(p, next)) },
			func(next int64) event.Payload {
				a := actOf(p, ada)
				a.Override = true
				return proposal.Apply(forgedAt(p, next), a)
			}}
	},
	"a record that was copied": func(r *review, p learning.Proposed, ada engine.Caller) []func(int64) event.Payload {
		return []func(int64) event.Payload{func(next int64) event.Payload {
			a := actOf(p, ada)
			a.Override = true
			return proposal.Apply(forgedAt(p, next+7), a)
		}}
	},
}

// TestForgedRecordsInstallNothing: records with correct digests, in sequences that no use case
// writes. Nothing comes into use, nothing is announced, and verification reports them.
func TestForgedRecordsInstallNothing(t *testing.T) {
	t.Parallel()
	for name, forge := range forgers {
		r := newReview(t)
		p := r.propose(asWorkflow(t, "test.flow", "one"))
		ada := r.person("ada")
		for _, data := range forge(r, p, ada) {
			must(t, r.append(proposal.Table, ada, data))
		}
		if got := r.inUse(""); len(got) > 0 {
			t.Errorf("%s: in use %q", name, got)
		}
		events, err := r.g.ProposalEvents(context.Background(), "")
		if err != nil || len(events.Events) != 1 {
			t.Errorf("%s: %+v, %v", name, events, err)
		}
		v, err := r.g.Verify(context.Background())
		if err != nil || v.OK ||
			!slices.ContainsFunc(v.Findings,
				func(f manifest.Finding) bool { return f.Code == manifest.BrokenReference && f.Path == "proposals" }) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}
