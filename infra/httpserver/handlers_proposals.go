package httpserver

import (
	"context"
	"net/http"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
)

// proposalID returns the id of the proposal in the path.
func (c *call) proposalID() (string, error) {
	id, ok := pathValue(c.r, "proposalId")
	if !ok {
		return "", fault.New(fault.ProposalNotFound, "no proposal has this id")
	}
	return id, nil
}

func listProposals(c *call) (reply, error) {
	state, kind := c.query["state"], c.query["kind"]
	if _, has := c.query["state"]; has && !slices.Contains(proposal.States(), proposal.State(state)) {
		return reply{}, invalid("the parameter state is not one of " + words(proposal.States()))
	}
	if _, has := c.query["kind"]; has && !slices.Contains(proposal.Kinds(), proposal.Kind(kind)) {
		return reply{}, invalid("the parameter kind is not one of " + words(proposal.Kinds()))
	}
	all, err := c.host.Proposals(c.r.Context(), state, kind)
	return reply{status: http.StatusOK, doc: proposalList{all}}, err
}

func getProposal(c *call) (reply, error) {
	id, err := c.proposalID()
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Proposal(c.r.Context(), id)
	return reply{status: http.StatusOK, doc: out}, err
}

func reviseProposal(c *call) (reply, error) {
	id, err := c.proposalID()
	if err == nil {
		err = checkRevision(c.body)
	}
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Revise(c.r.Context(), c.by(), id, c.body)
	return reply{status: http.StatusOK, doc: out}, placed(err)
}

// checkRevision refuses what is no revision: other members, values of another type, none at all.
func checkRevision(patch canon.Value) error {
	kinds := map[string]canon.Kind{"title": canon.String, "rationale": canon.String, "artifact": canon.Object}
	if patch.Kind() != canon.Object || patch.Len() == 0 {
		return invalid("a revision is an object with title, rationale or artifact")
	}
	if err := canon.Decode(patch, &revision{}); err != nil {
		return malformedBody(err)
	}
	for name, kind := range kinds {
		if v, has := patch.Get(name); has && v.Kind() != kind {
			return invalid(name+" is not "+kind.String()).with("pointer", "/"+name)
		}
	}
	return nil
}

func applyProposal(c *call) (reply, error) {
	id, err := c.proposalID()
	if err == nil {
		err = c.decode(&noMembers{})
	}
	if err != nil {
		return reply{}, err
	}
	out, pending, err := c.host.Apply(c.r.Context(), c.by(), id)
	if err == nil && pending != nil {
		return reply{status: http.StatusAccepted, doc: pendingAnswer{*pending}}, nil
	}
	return reply{status: http.StatusOK, doc: out}, err
}

func rejectProposal(c *call) (reply, error) { return c.endProposal(c.host.Reject) }

func archiveProposal(c *call) (reply, error) { return c.endProposal(c.host.Archive) }

// endProposal performs a use case that takes a reason.
func (c *call) endProposal(do func(_ context.Context, by event.Actor, id, reason string) (proposal.Proposal,
	error)) (reply, error) {
	var in reasonBody
	id, err := c.proposalID()
	if err == nil {
		err = c.decode(&in)
	}
	if err != nil {
		return reply{}, err
	}
	out, err := do(c.r.Context(), c.by(), id, in.Reason)
	return reply{status: http.StatusOK, doc: out}, err
}
