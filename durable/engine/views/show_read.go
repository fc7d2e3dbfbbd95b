package views

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/steplist"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// EndTitle names the node at which a run ended.
const EndTitle = endTitle

// RunReading is a run whose steps are shown one after the other. A first reading of its log found out which there are;
// each further one makes their rows, and keeps only the nodes that later events may change. It is for one goroutine at a
// time.
type RunReading struct {
	v        *Views
	found    session.Found
	at       session.FoundRun // of the first reading: a window of its fold
	obs      *observer
	workflow compile.View
	plan     *steplist.Plan
	states   []StepState // of the workflow's steps that were not visited
	only     string      // the step that was asked for, "" for all
	head     RunDetails  // without what the nodes of the path have
	before   ports.Failures
}

// ShownStep is a step of a run with its place in the list.
type ShownStep struct {
	Index int
	StepRow
	// Points are the checkpoints recorded at the step.
	Points []CheckpointRow
	// Stop is the place of the step on the path. Context is the one in force there, and CriticalGaps reports that such
	// gaps are open there.
	Stop         int
	Context      canon.Value
	CriticalGaps bool
}

// ReadRun finds a run and reads it for Each. step is that of RunStep, "" for all steps. Errors are those of Run and
// RunStep.
func ReadRun(ctx context.Context, v *Views, ref, step string) (*RunReading, error) {
	found, err := session.Find(ctx, v.r, ref)
	if err != nil {
		return nil, err
	}
	s := &RunReading{v: v, found: found, obs: &observer{v: v}, before: v.store.Failures()}
	nodes, log, err := s.first(ctx, session.FoldNodesMax)
	if errors.Is(err, errMissedNode) {
		nodes, log, err = s.first(ctx, math.MaxInt)
	}
	if err != nil {
		return nil, err
	}
	if err := s.begin(ctx, log); err != nil {
		return nil, err
	}
	s.plan = nodes.Path(s.at.Run.Tip)
	if err := s.planSteps(ctx, step); err != nil {
		return nil, err
	}
	return s, s.waits(ctx)
}

// first reads the log with a fold of about so many nodes. errMissedNode: they do not suffice.
func (s *RunReading) first(ctx context.Context, nodesMax int) (*steplist.Nodes, *sessionRecords, error) {
	h := s.v.r.NewHistory(s.found.Session)
	nodes, log := &steplist.Nodes{}, &sessionRecords{observed: map[string]observed{}, unknown: map[string]bool{}}
	v, err := session.Each(ctx, s.v.r, s.found.Session, func(seg manifest.Segment, head manifest.Head) error {
		_ = h.Fold.Visit(seg, head) // always nil
		for _, e := range seg.Events {
			log.add(e, s.found.Run)
		}
		run := h.Fold.Runs[s.found.Run]
		if run == nil {
			return nil
		}
		nodes.Add(run, seg.Events)
		if h.Fold.Missed() || nodes.Missed() {
			return errMissedNode
		}
		if session.NodeCount(h.Fold) > nodesMax {
			nodesMax = session.Reduce(h.Fold, nodesMax)
			nodes.Forget(h.Fold.Runs[s.found.Run])
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if h.Fold.Partial() {
		session.Reduce(h.Fold, runs.WindowNodes)
	}
	h.Fold = &runs.Fold{Session: h.Fold.Session, Head: h.Fold.Head} // without the events of the last segment
	claimed, _ := s.v.r.Brief(ctx, s.found.Session, s.v.r.HeadKey(ctx))
	s.at = session.FoundRun{History: h, Run: h.Fold.Runs[s.found.Run], Verdict: session.LostTail(h.Log, v, claimed.Head)}
	if s.at.Run == nil || s.at.Run.Tip.IsZero() {
		return nil, nil, s.found.NotRead()
	}
	return nodes, log, nil
}

// begin fills what is known of the run as a whole.
func (s *RunReading) begin(ctx context.Context, log *sessionRecords) error {
	run, v, fold := s.at.Run, s.at.Verdict, s.at.Fold
	row, err := s.v.SummaryOf(ctx, s.found.Session, run, v.Health)
	if err != nil {
		return err
	}
	row.Annotations = s.v.AnnotationCounter(ctx, s.found.Session)(run.ID)
	row.Branch = fold.Observations["git_branch"].Value
	tipNode, started := run.Node(run.Tip), run.Started
	w, tip, _, err := s.obs.tip(ctx, run, tipNode)
	if err != nil {
		return err
	}
	s.workflow = w
	s.head = RunDetails{RunSummary: row, Head: fold.Head, Preferences: tipNode.Preferences, PreferenceSources: tipNode.Sources,
		ForkedFrom: started.ForkedFrom,
		Workflow: engine.WorkflowRef{WorkflowID: started.WorkflowID, Name: w.Name(), WorkflowHash: started.WorkflowHash,
			Source: row.Source}, Steps: []StepRow{}, Gaps: []OpenGap{},
		Blockers: tip.Blockers(), Findings: append([]manifest.Finding{}, v.Findings...),
		Context: tipNode.Context, Approvals: []ApprovalRow{}, Decisions: []DecisionRow{},
		RunFacts: RunFacts{Tags: started.Tags, Options: started.Options, Parent: started.Parent,
			Paused: session.PausedOf(run), SourceKind: started.WorkflowSourceKind, SourceRef: started.WorkflowSourceRef, ImportedFrom: log.created.ImportedFrom,
			Capabilities: []CapabilityStatus{}, Recommendations: []Recommendation{}, Warnings: []StepWarning{},
			Truncations: []Truncation{}, Checkpoints: []CheckpointRow{}, Divergences: []DivergenceRow{},
			Observations: []ObservationRow{}, UnknownKinds: slices.Sorted(maps.Keys(log.unknown))}}
	if run.CancelRequested != nil {
		s.head.CancelReason = run.CancelRequested.Reason
	}
	if run.Closed != nil {
		s.head.CloseReason = run.Closed.Reason
	}
	for _, w := range started.Warnings {
		s.head.Warnings = append(s.head.Warnings, StepWarningOf(warning.Recorded(w), ""))
	}
	for _, key := range slices.Sorted(maps.Keys(log.observed)) {
		s.head.Observations = append(s.head.Observations, ObservationRow{log.observed[key].ObservationRecorded,
			log.observed[key].atMs})
	}
	for _, n := range run.Path(run.Tip) { // those with open gaps are in every window
		for _, gap := range run.Node(n).OpenGaps {
			s.head.Gaps = append(s.head.Gaps, openGap(gap))
		}
	}
	s.head.Pending, err = s.obs.waitsFor(ctx, run, tipNode, row.Status)
	return err
}

// waits fills what the run waits for besides the work, and where it continues.
func (s *RunReading) waits(ctx context.Context) error {
	run := s.at.Run
	if s.v.Approval != nil && !s.obs.foreign && s.at.Verdict.Health == manifest.Healthy {
		approval, err := s.v.Approval(ctx, session.Resolved{At: engine.Position{Session: s.found.Session, Run: run.ID,
			Node: run.Tip}, Fold: s.at.Fold, Run: run, Node: run.Node(run.Tip)})
		if err != nil {
			return err
		}
		if approval != nil {
			now := engine.PendingNow{Approval: approval}
			if s.head.Pending != nil {
				now.Wait, now.Host = s.head.Pending.Wait, s.head.Pending.Host
			}
			s.head.Pending = &now
		}
	}
	if s.v.HandedOver == nil {
		return nil
	}
	is, err := s.v.HandedOver(ctx, s.found.Session, s.at.Fold)
	if is {
		s.head.HandedOver = &HandedOver{s.at.Fold.HandedOver.To}
	}
	return err
}

// Head is the run without its steps, and without what Each finds about the path.
func (s *RunReading) Head() RunDetails { return s.head }

// Steps is the number of rows.
func (s *RunReading) Steps() int { return s.plan.Len() }

// InOrder reports that Each passes the rows in the order of the list. They are where the run went through the steps in
// the order of its workflow, and nothing was recorded later at a step before.
func (s *RunReading) InOrder() bool { return s.plan.InOrder() }

// SameLoop reports that two rows of the list are of steps in the same outermost loop.
func (s *RunReading) SameLoop(i, k int) bool {
	return s.plan.Loop(i) > 0 && s.plan.Loop(i) == s.plan.Loop(k)
}

// Each passes each step as soon as no later event is about it, and returns the run without its steps. STORE_CONFLICT: the
// log is another one than that of the first reading. The error of session.Unavailable comes after the steps.
func (s *RunReading) Each(ctx context.Context, each func(ShownStep) error) (RunDetails, error) {
	p := &runPass{RunReading: s, pass: s.plan.Pass(), fold: runs.NewSession(), log: records{}, each: each}
	_, err := session.Each(ctx, s.v.r, s.found.Session, func(seg manifest.Segment, head manifest.Head) error {
		if err := p.add(ctx, seg, head); err != nil {
			return err
		}
		if head == s.at.Fold.Head {
			return session.ErrStopReading
		}
		return nil
	})
	if err == nil {
		err = s.found.Replaced()
	}
	if errors.Is(err, session.ErrStopReading) {
		err = p.fill(ctx, s.plan.Len())
	}
	out := s.head
	out.Warnings = slices.Clone(out.Warnings)
	sorting.Stable(p.facts, func(a, b pathFacts) int { return cmp.Compare(a.stop, b.stop) })
	for _, f := range p.facts {
		f.tell(&out)
	}
	out.Health = s.obs.health(out.Health)
	return out, cmp.Or(err, session.Unavailable(s.v.store, s.before))
}

// runPass is one reading of Each.
type runPass struct {
	*RunReading
	pass   *steplist.Pass
	fold   *runs.Session // of the run
	run    *runs.Run
	log    records
	each   func(ShownStep) error
	filled int // rows of the list before it have been passed, if no step was visited
	facts  []pathFacts
}

// add folds a segment, and passes what does not change any more.
func (p *runPass) add(ctx context.Context, seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if ofRun(e, p.found.Run) {
			p.fold.Apply(e)
			p.log.add(e)
		}
	}
	if p.run = p.fold.Runs[p.found.Run]; p.run == nil {
		return nil
	}
	p.pass.Meet(p.run)
	for stop, ok := p.pass.Ready(head.Next); ok; stop, ok = p.pass.Ready(head.Next) {
		if err := p.show(ctx, stop); err != nil {
			return err
		}
	}
	p.pass.Release(p.run, head.Next, func(n id.Node) { delete(p.log, n) })
	return nil
}

// show passes the row of a stop, and keeps the facts of its nodes.
func (p *runPass) show(ctx context.Context, stop steplist.Stop) error {
	at, facts := p.at, pathFacts{stop: stop.Number}
	at.Run = p.run
	for i := stop.First; i < stop.End; i++ {
		p.obs.tellNode(ctx, at, p.log, p.pass.Node(i), &facts)
	}
	if !facts.isEmpty() {
		p.facts = append(p.facts, facts)
	}
	if stop.Row < 0 {
		return nil
	}
	if err := p.fill(ctx, stop.Row); err != nil {
		return err
	}
	v, err := p.visitAt(ctx, stop)
	if err != nil {
		return err
	}
	row := stepRow(p.workflow, v)
	p.obs.tellStep(ctx, at, p.log, &row, v, p.only != "")
	critical := slices.ContainsFunc(v.tried, func(n *runs.Node) bool {
		end := p.at.Run.Node(n.ID) // those with open gaps are in every window
		return end != nil && slices.ContainsFunc(end.OpenGaps, func(g runs.Gap) bool { return g.Severity == event.Critical })
	})
	return p.each(ShownStep{stop.Row, row, facts.checkpoints, stop.Number, v.node.Context, critical})
}

// fill passes the rows of steps without a visit that are before a row.
func (p *runPass) fill(ctx context.Context, before int) error {
	for ; p.filled < before; p.filled++ {
		i, ok := p.plan.Unvisited(p.filled)
		if !ok {
			continue
		}
		row := p.unvisited(i)
		p.obs.tellStep(ctx, p.at, p.log, &row, pathStep{}, p.only != "")
		if err := p.each(ShownStep{Index: p.filled, StepRow: row}); err != nil {
			return err
		}
	}
	return nil
}
