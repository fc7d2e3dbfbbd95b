//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
)

// TestForgedRecordsOfSigners: records that are written by hand, with a signature that a signer made, install nothing that the
// settings in force did not permit that signer: one of two approvals, and an override without the scope.
func TestForgedRecordsOfSigners(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(of id.Store, at proposal.Place, policy canon.Digest, digest canon.Digest, slot proposal.Slot,
		version string, next int64) []proposal.Record{
		"one of two approvals": func(of id.Store, at proposal.Place, policy, digest canon.Digest, slot proposal.Slot, version string,
			next int64) []proposal.Record {
			here := proposal.At{Proposal: at.Proposal, Ordinal: next, Reason: proposal.NoReason}
			given := signedBy(proposal.ApprovalSubject(at, policy, digest, proposal.Replaces{}, proposal.NoReason))
			a := proposal.Approve(of, here, proposal.Consent{Seen: digest, Principal: "ada", Role: "reviewer",
				Terms: proposal.Terms{PolicyDigest: policy, Quorum: 1}, Given: given})
			here.Ordinal++
			return []proposal.Record{a, proposal.Apply(here, proposal.Activation{Mode: proposal.ApprovalGate, Approvals: []id.Event{a.ApprovalID},
				PolicyDigest: policy, Principal: "ada", SHA256: digest, Slot: slot, Version: version})}
		},
		"an override without the scope": func(_ id.Store, at proposal.Place, policy, digest canon.Digest, slot proposal.Slot, version string,
			next int64) []proposal.Record {
			given := signedBy(proposal.ActivationSubject(at, policy, digest, proposal.Replaces{}, "r"))
			return []proposal.Record{proposal.Apply(proposal.At{Proposal: at.Proposal, Ordinal: next, Reason: "r"},
				proposal.Activation{Mode: proposal.ApprovalGate, Override: true, PolicyDigest: policy, Principal: "ada", SHA256: digest,
					Slot: slot, Version: version, Given: given})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withSigners(t, bothKeys())
			p.by(adaPlain, "config", "set", "principals", `{"ada":{"roles":["reviewer"],"keys":["`+adaPlain.Fingerprint()+
				`"]},"bob":{"roles":["reviewer"],"keys":["`+bobPlain.Fingerprint()+`"]}}`)
			p.by(adaPlain, "config", "set", "proposalsQuorum", "2")
			p.writeFile("check.json", checkProposal)
			of, err := id.ParseProposal(p.createProposal("check.json"))
			if err != nil {
				t.Fatal(err)
			}
			var payload struct {
				Store            string
				Policy, Artifact canon.Digest
			}
			if err := json.Unmarshal([]byte(p.payload("proposals", "approve", of.String())), &payload); err != nil {
				t.Fatal(err)
			}
			store, err := id.ParseStore(payload.Store)
			if err != nil {
				t.Fatal(err)
			}
			p.appendForged(proposal.LogOf, func(owner string, next int64) (out []event.Event) {
				for i, r := range forge(store, proposal.Place{Store: payload.Store, Proposal: of}, payload.Policy, payload.Artifact,
					proposal.Slot{Kind: "workflow-chain-pack", ID: "team.check"}, "1.0.0", next) {
					out = append(out, event.New(owner, next+int64(i), event.Scope{}, event.Actor{Kind: event.Human, Ref: "ada"},
						time.Now().UnixMilli(), r))
				}
				return out
			})
			if list, _, _ := p.piped("", "workflows", "list"); strings.Contains(list, "team.check") {
				t.Error("a proposal is in use")
			}
			p.runPiped(5, "verify", "--signers", "allowed")
		})
	}
}

// signedBy is the consent of ada to a subject.
func signedBy(s consent.Subject) consent.Given {
	payload := s.Payload(time.Now().UnixMilli(), strings.Repeat("0", 32))
	return consent.Given{Signed: payload, Signature: adaPlain.Armoured(payload.JCS(), consent.Namespace)}
}
