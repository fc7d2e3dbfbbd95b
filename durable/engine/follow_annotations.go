package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// FollowedAnnotation is one recorded annotation.
type FollowedAnnotation struct {
	feedback.Annotation
	About feedback.Details
	AtMs  int64
	// Step is the title of the annotated step, its id if the workflow cannot be
	// read, "" if the annotation is about no step.
	Step string
}

// NextAnnotations returns the annotations of the run since the last call, without
// retractions. For a damaged log it returns those before the damage with
// SESSION_UNHEALTHY; the events of the run can still be followed.
func (f *Follower) NextAnnotations(ctx context.Context) ([]FollowedAnnotation, error) {
	log := annotationsLog(f.Session)
	c := &annotationCollector{f: f, from: f.annotationsHead.Next}
	v, err := f.g.Logs.Read(ctx, ports.ReadRequest{Log: log, From: f.annotationsHead}, c)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// The log was replaced by another one. Which of its annotations are new
		// cannot be determined, so none is reported and the next call continues
		// behind them.
		t, _, err := f.g.tally(ctx, f.Session)
		f.annotationsHead = t.Head
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	f.annotationsHead = v.Head
	if v.Damaged() {
		return c.rows, ports.Unhealthy(log, v)
	}
	if run := f.fold.Runs[f.Run]; run != nil && len(c.rows) > 0 {
		w, _ := (&observer{g: f.g}).workflow(ctx, run.Started.WorkflowHash) // without it steps have no titles
		for i := range c.rows {
			c.rows[i].Step = w.Title(c.rows[i].About.StepID)
		}
	}
	return c.rows, nil
}

// annotationCollector collects annotations from an event index on. A reading
// may restart at the beginning of the log and must not report annotations
// twice.
type annotationCollector struct {
	f    *Follower
	from int64
	rows []FollowedAnnotation
}

// Reset implements ports.Visitor.
func (c *annotationCollector) Reset() { c.rows = nil }

// Visit implements ports.Visitor.
func (c *annotationCollector) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		a, about, ok := feedback.AnnotationOf(e)
		if ok && e.Index >= c.from && a.Target.RunID == c.f.Run {
			c.rows = append(c.rows, FollowedAnnotation{Annotation: a, About: about, AtMs: e.TimestampMs})
		}
	}
	return nil
}
