package learning

import (
	"context"
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

// proposalsLong is what 'waybill proposals --help' prints above the usage.
const proposalsLong = `What was learned from runs is proposed here: a workflow or a pack of them, a prompt
template, an automation, an agent pack. A proposal has no effect on anything until it is
applied, which people with the role for it approve first. What it brings is installed
byte for byte as it was reviewed, and can be rolled back.

Anybody may propose, agents included. Approving is a person's, at a terminal.`

// NewProposals makes the command "proposals" with its subcommands. Anything may
// be proposed by agents; approving needs a person at a terminal, which the
// engine checks.
func NewProposals(a *cli.App) *cobra.Command {
	return cli.NewGroup("proposals", cli.GroupWork, "Propose, review and install what was learned", proposalsLong,
		newProposalsCreate(a), newProposalsList(a), newProposalsGet(a),
		newProposalsRevise(a),
		newProposalsApprove(a), newProposalsApply(a), newProposalsReject(a),
		newProposalsArchive(a),
		newProposalsRollback(a), newProposalsInstalled(a), newProposalsEvents(a))
}

// atTerminal reports that a person is at a terminal: stdin is one, and so is
// stderr, where questions are shown. It is a fact of the call and no claim, so
// that no flag can set it.
func atTerminal(a *cli.App) bool {
	return a.Actor().Kind == event.Human && a.IsTerminal(a.Err)
}

// likely are the workflows that can be named from here, to compare a proposed
// one with. It is nil for other kinds, and where the catalog cannot be read: a
// comparison that is missing is no reason to refuse a proposal. Similarity is
// judged by the structure of the sources.
func likely(a *cli.App, cmd *cobra.Command, kind proposal.Kind) (out []similar.Candidate) {
	if kind != proposal.WorkflowChainPack {
		return nil
	}
	// Workflows of all sources can be similar, also those that do not
	// validate.
	c, err := a.Catalog(cmd.Context())
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

// sourceValue is the source of a workflow as JSON; ok is false for a source in
// YAML and for an installed one. Installed ones are compared by their proposals
// instead, which name them for people.
func sourceValue(e catalog.Entry) (v canon.Value, ok bool) {
	if e.ID == "" || cli.Recorded(e.Kind) == event.SourcePlugin {
		return v, false
	}
	v, err := canon.Parse(e.Data)
	return v, err == nil
}

// changeProposal is a whole command that changes one proposal: it opens the
// store, calls it, and prints the proposal itself as the document, in the form
// of RFC 0096. For people, show prints what was done, and below it are the
// places where secrets were removed.
func changeProposal(a *cli.App, cmd *cobra.Command, call func(context.Context, *cli.Store) (engine.Proposed, error),
	show func(*page.Page, engine.Proposed)) error {
	o, err := a.Open(cmd.Context())
	if err != nil {
		return err
	}
	defer o.Close()
	done, err := call(cmd.Context(), o)
	if err != nil {
		return err
	}
	return answerProposal(a, done, func(p *page.Page) { show(p, done) })
}

// answerProposal prints a proposal that was changed. show prints what was done,
// for people.
func answerProposal(a *cli.App, done engine.Proposed, show func(*page.Page)) error {
	return a.Answer("proposal", done.Proposal, func(p *page.Page) {
		show(p)
		showRedactions(p, done.Redacted)
	})
}
