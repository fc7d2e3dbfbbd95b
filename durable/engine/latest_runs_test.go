package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
)

// TestLatestRuns: sessions are read in their order until enough runs are wanted, and not after the time of
// the call; what was read is in the order of the list of runs.
func TestLatestRuns(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var sessions []id.Session
	for range 3 {
		sessions = append(sessions, w.start(twoSteps).Session.SessionID)
	}
	over, stop := context.WithCancel(context.Background())
	stop()
	isAny := func(views.RunSummary) bool { return true }
	isFirst := func(r views.RunSummary) bool { return r.SessionID == sessions[0] }
	for _, c := range []struct {
		ctx    context.Context
		order  []id.Session
		most   int
		wanted func(views.RunSummary) bool
		want   []id.Session
	}{
		{context.Background(), sessions, 5, isAny, []id.Session{sessions[2], sessions[1], sessions[0]}},
		{context.Background(), sessions, 2, isAny, []id.Session{sessions[1], sessions[0]}},
		{context.Background(), sessions, 0, isAny, nil},
		{context.Background(), []id.Session{sessions[1], sessions[0], sessions[2]}, 1, isFirst,
			[]id.Session{sessions[1], sessions[0]}},
		{over, sessions, 5, isAny, nil},
	} {
		var got []id.Session
		for _, r := range lists.LatestRuns(c.ctx, w.process().Lists, c.order, c.most, c.wanted) {
			got = append(got, r.SessionID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("most %d of %v: got %v, want %v", c.most, c.order, got, c.want)
		}
	}
}
