package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

const proposalsLong = `What was learned from runs is proposed here: a workflow or a pack of them, a prompt
template, an automation, an agent pack. A proposal has no effect on anything until it is
applied, which people with the role for it approve first. What it brings is installed
byte for byte as it was reviewed, and can be rolled back.

Anybody may propose, agents included. Approving is a person's, at a terminal.`

func newProposalsCommand(a *app) *cobra.Command {
	return newGroup("proposals", groupWork, "Propose, review and install what was learned", proposalsLong,
		newProposalsCreateCommand(a), newProposalsListCommand(a), newProposalsGetCommand(a),
		newProposalsReviseCommand(a),
		newProposalsApproveCommand(a), newProposalsApplyCommand(a), newProposalsRejectCommand(a),
		newProposalsArchiveCommand(a),
		newProposalsRollbackCommand(a), newProposalsInstalledCommand(a), newProposalsEventsCommand(a))
}

// tenant is what the store is called: one store is one tenant (R13).
func (a *app) tenant() string {
	if a.common.tenant != "" {
		return a.common.tenant
	}
	if name := filepath.Base(a.common.store); a.common.store != "" && isTenantName(name) {
		return name
	}
	return defaultTenant
}

// atTerminal reports that a person sits here: nothing answers for them, and they see
// what they are asked.
func (a *app) atTerminal() bool {
	return a.actor().Kind == event.Human && a.isTerminal(a.errOut)
}

// likely are the workflows that can be named from here, for a comparison. What cannot be
// found is no reason to refuse a proposal.
func (a *app) likely(cmd *cobra.Command, kind proposal.Kind) (out []similar.Candidate) {
	if kind != proposal.WorkflowChainPack {
		return nil
	}
	c, err := a.catalog(cmd.Context())
	if err != nil {
		return nil
	}
	for _, e := range c.Entries {
		if v, ok := sourceValue(e); ok {
			out = append(out, similar.Candidate{Ref: "workflow:" + e.ID, Digest: canon.Sum(v.JCS()),
				Signature: similar.Of(v)})
		}
	}
	return out
}

// sourceValue is a workflow's source as JSON; ok is false for one in another language,
// and for what a proposal brought: that is compared by its log.
func sourceValue(e catalog.Entry) (v canon.Value, ok bool) {
	if e.ID == "" || recorded(e.Kind) == event.SourcePlugin {
		return v, false
	}
	v, err := canon.Parse(e.Data)
	return v, err == nil
}

// proposalAnswer prints the wire object itself, and for people what was done.
func (a *app) proposalAnswer(done engine.Proposed, people func(*page)) error {
	return a.answer("proposal", done.Proposal, func(p *page) {
		people(p)
		p.redactions(done.Redacted)
	})
}
