package views

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// History is the document "timeline": the events of a run, described in words.
type History struct {
	RunID  id.Run          `json:"runId"`
	Title  string          `json:"title"`
	Health manifest.Health `json:"health"`
	// Partial reports that the session is damaged: these are the facts of its valid beginning.
	Partial  bool                 `json:"partial,omitzero"`
	Moments  []runs.TimelineEntry `json:"moments"`
	Findings []manifest.Finding   `json:"findings"`
}

// Timeline describes the events of a run in order. ref is a run id, a unique
// prefix of one, or @last. If the workflow or a snapshot cannot be read, steps
// appear without their titles; the rest of the history is still shown.
func (o *Views) Timeline(ctx context.Context, ref string) (History, error) {
	at, events, v, err := o.eventsOf(ctx, ref)
	if err != nil {
		return History{}, err
	}
	out := History{Health: v.Health, Partial: v.Damaged(), Findings: append([]manifest.Finding{}, v.Findings...)}
	var started event.RunStarted
	refs := map[id.Node]canon.Digest{}
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.RunStarted:
			out.RunID, started = e.Scope.RunID, p
		case event.NodeCreated:
			refs[e.Scope.NodeID] = p.SnapshotRef
		}
	}
	out.Title = started.Name()
	obs := &observer{v: o}
	w, err := obs.workflow(ctx, started.WorkflowHash)
	if err == nil && out.Title == "" {
		out.Title = cmp.Or(w.Name(), started.WorkflowID)
	}
	// Many events belong to one node; each snapshot is read once.
	known := map[id.Node]runs.StepInfo{}
	out.Moments = runs.Timeline(events, func(n id.Node) runs.StepInfo {
		p, ok := known[n]
		if !ok {
			p = obs.timelinePlace(ctx, w, at.Run.Node(n), refs[n])
			known[n] = p
		}
		return p
	})
	out.Health = obs.health(out.Health)
	return out, nil
}
