package report

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/projections/runs"
)

// reading is one pass over the log of a session, which renders the prompts of a run where its steps became pending.
type reading struct {
	r     Reporter
	out   *Report
	fold  *runs.Fold
	texts *texts
	// steps are the places in out.Steps, by the nodes at which the steps are pending.
	steps    map[id.Node]int
	segments int
}

// readLog reads what was shown at the steps, the attempts at them and the files of the log.
func (r Reporter) readLog(ctx context.Context, out *Report) error {
	p := &reading{r: r, out: out, fold: runs.NewFold(), texts: newTexts(), steps: map[id.Node]int{}}
	for i := range out.Run.Steps {
		row := &out.Run.Steps[i]
		if row.NodeID == nil {
			continue
		}
		p.steps[*row.NodeID] = len(out.Steps)
		out.Steps = append(out.Steps, Step{StepInstanceKey: row.StepInstanceKey, NodeID: *row.NodeID, Tried: []Tried{}})
	}
	_, err := session.Each(ctx, r.answers.Reader, out.Run.SessionID, func(seg manifest.Segment, head manifest.Head) error {
		return p.segment(ctx, seg, head)
	})
	if err != nil {
		return err
	}
	out.leaveOut(OfSegments, p.segments-len(out.Segments), "runs", "events", out.Run.RunID.String())
	for i := range out.Run.Steps {
		if n := out.Run.Steps[i].NodeID; n != nil {
			p.result(ctx, &out.Run.Steps[i], &out.Steps[p.steps[*n]])
		}
	}
	for _, t := range out.Run.Tips { // what is shown at the tip now
		if t.Preferred {
			p.prompt(ctx, t.NodeID)
		}
	}
	for i := range out.Run.Checkpoints {
		p.texts.add(&out.Run.Checkpoints[i].Notes, limitsMarker)
	}
	out.leaveOut(OfTexts, p.texts.cut(), "runs", "show", out.Run.RunID.String(), "--step", "STEP")
	return nil
}

// segment reads one segment of the log.
func (p *reading) segment(ctx context.Context, seg manifest.Segment, head manifest.Head) error {
	_ = p.fold.Visit(seg, head) // always nil
	p.segments++
	p.out.Segments = append(p.out.Segments, Segment{seg.Name(), seg.Sum, len(seg.Events)})
	if most := segmentsMax; len(p.out.Segments) > most {
		p.out.Segments = append(p.out.Segments[:most/2], p.out.Segments[most/2+1:]...)
	}
	for _, e := range seg.Events {
		if e.Scope.RunID != p.out.Run.RunID {
			continue
		}
		switch data := known(e).(type) {
		case event.NodeCreated:
			p.prompt(ctx, e.Scope.NodeID)
		case event.AdvanceRecorded:
			p.attempt(e, data)
		}
	}
	return nil
}

// known returns the data of an event, in the form of any program.
func known(e event.Event) event.Payload {
	if g, foreign := event.Domain.ViewForeign(e); foreign && g.Known != nil {
		return g.Known
	}
	return e.Data
}

// attempt adds an attempt at a step.
func (p *reading) attempt(e event.Event, a event.AdvanceRecorded) {
	i, ok := p.steps[e.Scope.NodeID]
	if !ok {
		return
	}
	t := Tried{By: e.Actor, Account: a.Account, AtMs: e.TimestampMs, Outcome: a.Outcome.Kind,
		RequestDigest: a.RequestDigest}
	if a.Outcome.Blockers != nil {
		t.Blockers = a.Outcome.Blockers.Blockers
	}
	s := &p.out.Steps[i]
	if s.Tried = append(s.Tried, t); len(s.Tried) > triedMax {
		s.Tried = append(s.Tried[:1], s.Tried[2:]...)
	}
}

// prompt renders what is shown at a node with the log as far as it was read. A prompt that cannot be rendered, for
// instance of another program, does not fail the report.
func (p *reading) prompt(ctx context.Context, n id.Node) {
	i, ok := p.steps[n]
	run := p.fold.Runs[p.out.Run.RunID]
	if !ok || run == nil || run.Node(n) == nil {
		return
	}
	s := &p.out.Steps[i]
	a, err := p.r.answers.ShownAt(ctx, session.Resolved{At: session.Position{Session: p.out.Run.SessionID, Run: run.ID,
		Node: n}, Fold: p.fold, Run: run, Node: run.Node(n)})
	switch {
	case err != nil:
		s.PromptError = fault.Of(err).Message
	case a.Pending != nil:
		s.PromptError = ""
		p.texts.set(&s.Prompt, a.Pending.Prompt)
	}
}

// limitsMarker is behind a text that was cut for the report.
const limitsMarker = "\n\n[cut in this report]"

// result reads what is stored of a step's notes and of the outputs of its command. What cannot be read, such as an
// artifact that was erased, is left to the row of the step.
func (p *reading) result(ctx context.Context, row *views.StepRow, s *Step) {
	p.texts.add(&row.Notes, limitsMarker)
	if !row.FullNotes.IsZero() {
		if data, err := p.r.answers.Object(ctx, manifest.Artifact, row.FullNotes); err == nil {
			s.Notes = &Text{SHA256: row.FullNotes}
			p.texts.set(s.Notes, strings.ToValidUTF8(string(data), "\uFFFD"))
		}
	}
	for _, x := range row.Artifacts {
		if !x.Current || x.ArtifactKind != command.Kind || x.State != views.ArtifactStored {
			continue
		}
		v, err := p.r.answers.Artifact(ctx, x.SHA256)
		if err != nil {
			continue
		}
		if c, err := command.Decode(v); err == nil {
			s.Stdout, s.Stderr, s.Together = p.output(c.Out()), p.output(c.Err()), !c.Apart()
		}
	}
	if b := row.Result; b != nil {
		p.texts.addEnd(&b.StdoutTail)
		p.texts.addEnd(&b.StderrTail)
	}
	for i := range row.Checks {
		p.texts.addEnd(&row.Checks[i].StdoutTail)
		p.texts.addEnd(&row.Checks[i].StderrTail)
	}
}

// output converts a stored output; nil for one of no bytes.
func (p *reading) output(s command.Stream) *Output {
	if s.Bytes == 0 {
		return nil
	}
	o := &Output{Head: s.Head, Tail: s.Tail, Bytes: s.Bytes, OmittedBytes: s.LeftOut()}
	p.texts.addOutput(o)
	return o
}
