package learning

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
	"github.com/waybill/waybill/projections/runs"
)

// AnnotationQuery selects annotations of a run. The zero query selects the
// current ones.
type AnnotationQuery struct {
	// History adds superseded and retracted annotations.
	History bool
	Signal  feedback.SignalKind // "": every kind
	// Limit is 1 to limits.AnnotationsPageMax; 0 means limits.AnnotationsPage.
	Limit int
	// Cursor is NextCursor of the previous page.
	Cursor string
}

// AnnotationList is the document "annotations": one page, in the order of
// recording. The rows have the form of the wire protocol; About adds by
// annotation id what that has no member for (docs/design.md#annotations).
type AnnotationList struct {
	Annotations []feedback.Annotation       `json:"annotations"`
	About       map[string]feedback.Details `json:"about"`
	// ForkedFrom is the run that this one was forked from. Its annotations are
	// not copied.
	ForkedFrom *Origin         `json:"forkedFrom,omitzero"`
	Health     manifest.Health `json:"health"` // of the annotations' log
	NextCursor string          `json:"nextCursor,omitzero"`
}

// Origin is the node at which a fork began.
type Origin struct {
	SessionID id.Session `json:"sessionId"`
	RunID     id.Run     `json:"runId"`
	NodeID    id.Node    `json:"nodeId"`
}

// Annotations lists the annotations of a run. Of a damaged log the valid prefix
// is listed, and Health reports the damage. Errors: RUN_NOT_FOUND,
// RUN_AMBIGUOUS, VALIDATION_ERROR for a query that is out of range,
// CAPABILITY_NOT_PROVIDED, and those of session.Whole.
func (l *Learning) Annotations(ctx context.Context, ref string, q AnnotationQuery) (AnnotationList, error) {
	return session.Whole(l.store, func() (AnnotationList, error) { return readAnnotations(ctx, l, ref, q) })
}

// readAnnotations is Annotations, which takes what cannot be read for imported.
func readAnnotations(ctx context.Context, l *Learning, ref string, q AnnotationQuery) (AnnotationList, error) {
	out := AnnotationList{Annotations: []feedback.Annotation{}, About: map[string]feedback.Details{}}
	if _, err := l.settings.Provided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return out, err
	}
	after, err := q.check()
	if err != nil {
		return out, err
	}
	at, err := l.e.Lookup(ctx, ref)
	if err != nil {
		return out, err
	}
	if from := at.Run.Started.ForkedFrom; from != nil {
		out.ForkedFrom = &Origin{from.SessionID, from.RunID, from.NodeID}
	}
	var all *annotations.Log
	v, err := l.store.Read(ctx, ports.ReadRequest{Log: feedback.LogOf(at.Session)}, ports.Into(&all, annotations.NewLog))
	if err != nil {
		return out, err
	}
	out.Health = v.Health
	came, err := l.ledger.ImportedOfLog(ctx, feedback.LogOf(at.Session))
	if err != nil {
		came = imported.Span{Events: math.MaxInt64} // it cannot be excluded that one came with a bundle
	}
	rows := all.Current(at.Run.ID)
	if q.History {
		rows = all.History(at.Run.ID)
	}
	limit := cmp.Or(q.Limit, limits.AnnotationsPage)
	var size paging.Size
	for _, e := range rows {
		if e.Index <= after || q.Signal != "" && e.Signal.Kind != q.Signal {
			continue
		}
		e.Details.Imported = came.Has(e.Index)
		row := annotationRow{e.Annotation, e.Details}
		if len(out.Annotations) == limit || !size.Fits(row) && len(out.Annotations) > 0 {
			out.NextCursor = strconv.FormatInt(after, 10)
			break
		}
		after = e.Index
		out.Annotations = append(out.Annotations, e.Annotation)
		out.About[e.AnnotationID.String()] = e.Details
	}
	return out, nil
}

// CurrentAnnotations returns all current annotations of a run, none where feedback is not provided. Of a
// damaged log it returns those before the damage. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS.
func CurrentAnnotations(ctx context.Context, l *Learning, ref string) (out []feedback.Annotation, err error) {
	at, err := l.e.Lookup(ctx, ref)
	if err != nil {
		return nil, err
	}
	if err := l.CheckFeedback(ctx); err != nil {
		if fault.Is(err, fault.CapabilityNotProvided) {
			err = nil
		}
		return nil, err
	}
	var all *annotations.Log
	if _, err := l.store.Read(ctx, ports.ReadRequest{Log: feedback.LogOf(at.Session)}, ports.Into(&all, annotations.NewLog)); err != nil {
		return nil, err
	}
	for _, e := range all.Current(at.Run.ID) {
		out = append(out, e.Annotation)
	}
	return out, nil
}

// annotationRow is what an annotation adds to a page.
type annotationRow struct {
	Annotation feedback.Annotation `json:"annotation"`
	Details    feedback.Details    `json:"details"`
}

// check validates the query; after is the event index of the last row of the
// previous page, -1 for the first page.
func (q AnnotationQuery) check() (after int64, err error) {
	if q.Limit < 0 || q.Limit > limits.AnnotationsPageMax {
		return 0, fault.New(fault.ValidationError, "limit: expected 1 to %d, got %d", limits.AnnotationsPageMax,
			q.Limit).
			Suggest("Request fewer, and the rest with nextCursor.").With("field", "limit")
	}
	if q.Signal != "" && !slices.Contains(feedback.Signals(), q.Signal) {
		return 0, fault.New(fault.ValidationError, "signal: expected one of %v, got %q", feedback.Signals(), q.Signal).
			With("field", "signal")
	}
	if q.Cursor == "" {
		return -1, nil
	}
	after, err = strconv.ParseInt(q.Cursor, 10, 64)
	if err != nil || after < 0 || strconv.FormatInt(after, 10) != q.Cursor {
		return 0, fault.New(fault.ValidationError, "the cursor %q is not valid", q.Cursor).
			Suggest("Copy nextCursor unchanged from the previous page.")
	}
	return after, nil
}

// FeedbackSummary is the document "annotation_summary": annotations summarized
// by run and by workflow.
type FeedbackSummary struct {
	Runs      []RunFeedback      `json:"runs"`
	Workflows []WorkflowFeedback `json:"workflows"`
	// Incomplete lists sessions whose runs or annotations could not be read to
	// the end.
	Incomplete []id.Session `json:"incomplete"`
}

// RunFeedback is the summary of one run.
type RunFeedback struct {
	RunID      id.Run     `json:"runId"`
	SessionID  id.Session `json:"sessionId"`
	WorkflowID string     `json:"workflowId"`
	// Source is plugin:NAME for a workflow of an attached folder, else the kind of its source.
	Source string `json:"source,omitzero"`
	Title  string `json:"title,omitzero"`
	annotations.Summary
}

// WorkflowFeedback is the summary of all runs of a workflow.
type WorkflowFeedback struct {
	WorkflowID string `json:"workflowId"`
	// Source is plugin:NAME for a workflow of an attached folder, which is another one than a
	// workflow with its id elsewhere; "" for all others.
	Source string `json:"source,omitzero"`
	annotations.RunSums
}

// SummaryQuery selects what is summarized; the zero query selects the whole
// store.
type SummaryQuery struct {
	Run        string // id, prefix or @last
	WorkflowID string
}

// SummarizeAnnotations summarizes annotations by run and by workflow. Runs
// without annotations count among the runs of their workflow, and have no row
// unless q.Run names one. The rows are ordered by the number of annotations,
// the largest first. Errors of session.Whole.
func (l *Learning) SummarizeAnnotations(ctx context.Context, q SummaryQuery) (FeedbackSummary, error) {
	return session.Whole(l.store, func() (FeedbackSummary, error) { return summarize(ctx, l, q) })
}

// summarize is SummarizeAnnotations, without sessions that cannot be read.
func summarize(ctx context.Context, l *Learning, q SummaryQuery) (FeedbackSummary, error) {
	out := FeedbackSummary{Runs: []RunFeedback{}, Workflows: []WorkflowFeedback{}, Incomplete: []id.Session{}}
	if _, err := l.settings.Provided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return out, err
	}
	if q.Run != "" {
		at, err := l.e.Lookup(ctx, q.Run)
		if err != nil {
			return out, err
		}
		t, whole, err := l.e.Tally(ctx, at.Session)
		if err != nil {
			return out, err
		}
		if !whole {
			out.Incomplete = append(out.Incomplete, at.Session)
		}
		out.Runs = append(out.Runs, l.runFeedback(ctx, at.Session, at.Run, t))
		return out, nil
	}
	return out, l.summarizeStore(ctx, q, &out)
}

// summarizeStore adds the rows of all runs that the query selects.
func (l *Learning) summarizeStore(ctx context.Context, q SummaryQuery, out *FeedbackSummary) error {
	all, err := l.store.Sessions(ctx)
	if err != nil {
		return err
	}
	type workflow struct{ id, source string }
	sums := map[workflow][]annotations.Sums{}
	for _, s := range all {
		fold, v, err := l.e.ReadWindowed(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			out.Incomplete = append(out.Incomplete, s)
			continue
		}
		t, whole, err := l.e.Tally(ctx, s)
		if err != nil || !whole || v.Damaged() { // runs behind the damage are unknown
			out.Incomplete = append(out.Incomplete, s)
		}
		for _, name := range fold.Order {
			run := fold.Runs[name]
			if q.WorkflowID != "" && run.Started.WorkflowID != q.WorkflowID {
				continue
			}
			row, of := l.runFeedback(ctx, s, run, t), t.Of(run.ID)
			w := workflow{id: row.WorkflowID}
			if origin.IsPlugin(row.Source) {
				w.source = row.Source
			}
			sums[w] = append(sums[w], of)
			if of.Count() > 0 {
				out.Runs = append(out.Runs, row)
			}
		}
	}
	for w, of := range sums {
		out.Workflows = append(out.Workflows, WorkflowFeedback{w.id, w.source, annotations.Merge(of)})
	}
	sorting.By(out.Workflows, func(a, b WorkflowFeedback) int {
		return cmp.Or(cmp.Compare(b.Annotations, a.Annotations), cmp.Compare(a.WorkflowID, b.WorkflowID),
			cmp.Compare(a.Source, b.Source))
	})
	sorting.By(out.Runs, func(a, b RunFeedback) int {
		return cmp.Or(cmp.Compare(b.Annotations, a.Annotations), a.RunID.Compare(b.RunID))
	})
	return nil
}

// runFeedback builds the row of one run.
func (l *Learning) runFeedback(ctx context.Context, s id.Session, run *runs.Run, t *annotations.Tally) RunFeedback {
	return RunFeedback{RunID: run.ID, SessionID: s, WorkflowID: run.Started.WorkflowID,
		Source: l.e.Origins.SourceOf(ctx, s, run.Started), Title: run.Started.Name(), Summary: t.Of(run.ID).Summary()}
}
