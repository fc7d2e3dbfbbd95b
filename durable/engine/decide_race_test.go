package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// TestRacesAboutAProposal: two processes and twenty calls at a time.
func TestRacesAboutAProposal(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	principals := map[string]any{}
	for i := range 20 {
		principals[fmt.Sprintf("p%d", i)] = map[string]any{"roles": []string{"reviewer"}, "uid": 100 + i}
	}
	text, err := canon.Marshal(principals)
	must(t, err)
	r.configure("principals", string(text))
	about := func(i int, p learning.Proposed) learning.DecideRequest {
		req := aboutProposal(p, "", "r")
		req.Account = config.AccountOf(100 + i)
		return req
	}
	engines := []*enginetest.Engine{r.another(), r.another()}
	var callers []engine.Caller
	for i := range 20 {
		callers = append(callers, r.person(fmt.Sprintf("p%d", i)))
	}
	all := func(call func(i int, g *enginetest.Engine, by engine.Caller)) {
		var done sync.WaitGroup
		for i, by := range callers {
			done.Go(func() { call(i, engines[i%2], by) })
		}
		done.Wait()
	}
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	// Half of them revise, half approve the revision that they were shown.
	shown := onScreen(r.g, about(0, p))
	all(func(i int, g *enginetest.Engine, by engine.Caller) {
		var err error
		if i%4 < 2 {
			_, err = g.ApproveProposal(ctx, by, about(i, p), shown)
		} else {
			req := asWorkflow(t, "test.flow", by.Actor.Ref)
			req.Presence = about(i, p).Presence
			_, err = g.ReviseProposal(ctx, by, p.Proposal.ID.String(), req)
		}
		if err != nil && !fault.Is(err, fault.ProposalChanged) {
			t.Error(err)
		}
	})
	d := r.details(p)
	if len(d.Revisions) != 11 || d.Gate.Have != 0 {
		t.Errorf("%d revisions, %+v", len(d.Revisions), d.Gate)
	}
	for _, a := range d.Approvals {
		if a.ArtifactSHA256 != shown.Artifact || a.Void == "" {
			t.Errorf("%+v", a)
		}
	}
	// All approve it, and then all apply it: each approval counts, and one call applies.
	now := d.Shown()
	all(func(i int, g *enginetest.Engine, by engine.Caller) {
		if _, err := g.ApproveProposal(ctx, by, about(i, p), now); err != nil {
			t.Error(err)
		}
	})
	if d := r.details(p); d.Gate.Have != 20 {
		t.Errorf("%+v", d.Gate)
	}
	var mu sync.Mutex
	applied := 0
	all(func(i int, g *enginetest.Engine, by engine.Caller) {
		_, err := g.ApplyProposal(ctx, by, learning.ApplyRequest{DecideRequest: about(i, p)})
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			applied++
		} else if !fault.Is(err, fault.ProposalState) {
			t.Error(err)
		}
	})
	moves := 0
	for _, m := range r.details(p).History {
		if m.Move == proposal.MoveApply {
			moves++
		}
	}
	if applied != 1 || moves != 1 || len(r.inUse("")) != 1 {
		t.Errorf("%d calls answered so, %d are on record, in use %q", applied, moves, r.inUse(""))
	}
	if v, err := r.g.Verify(ctx); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}
