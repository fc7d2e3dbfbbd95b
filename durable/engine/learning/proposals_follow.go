package learning

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/proposals"
)

// ProposalFollower reads the notifications about proposals that a client of one run gets: of those that were
// made from the run, and of those that name no run. It is for one goroutine at a time.
type ProposalFollower struct {
	l         *Learning
	run       id.Run
	workspace string
	fold      *proposals.Log
	// since is the index behind the last record that was read.
	since int64
}

// FollowProposals begins to follow behind the current notifications. Where proposals are turned off there are
// none.
func (l *Learning) FollowProposals(ctx context.Context, workspace string, run id.Run) (*ProposalFollower, error) {
	f := &ProposalFollower{l: l, run: run, workspace: workspace}
	_, err := f.Next(ctx)
	return f, err
}

// Next returns the notifications since the last call. Of a damaged log it returns those before the damage.
func (f *ProposalFollower) Next(ctx context.Context) ([]ProposalEvent, error) {
	if _, err := f.l.settings.Provided(ctx, config.Proposals, config.Config.Proposals); err != nil {
		if fault.Is(err, fault.CapabilityNotProvided) {
			return nil, nil
		}
		return nil, err
	}
	store, err := f.l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return nil, err
	}
	log := proposal.LogOf(store)
	first := f.fold == nil
	if first {
		f.fold = proposals.NewLog(log)
	}
	var recorded []event.Event
	_, err = ports.Continue(ctx, f.l.store, ports.ReadRequest{Log: log, From: f.fold.Head}, func(from manifest.Head) ports.Visitor {
		if recorded = nil; from.IsZero() {
			f.fold = proposals.NewLog(log)
		}
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if !first { // what was recorded before is not a notification
				recorded = append(recorded, seg.Events...)
			}
			return f.fold.Visit(seg, head)
		})
	})
	if err != nil {
		return nil, err
	}
	var out []ProposalEvent
	for _, e := range recorded {
		// A log that was read again from its beginning has what was passed over before.
		if row, ok := proposalEventOf(e); ok && e.Index >= f.since && f.concerns(row, e.Index) {
			out = append(out, row)
		}
	}
	f.since = max(f.since, f.fold.Head.Next)
	return out, nil
}

// concerns reports a notification about a proposal of the workspace that was made from the run, or from none,
// and that the fold accepted.
func (f *ProposalFollower) concerns(row ProposalEvent, index int64) bool {
	one, err := f.fold.Find(f.workspace, row.ProposalID.String())
	if err != nil {
		return false
	}
	of := one.Provenance.SourceRunIDs
	return (len(of) == 0 || slices.Contains(of, f.run)) &&
		slices.ContainsFunc(one.History, func(m proposals.Move) bool { return m.EventIndex == index })
}
