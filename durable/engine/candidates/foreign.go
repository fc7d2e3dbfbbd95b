package candidates

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// readOnlyCandidate builds the row of a ranked run with facts of another program
// or a newer version (docs/design.md#foreign-stores). It has no token: a call with
// one would be refused. Nothing is written, and no key is needed.
func (o Offers) readOnlyCandidate(ctx context.Context, r resume.Ranked) (c Candidate, err error) {
	h := o.answers.NewHistory(r.Session)
	v, err := h.ReadSaved(ctx)
	if err != nil {
		return c, err
	}
	run := h.Fold.Runs[r.Run]
	if run == nil || v.Health != manifest.Healthy && v.Health != manifest.UnknownVersion {
		return c, fault.New(fault.RunNotFound, "session %s holds no run %s that can be read", r.Session, r.Run)
	}
	tip := run.Node(run.Tip)
	w, err := o.foreignWorkflow(ctx, run)
	if err != nil && !session.IsForeignForm(err) {
		return c, err
	}
	s, err := o.foreignState(ctx, tip)
	if err != nil {
		return c, err
	}
	c = Candidate{RunID: r.Run, SessionID: r.Session, WorkflowID: r.WorkflowID, WorkflowName: r.WorkflowName,
		Title: cmp.Or(run.Started.Name(), r.WorkflowName, r.WorkflowID), Goal: r.Goal,
		Status:     run.StatusAt(tip.ID, runs.TipState{Complete: s.IsComplete(), Blocked: s.IsBlocked()}),
		WhyMatched: r.Why, Snippet: snippetOf(run), NodeID: tip.ID, LastActivityEventIndex: run.LastIndex,
		LastAtMs: run.LastAtMs, ReadOnly: true, Show: []string{"waybill", "runs", "show", r.Run.String()}}
	if p := s.PendingStep(); p != nil {
		c.StepID, c.StepTitle = p.StepID, prompt.Title(w.Title(p.StepID), interpreter.VariablesAt(w, p.LoopPath, tip.Context)).Text
	}
	return c, nil
}

// foreignWorkflow returns what is known of a run's workflow, whichever program
// pinned it.
func (o Offers) foreignWorkflow(ctx context.Context, run *runs.Run) (compile.View, error) {
	w, err := o.answers.Workflow(ctx, run.Started.WorkflowHash)
	if err == nil {
		return w.View(), nil
	}
	if !session.IsForeignForm(err) {
		return compile.View{}, err
	}
	data, err := o.answers.Object(ctx, manifest.Workflow, run.Started.WorkflowHash)
	if err != nil {
		return compile.View{}, err
	}
	return compile.DecodeForeign(data)
}

// foreignState returns what is known of a node's snapshot; the zero View if its
// form is unknown.
func (o Offers) foreignState(ctx context.Context, at *runs.Node) (snapshot.View, error) {
	data, err := o.answers.Object(ctx, manifest.Snapshot, at.SnapshotRef)
	if err != nil {
		return snapshot.View{}, err
	}
	s, _ := snapshot.DecodeForeign(data)
	return s, nil
}
