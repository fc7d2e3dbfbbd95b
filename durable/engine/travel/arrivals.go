package travel

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Arrivals is what an import adds to a session of this store, as the bundle claims it: any program can write one.
// Decisions among it do not count here, and the steps that were advanced stay advanced.
type Arrivals struct {
	// FromEvent is the index of the first event that is added, Events how many are.
	FromEvent int64 `json:"fromEvent"`
	Events    int64 `json:"events"`
	// Actors are by the number of their events, Steps and Decisions in the order of the log, at most
	// limits.ImportRunsShownMax of each.
	Actors    []ArrivedActor    `json:"actors"`
	Steps     []ArrivedStep     `json:"steps"`
	Decisions []ArrivedDecision `json:"decisions"`
	// Annotations is how many records of annotations are added.
	Annotations int64 `json:"annotations"`
}

// ArrivedActor is an actor with the number of its events.
type ArrivedActor struct {
	event.Actor
	Events int64 `json:"events"`
}

// ArrivedStep is a step that was advanced.
type ArrivedStep struct {
	RunID  id.Run      `json:"runId"`
	StepID string      `json:"stepId,omitzero"`
	By     event.Actor `json:"by"`
	AtMs   int64       `json:"atMs"`
}

// ArrivedDecision is a decision of a person, which does not count here.
type ArrivedDecision struct {
	RunID    id.Run             `json:"runId"`
	StepID   string             `json:"stepId,omitzero"`
	Decision event.DecisionWord `json:"decision"`
	By       string             `json:"by"`
	Reason   string             `json:"reason,omitzero"`
	AtMs     int64              `json:"atMs"`
}

// describeArrivals collects who did what, from the bundle.
func (m *importer) describeArrivals(ctx context.Context, x extension) (out Arrivals, err error) {
	out = Arrivals{FromEvent: x.own.Next, Events: m.head.Next - x.own.Next, Actors: []ArrivedActor{}, Steps: []ArrivedStep{},
		Decisions: []ArrivedDecision{}}
	r := session.NewReader(session.ReadOnly(m.src))
	h := r.NewHistory(m.src.Session())
	if _, err := h.Read(ctx); err != nil {
		return out, err
	}
	steps := stepNames{ctx: ctx, r: r, fold: h.Fold}
	actors := map[event.Actor]int64{}
	_, err = m.src.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(m.src.Session())},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			if seg.First < x.own.Next {
				return nil
			}
			for _, e := range seg.Events {
				actors[e.Actor]++
				out.add(e, steps)
			}
			return nil
		}))
	for a, n := range actors {
		out.Actors = append(out.Actors, ArrivedActor{a, n})
	}
	sorting.By(out.Actors, func(a, b ArrivedActor) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	out.Actors = out.Actors[:min(len(out.Actors), limits.ImportRunsShownMax)]
	for _, side := range x.sides {
		if side.name == annotationsName {
			out.Annotations = side.next - side.at.Next
		}
	}
	return out, err
}

// add adds what one event did.
func (a *Arrivals) add(e event.Event, steps stepNames) {
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		if p.Outcome.Kind == event.Advanced && len(a.Steps) < limits.ImportRunsShownMax {
			a.Steps = append(a.Steps, ArrivedStep{RunID: e.Scope.RunID, StepID: steps.of(e.Scope), By: e.Actor, AtMs: e.TimestampMs})
		}
	case event.NodeOutputAppended:
		if p.Payload.ArtifactKind != event.DecisionKind && p.Payload.ArtifactKind != event.ApprovalKind ||
			len(a.Decisions) == limits.ImportRunsShownMax {
			return
		}
		d := ArrivedDecision{RunID: e.Scope.RunID, StepID: steps.of(e.Scope), Decision: event.Approved,
			By: cmp.Or(e.Actor.Ref, string(e.Actor.Kind)), AtMs: e.TimestampMs}
		if p.Decision != nil {
			d.Decision, d.By, d.Reason = p.Decision.Decision, p.Decision.By, p.Decision.Reason
		}
		// An approval is written beside the decision of the same moment.
		if n := len(a.Decisions); n > 0 && a.Decisions[n-1] == d {
			return
		}
		a.Decisions = append(a.Decisions, d)
	}
}

// stepNames finds the step of a node.
type stepNames struct {
	ctx  context.Context
	r    *session.Reader
	fold *runs.Fold
}

// of returns the id of the step that was pending at a node, "" where that cannot be read.
func (s stepNames) of(at event.Scope) string {
	run := s.fold.Runs[at.RunID]
	if run == nil {
		return ""
	}
	n := run.Node(at.NodeID)
	if n == nil {
		return ""
	}
	state, err := s.r.State(s.ctx, n)
	if err != nil || state.Pending == nil || state.Pending.Step == nil {
		return ""
	}
	return state.Pending.Step.StepID
}
