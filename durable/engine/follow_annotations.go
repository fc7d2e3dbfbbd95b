package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Said is one annotation, as it is recorded.
type Said struct {
	feedback.Annotation
	About feedback.About
	AtMs  int64
	// Step is the title of the step that it is about, its id where the workflow cannot be
	// read, "" where it is about none.
	Step string
}

// Annotated gives the annotations of the run that were recorded since the last call. A
// retraction is none. Where the log is damaged it is an error, and nothing more is told:
// the run itself can be followed all the same.
func (f *Following) Annotated(ctx context.Context) ([]Said, error) {
	log := annotationsLog(f.Session)
	c := &annotationCollector{f: f, from: f.annotationsHead.Next}
	v, err := f.g.Logs.Read(ctx, ports.Reading{Log: log, From: f.annotationsHead}, c)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// Another history was put in its place. What of it is new nobody can tell, and what
		// is old is not told.
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

// saying collects annotations from an index on. A reading may start over at the log's
// beginning, which must not tell again what was told.
type annotationCollector struct {
	f    *Following
	from int64
	rows []Said
}

// Reset implements ports.Visitor.
func (c *annotationCollector) Reset() { c.rows = nil }

// Visit implements ports.Visitor.
func (c *annotationCollector) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		a, about, ok := feedback.Of(e)
		if ok && e.Index >= c.from && a.Target.RunID == c.f.Run {
			c.rows = append(c.rows, Said{Annotation: a, About: about, AtMs: e.TimestampMs})
		}
	}
	return nil
}
