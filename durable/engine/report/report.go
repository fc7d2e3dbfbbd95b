// Package report implements the use case that shows all of a run in one document, to hand on: what views, annotations
// and verification say of it, and what was shown at each step. It appends nothing and signs no token. Package pages
// makes a page of the document.
//
// A report is bounded: texts share a budget, and of a very long run the document says what it leaves out. Start reading
// at Reporter.Report.
package report

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
)

// Report is the document "report". Run, Timeline, Graph, Annotations and Verification are the documents of 'runs show',
// 'runs timeline', 'runs graph', 'annotations list' and 'verify' for the run, but for what LeftOut names.
type Report struct {
	// MadeAtMs is when the report was made, in milliseconds since 1970, and Version that of the program.
	MadeAtMs int64            `json:"madeAtMs"`
	Version  string           `json:"version"`
	Run      views.RunDetails `json:"run"`
	// Steps are what RunDetails does not have of its steps that were reached, in the same order.
	Steps       []Step                  `json:"steps"`
	Timeline    views.History           `json:"timeline"`
	Graph       views.Graph             `json:"graph"`
	Annotations learning.AnnotationList `json:"annotations"`
	// Verification is that of the session when the report was made.
	Verification verify.Verification `json:"verification"`
	// Segments are the files of the log with their digests, as they were read.
	Segments []Segment `json:"segments"`
	Controls []Control `json:"controls"`
	LeftOut  []LeftOut `json:"leftOut"`
}

// Step is what was shown and recorded at a step.
type Step struct {
	StepInstanceKey string  `json:"stepInstanceKey"`
	NodeID          id.Node `json:"nodeId"`
	// Prompt is what was shown when the step became pending, at the tip what is shown now.
	Prompt Text `json:"prompt"`
	// PromptError says why the prompt cannot be shown, "" if it can.
	PromptError string `json:"promptError,omitzero"`
	// Notes are whole where StepRow.Notes is their beginning.
	Notes *Text `json:"notes,omitzero"`
	// Tried are the attempts, oldest first.
	Tried  []Tried `json:"attempts"`
	Stdout *Output `json:"stdout,omitzero"`
	Stderr *Output `json:"stderr,omitzero"`
	// Together reports that an older version recorded both outputs as one, which is Stdout.
	Together bool `json:"together,omitzero"`
}

// Text is a text or its beginning.
type Text struct {
	Text string `json:"text"`
	// Bytes is the length of the whole, and SHA256 its digest.
	Bytes  int64        `json:"bytes"`
	SHA256 canon.Digest `json:"sha256,omitzero"`
}

// IsCut reports that Text is the beginning of a longer one.
func (t Text) IsCut() bool { return int64(len(t.Text)) < t.Bytes }

// Output is one output of a command.
type Output struct {
	Head string `json:"head"`
	Tail string `json:"tail,omitzero"` // "" if Head has all
	// Bytes is the length of all that was written; OmittedBytes of them, between Head and Tail, are not shown.
	Bytes        int64 `json:"bytes"`
	OmittedBytes int64 `json:"omittedBytes,omitzero"`
}

// Tried is one attempt at a step.
type Tried struct {
	By      event.Actor       `json:"by,omitzero"`
	Account string            `json:"account,omitzero"`
	AtMs    int64             `json:"atMs,omitzero"`
	Outcome event.OutcomeKind `json:"outcome"`
	// RequestDigest identifies what was handed in.
	RequestDigest canon.Digest     `json:"requestDigest,omitzero"`
	Blockers      []reason.Blocker `json:"blockers,omitzero"`
}

// Segment is a file of the log of the session.
type Segment struct {
	Name   string       `json:"name"`
	SHA256 canon.Digest `json:"sha256"`
	Events int          `json:"events"`
}

// Part is the closed set of parts of a report of which something may be left out.
type Part string

// The parts.
const (
	OfSteps       Part = "steps"
	OfTimeline    Part = "timeline"
	OfGraph       Part = "graph"
	OfAnnotations Part = "annotations"
	OfSegments    Part = "segments"
	OfTexts       Part = "texts"
)

// LeftOut says how much of a part the report does not have, and which command shows all of it.
type LeftOut struct {
	Part    Part     `json:"part"`
	Count   int      `json:"count"`
	Command []string `json:"command"`
}

// What a report shows at most. Texts share a budget, so that short reports have whole texts and long ones the
// beginnings (docs/reports.md). Variables so that tests can lower them.
var (
	stepsMax       = 2000
	momentsMax     = 3000
	nodesMax       = 5000
	annotationsMax = 1000
	segmentsMax    = 200
	triedMax       = 20
	// textsBytesMax bounds all texts together, and textBytesMax each, in bytes of a page.
	textsBytesMax = 1400 << 10
	textBytesMax  = 64 << 10
)

// Options are what a report is made with.
type Options struct {
	MadeAtMs int64
	Version  string
}

// Reporter makes reports of the runs of one store. It is safe for concurrent use.
type Reporter struct {
	store    ports.Availability
	answers  *engine.Answers
	views    *views.Views
	learning *learning.Learning
	verifier *verify.Verifier
}

// New returns the reporter of a store, from the use cases that it combines.
func New(s ports.Availability, a *engine.Answers, v *views.Views, l *learning.Learning, x *verify.Verifier) Reporter {
	return Reporter{s, a, v, l, x}
}

// Report returns the report of one run. ref is a run id, a unique prefix of one, or @last. Errors: RUN_NOT_FOUND,
// RUN_AMBIGUOUS; STORE_CORRUPT if the tip's snapshot or the workflow is missing.
// STORE_UNREACHABLE, or STORE_IO without a file descriptor, if a part could not be read for that.
func (r Reporter) Report(ctx context.Context, ref string, o Options) (Report, error) {
	return session.Whole(r.store, func() (Report, error) { return r.report(ctx, ref, o) })
}

// report is Report, with parts that say why they could not be read.
func (r Reporter) report(ctx context.Context, ref string, o Options) (Report, error) {
	found, err := session.Find(ctx, r.answers.Reader, ref)
	if err != nil {
		return Report{}, err
	}
	ref = found.Run.String()
	out := Report{MadeAtMs: o.MadeAtMs, Version: o.Version, Steps: []Step{}, Segments: []Segment{},
		Controls: []Control{}, LeftOut: []LeftOut{}}
	// First, since nothing else is in memory yet.
	if out.Verification, err = r.verifier.VerifySession(ctx, found.Session.String()); err != nil {
		return out, err
	}
	if out.Run, err = r.views.Run(ctx, ref); err != nil {
		return out, err
	}
	out.limitSteps()
	if err := r.readTimeline(ctx, ref, &out); err != nil {
		return out, err
	}
	if err := r.readGraph(ctx, ref, &out); err != nil {
		return out, err
	}
	if err := r.readAnnotations(ctx, ref, &out); err != nil {
		return out, err
	}
	if err := r.readLog(ctx, &out); err != nil {
		return out, err
	}
	r.readControls(ctx, &out)
	return out, nil
}

// leaveOut records that a part is not complete.
func (r *Report) leaveOut(part Part, count int, command ...string) {
	if count > 0 {
		r.LeftOut = append(r.LeftOut, LeftOut{part, count, command})
	}
}

// Without returns how much of a part is left out.
func (r *Report) Without(part Part) (l LeftOut, ok bool) {
	for _, l := range r.LeftOut {
		if l.Part == part {
			return l, true
		}
	}
	return LeftOut{}, false
}

// limitSteps leaves out steps between the first and the last ones.
func (r *Report) limitSteps() {
	rows := r.Run.Steps
	more := len(rows) - stepsMax
	if more <= 0 {
		return
	}
	first := stepsMax / 4
	r.Run.Steps = append(append([]views.StepRow{}, rows[:first]...), rows[first+more:]...)
	r.leaveOut(OfSteps, more, "runs", "show", r.Run.RunID.String(), "--json")
}

// readTimeline reads the history. Of a long one the entries about the engine's internal work are left out, then those
// between the first and the last ones.
func (r Reporter) readTimeline(ctx context.Context, ref string, out *Report) error {
	kept := moments{}
	h, err := views.EachMoment(ctx, r.views, ref, kept.add)
	if err != nil {
		return err
	}
	out.Timeline = h
	out.Timeline.Moments = kept.all()
	out.leaveOut(OfTimeline, kept.leftOut, "runs", "timeline", ref)
	return nil
}

// readGraph reads the graph; of a very long run its last nodes.
func (r Reporter) readGraph(ctx context.Context, ref string, out *Report) error {
	g, err := views.ReadGraph(ctx, r.views, ref)
	if err != nil {
		return err
	}
	out.Graph = g.Head()
	count := 0
	_ = g.Nodes(func(views.GraphNode) error { count++; return nil })
	skip, at := max(0, count-nodesMax), 0
	shown := map[id.Node]bool{}
	_ = g.Nodes(func(n views.GraphNode) error {
		if at++; at > skip {
			out.Graph.Nodes = append(out.Graph.Nodes, n)
			shown[n.NodeID] = true
		}
		return nil
	})
	_ = g.Edges(func(e views.GraphEdge) error {
		if shown[e.To] {
			out.Graph.Edges = append(out.Graph.Edges, e)
		}
		return nil
	})
	out.leaveOut(OfGraph, skip, "runs", "graph", ref)
	return nil
}

// readAnnotations reads the current annotations, none where feedback is not provided.
func (r Reporter) readAnnotations(ctx context.Context, ref string, out *Report) error {
	q := learning.AnnotationQuery{Limit: annotationsMax}
	page, err := r.learning.Annotations(ctx, ref, q)
	if fault.Is(err, fault.CapabilityNotProvided) {
		out.Annotations = page
		return nil
	}
	if err != nil {
		return err
	}
	out.Annotations = page
	for page.NextCursor != "" && len(out.Annotations.Annotations) < annotationsMax {
		q.Cursor = page.NextCursor
		if page, err = r.learning.Annotations(ctx, ref, q); err != nil {
			return err
		}
		out.Annotations.Annotations = append(out.Annotations.Annotations, page.Annotations...)
		for name, about := range page.About {
			out.Annotations.About[name] = about
		}
	}
	out.Annotations.NextCursor = ""
	if more := int(out.Run.Annotations.Count) - len(out.Annotations.Annotations); page.NextCursor != "" {
		out.leaveOut(OfAnnotations, max(more, 1), "annotations", "list", ref)
	}
	return nil
}
