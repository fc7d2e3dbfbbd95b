package filestore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Side logs and logs of the store are written by the same code as a session's own log. Their first
// append creates a directory elsewhere, and their events refer to other objects.
const (
	firstAnnotation = "the first annotation"
	laterAnnotation = "a later annotation"
	firstProposal   = "the first proposal"
	laterProposal   = "a later proposal"
)

// sideLimit is smaller than crashLimit: groups are torn in the same ways in every log.
const sideLimit = 512

// annotationPlan returns plans for the annotations of a fixture's session.
func annotationPlan(fixture *suite.SessionFixture) func(next int64) manifest.Plan {
	log := manifest.SessionSide(fixture.Session, feedback.Table)
	return func(next int64) manifest.Plan {
		request := feedback.Request{Create: feedback.Create{Signal: feedback.Correction("say please"),
			Note: "it was rude"}}
		data := feedback.Record(id.NewAnnotation(suite.Seed(int(next)+100)), request,
			feedback.Location{NodeID: id.RootNode(fixture.RunID), StepID: "first"})
		return manifest.Plan{Log: log, Events: []event.Event{
			event.New(log.Owner, next, event.Scope{RunID: fixture.RunID}, event.Actor{Kind: event.Human, Ref: "ada"},
				1_760_000_000_000+next, data)}}
	}
}

// proposalPlan returns plans for a store's proposals, each with its artifact.
func proposalPlan(store id.Store) func(next int64) manifest.Plan {
	log := manifest.StoreLog(store, proposal.Table)
	return func(next int64) manifest.Plan {
		artifact := manifest.Object{Kind: manifest.Artifact, Bytes: fmt.Appendf(nil, `{"templateId":"t%d"}`, next)}
		draft := proposal.Draft{Kind: proposal.PromptTemplate, Artifact: proposal.Artifact{SHA256: artifact.Ref(),
			ByteLength: int64(len(artifact.Bytes))},
			Slot: proposal.Slot{Kind: proposal.PromptTemplate, ID: fmt.Sprintf("t%d", next)}}
		data := proposal.Create(proposal.At{Proposal: id.NewProposal(suite.Seed(int(next) + 100)), Ordinal: next},
			draft, proposal.Owner{Tenant: "local"}, nil)
		return manifest.Plan{Log: log, Objects: []manifest.Object{artifact}, Events: []event.Event{
			event.New(log.Owner, next, event.Scope{}, event.Actor{Kind: event.Human, Ref: "ada"}, 1_760_000_000_000+
				next, data)}}
	}
}

// sideScenarios are appends to those logs, on a disk with a session.
func sideScenarios(t *testing.T, started *crashfs.FS, fixture *suite.SessionFixture) (out []scenario) {
	t.Helper()
	s, err := process(started.Reopen(), 2)
	fatal(t, err)
	store, err := s.StoreID(context.Background(), ports.ReadOnly)
	fatal(t, err)
	for _, kind := range []struct {
		first, later string
		plan         func(next int64) manifest.Plan
	}{
		{firstAnnotation, laterAnnotation, annotationPlan(fixture)},
		{firstProposal, laterProposal, proposalPlan(store)},
	} {
		disk, before := started.Reopen(), manifest.Head{}
		for _, name := range []string{kind.first, "", kind.later} {
			base, plan := disk.Reopen(), kind.plan(before.Next)
			after := commitTo(t, disk, plan)
			if name != "" {
				out = append(out, scenario{name: name, base: base, plan: plan, before: before, after: after,
					further: kind.plan, boot: "boot", limit: sideLimit})
			}
			before = after
		}
	}
	return out
}
