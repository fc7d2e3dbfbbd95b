package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Recorder makes tests of the recorded runs of a store.
type Recorder struct {
	r     *session.Reader
	store ports.Logs
}

// NewRecorder returns the recorder of a store.
func NewRecorder(r *session.Reader, s ports.Logs) Recorder { return Recorder{r, s} }

// Recording is a recorded run as a case: what was answered at each step on the way to the preferred tip, and what
// resulted.
type Recording struct {
	Run      id.Run
	Workflow compile.Compiled // that the run is pinned to
	Case     workflowtest.Case
	// Visits are the steps on the way, in order, each with its answers.
	Visits []Visit
	// Warnings are what the case does not have of the run, as sentences.
	Warnings []string
}

// Visit is a step that was shown, with the answers to it.
type Visit struct {
	Step    compile.Step
	Loops   canon.Value // the variables of the loops around it, an object
	Answers []workflowtest.Answer
}

// operation is what a segment records at a node.
type operation struct {
	attempt  advance.Attempt
	accepted bool
	to       id.Node
	decision *advance.Decision
}

// recorded is the content of a log, by node.
type recorded struct {
	start  advance.Start
	hash   canon.Digest
	parent map[id.Node]id.Node
	states map[id.Node]canon.Digest
	at     map[id.Node][]operation
	// cut reports notes of which only the beginning is stored.
	cut, forked, forced bool
}

// Record returns the case of a run. VALIDATION_ERROR for a run that was forked: its beginning is in another
// session. Errors otherwise are those of reading the session, which has to be healthy.
func (x Recorder) Record(ctx context.Context, ref string) (Recording, error) {
	at, err := x.r.Locate(ctx, ref)
	if err != nil {
		return Recording{}, err
	}
	h := x.r.NewHistory(at.Session)
	p, err := h.OpenRun(ctx, at)
	if err != nil {
		return Recording{}, err
	}
	p.Node = p.Run.Node(p.Run.Tip)
	if p, err = x.r.WholePath(ctx, p); err != nil {
		return Recording{}, err
	}
	log, err := x.read(ctx, at)
	if err != nil {
		return Recording{}, err
	}
	if log.forked {
		return Recording{}, fault.New(fault.ValidationError, "run %s was forked, and its beginning is in another session", at.Run).
			Suggest("Write the test from the run that it was forked from.")
	}
	w, err := x.r.Workflow(ctx, log.hash)
	if err != nil {
		return Recording{}, err
	}
	out := Recording{Run: at.Run, Workflow: w}
	if err := x.visits(ctx, &out, log, p.Run); err != nil {
		return out, err
	}
	return out, x.finish(ctx, &out, log, p)
}

// read reads the operations of a session.
func (x Recorder) read(ctx context.Context, at engine.Position) (out *recorded, err error) {
	stored := func(ref canon.Digest) ([]byte, error) { return x.r.Object(ctx, manifest.Artifact, ref) }
	log := manifest.SessionEvents(at.Session)
	v, err := x.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		out = &recorded{parent: map[id.Node]id.Node{}, states: map[id.Node]canon.Digest{}, at: map[id.Node][]operation{}}
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error { return out.segment(at.Session, seg.Events, stored) })
	})
	if err == nil && v.Health != manifest.Healthy {
		err = ports.Unhealthy(log, v)
	}
	return out, err
}

// segment adds what a segment records.
func (r *recorded) segment(s id.Session, events []event.Event, stored redrive.Artifacts) error {
	for _, e := range events {
		if n, ok := e.Data.(event.NodeCreated); ok {
			r.states[e.Scope.NodeID] = n.SnapshotRef
			if n.ParentNodeID != nil {
				r.parent[e.Scope.NodeID] = *n.ParentNodeID
			}
		}
	}
	switch redrive.OperationOf(events) {
	case redrive.Start:
		r.start, r.hash = redrive.StartOf(s, events)
	case redrive.Fork:
		r.forked = true
	case redrive.Cancel, redrive.Close:
		r.forced = true
	case redrive.Ack:
		a, cut, err := redrive.AttemptOf(events, stored)
		if err != nil {
			return err
		}
		done, _ := events[0].Data.(event.AdvanceRecorded)
		op := operation{attempt: a}
		if op.accepted = done.Outcome.ToNodeID != nil; op.accepted {
			op.to = *done.Outcome.ToNodeID
		}
		r.cut = r.cut || cut
		r.at[events[0].Scope.NodeID] = append(r.at[events[0].Scope.NodeID], op)
	case redrive.Approve:
		d, err := redrive.DecisionOf(events, stored)
		if err != nil {
			return err
		}
		for _, e := range events {
			if !e.Scope.NodeID.IsZero() {
				r.at[e.Scope.NodeID] = append(r.at[e.Scope.NodeID], operation{decision: &d})
				break
			}
		}
	}
	return nil
}

// visits collects the steps on the way to the tip of a run, with their answers.
func (x Recorder) visits(ctx context.Context, out *Recording, log *recorded, run *runs.Run) error {
	way := []id.Node{run.Tip}
	for {
		before, ok := log.parent[way[0]]
		if !ok {
			break
		}
		way = append([]id.Node{before}, way...)
	}
	for i, node := range way {
		data, err := x.r.Object(ctx, manifest.Snapshot, log.states[node])
		if err != nil {
			return err
		}
		state, err := snapshot.Decode(data)
		if err != nil {
			return err
		}
		pending := state.PendingStep()
		if pending == nil {
			continue
		}
		step, _ := out.Workflow.Step(pending.StepID)
		next := id.Node{}
		if i+1 < len(way) {
			next = way[i+1]
		}
		v := Visit{Step: step}
		if n := run.Node(node); n != nil {
			loops, _, _ := snapshot.ParseKey(pending.Key())
			v.Loops = interpreter.LoopVariablesAt(out.Workflow, loops, n.Context)
		}
		for _, op := range log.at[node] {
			if op.accepted && op.to != next {
				out.warn("an attempt at step %q that another branch of the run begins with", step.StepID)
				continue
			}
			out.answer(&v, op)
			if op.accepted {
				break
			}
		}
		out.Visits = append(out.Visits, v)
	}
	return nil
}

// warn adds a sentence about what the case does not have.
func (r *Recording) warn(format string, args ...any) {
	text := "Left out: " + fmt.Sprintf(format, args...) + "."
	if !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

// answer adds an attempt as an answer, or a decision to the last one. The attempt that leaves a step after its
// approval has no outputs, and is part of the answer that was approved.
func (r *Recording) answer(v *Visit, op operation) {
	last := len(v.Answers) - 1
	if op.decision != nil {
		if last < 0 {
			v.Answers = append(v.Answers, workflowtest.Answer{})
			last = 0
		}
		a := &v.Answers[last]
		switch op.decision.Word {
		case event.Approved:
			if a.Decision.Word == workflowtest.SendBack { // what was handed in is the same as before
				v.Answers = append(v.Answers, workflowtest.Answer{})
				a = &v.Answers[last+1]
			}
			a.Decision.Word = workflowtest.Approve
		case event.SentBack:
			a.Decision = workflowtest.Decision{Word: workflowtest.SendBack, Reason: op.decision.Reason}
		case event.Denied:
			a.Decision = workflowtest.Decision{Word: workflowtest.Deny, Reason: op.decision.Reason}
		}
		return
	}
	a := r.answerOf(v.Step, op.attempt)
	if last >= 0 && v.Answers[last].Decision.Word == workflowtest.Approve && a.Notes == "" && len(a.Artifacts) == 0 && a.Context.Len() == 0 {
		return
	}
	v.Answers = append(v.Answers, a)
}

// finish completes the case: its start, and what is expected.
func (x Recorder) finish(ctx context.Context, out *Recording, log *recorded, p session.Resolved) error {
	c := workflowtest.Case{Name: "run " + out.Run.String(), Answers: map[string][]workflowtest.Answer{}}
	if log.start.Context.Len() > 0 {
		c.Context = redact.Value(log.start.Context, nil)
	}
	for _, change := range log.start.Preferences {
		if c.Preferences == nil {
			c.Preferences = map[string]string{}
		}
		c.Preferences[change.Key] = change.Value
	}
	c.Expect.HasPath, c.Expect.Path = true, []string{}
	for _, v := range out.Visits {
		c.Expect.Path = append(c.Expect.Path, v.Step.StepID)
		c.Answers[v.Step.StepID] = append(c.Answers[v.Step.StepID], v.Answers...)
	}
	tip := p.Run.Node(p.Run.Tip)
	state, err := x.r.State(ctx, tip)
	if err != nil {
		return err
	}
	run := *p.Run
	if log.forced { // a person or a program ended the run, which no case does
		run.Closed, run.CancelRequested = nil, nil
		if p.Run.Closed != nil {
			out.warn("the end of the run, which was requested")
		}
	}
	c.Expect.Status = string(run.StatusAt(tip.ID, session.TipState(out.Workflow, tip, state)))
	if tip.Context.Len() > 0 {
		c.Expect.Context = redact.Value(tip.Context, nil)
	}
	c.Expect.Blockers, c.Expect.HasBlockers = lastBlockers(tip)
	if log.cut {
		out.warn("the rest of notes that were cut when they were recorded")
	}
	out.Case = c
	return nil
}

// lastBlockers are the blockers of the last attempt at a tip, if it was refused.
func lastBlockers(tip *runs.Node) (out []workflowtest.Match, has bool) {
	if len(tip.Attempts) == 0 {
		return nil, false
	}
	last := tip.Attempts[len(tip.Attempts)-1]
	if last.Outcome.Blockers == nil || tip.Approvals > 0 {
		return nil, false
	}
	for _, b := range last.Outcome.Blockers.Blockers {
		out = append(out, workflowtest.Match{Text: string(b.Code)})
	}
	return slices.Compact(out), true
}
