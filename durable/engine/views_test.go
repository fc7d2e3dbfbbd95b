package engine_test

import (
	"context"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/runs"
)

// timelineOf returns a whole history.
func timelineOf(g *enginetest.Engine, ref string) (views.History, error) {
	var moments []runs.TimelineEntry
	h, err := views.EachMoment(context.Background(), g.Views, ref, func(m runs.TimelineEntry) error {
		moments = append(moments, m)
		return nil
	})
	h.Moments = moments
	return h, err
}

// nextFacts returns the facts since the last call.
func nextFacts(f *views.Follower) (all []views.Fact, err error) {
	_, err = f.Next(context.Background(), func(facts []views.Fact) error {
		all = append(all, facts...)
		return nil
	})
	return all, err
}
