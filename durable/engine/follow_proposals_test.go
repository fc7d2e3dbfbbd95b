package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// TestProposalsAreFollowedForARun: those that were made from the run or from none, of the workspace, from now
// on, each once; none where proposals are turned off.
func TestProposalsAreFollowedForARun(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newReview(t)
	mine, other := r.start(twoSteps).Session.RunID, r.start(twoSteps).Session.RunID
	from := func(runs ...id.Run) string {
		req := asWorkflow(t, fmt.Sprintf("test.w%d", r.made), "x")
		for _, run := range runs {
			req.FromRuns = append(req.FromRuns, run.String())
		}
		return r.propose(req).Proposal.ID.String()
	}
	from(mine)
	f, err := r.another().FollowProposals(ctx, "", mine)
	must(t, err)
	next := func() string {
		t.Helper()
		events, err := f.Next(ctx)
		must(t, err)
		var out []string
		for _, e := range events {
			if e.AtMs == 0 || strings.Contains(string(e.Payload.JCS()), "null") || !e.Payload.At("/type").IsNull() || !e.Payload.At("/atMs").IsNull() {
				t.Errorf("%+v %s", e, e.Payload.JCS())
			}
			out = append(out, e.Type+" "+e.Payload.At("/proposalId").Text())
		}
		return strings.Join(out, ", ")
	}
	if got := next(); got != "" {
		t.Errorf("what was recorded before: %s", got)
	}
	a, none, b := from(mine, other), from(), from(other)
	hidden := asWorkflow(t, "test.hidden", "x")
	hidden.Workspace = "blue"
	r.propose(hidden)
	want := proposal.WireCreatedName + " " + a + ", " + proposal.WireCreatedName + " " + none
	if got := next(); got != want {
		t.Errorf("%s, want %s, without %s", got, want, b)
	}
	if got := next(); got != "" {
		t.Errorf("again: %s", got)
	}
	r.configure("proposals", "off")
	if got := next(); got != "" {
		t.Error(got)
	}
}
