package views

import (
	"context"
	"errors"
	"math"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
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
	log := feedback.LogOf(f.Session)
	since := f.annotationsHead.Next
	came := f.v.importedAnnotations(ctx, log)
	var rows []FollowedAnnotation
	v, err := f.v.store.Read(ctx, ports.ReadRequest{Log: log, From: f.annotationsHead}, func(manifest.Head) ports.Visitor {
		rows = nil
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				a, about, ok := feedback.AnnotationOf(e)
				about.Imported = came.Has(e.Index)
				if ok && e.Index >= since && a.Target.RunID == f.Run {
					rows = append(rows, FollowedAnnotation{Annotation: a, About: about, AtMs: e.TimestampMs})
				}
			}
			return nil
		})
	})
	if errors.Is(err, manifest.ErrNotOnChain) {
		// The log was replaced by another one. Which of its annotations are new
		// cannot be determined, so none is reported and the next call continues
		// behind them.
		t, _, err := f.v.r.Tally(ctx, f.Session)
		f.annotationsHead = t.Head
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	f.annotationsHead = v.Head
	if v.Damaged() {
		return rows, ports.Unhealthy(log, v)
	}
	if run := f.fold.Runs[f.Run]; run != nil && len(rows) > 0 {
		obs := &observer{v: f.v}
		w, _ := obs.workflow(ctx, run.Started.WorkflowHash) // without it steps have no titles
		for i := range rows {
			rows[i].Step = obs.titleOf(ctx, w, run.Node(rows[i].About.NodeID), rows[i].About.StepID)
		}
	}
	return rows, nil
}

// importedAnnotations returns which events of a log of annotations came with bundles: all of them in a bundle, and
// where that cannot be read.
func (v *Views) importedAnnotations(ctx context.Context, log manifest.Log) imported.Span {
	if v.Imported == nil {
		return imported.Span{Events: math.MaxInt64}
	}
	s, err := v.Imported(ctx, log)
	if err != nil {
		return imported.Span{Events: math.MaxInt64}
	}
	return s
}
