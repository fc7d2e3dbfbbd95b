package engine

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections"
)

// History is the document "timeline": what happened in a run, in words.
type History struct {
	RunID    id.Run               `json:"runId"`
	Title    string               `json:"title"`
	Health   manifest.Health      `json:"health"`
	Moments  []projections.Moment `json:"moments"`
	Findings []manifest.Finding   `json:"findings"`
}

// Timeline tells what happened in a run, by id, prefix or @last. A run whose
// workflow or snapshots cannot be read is told without the titles of its steps.
func (g *Engine) Timeline(ctx context.Context, ref string) (History, error) {
	events, v, err := g.Events(ctx, ref)
	if err != nil {
		return History{}, err
	}
	out := History{Health: v.Health, Findings: append([]manifest.Finding{}, v.Findings...)}
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
	out.Title = started.Title
	obs := &observer{g: g}
	w, err := obs.workflow(ctx, started.WorkflowHash)
	if err == nil && out.Title == "" {
		out.Title = cmp.Or(w.Name(), started.WorkflowID)
	}
	known := map[id.Node]projections.Place{}
	out.Moments = projections.Timeline(events, func(n id.Node) projections.Place {
		p, ok := known[n]
		if !ok {
			p = obs.timelinePlace(ctx, w, refs[n])
			known[n] = p
		}
		return p
	})
	out.Health = obs.health(out.Health)
	return out, nil
}

// Pinned is the workflow version with a hash that some run of the store is pinned to.
func (g *Engine) Pinned(ctx context.Context, hash canon.Digest) (compile.Compiled, error) {
	return g.workflow(ctx, hash)
}
