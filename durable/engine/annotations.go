package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
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
// CAPABILITY_NOT_PROVIDED.
func (g *Engine) Annotations(ctx context.Context, ref string, q AnnotationQuery) (AnnotationList, error) {
	out := AnnotationList{Annotations: []feedback.Annotation{}, About: map[string]feedback.Details{}}
	if _, err := g.requireProvided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return out, err
	}
	after, err := q.check()
	if err != nil {
		return out, err
	}
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return out, err
	}
	if from := at.run.Started.ForkedFrom; from != nil {
		out.ForkedFrom = &Origin{from.SessionID, from.RunID, from.NodeID}
	}
	all := annotations.NewLog()
	v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: annotationsLog(at.session)}, all)
	if err != nil {
		return out, err
	}
	out.Health = v.Health
	rows := all.Current(at.run.ID)
	if q.History {
		rows = all.History(at.run.ID)
	}
	limit := cmp.Or(q.Limit, limits.AnnotationsPage)
	for _, e := range rows {
		if e.Index <= after || q.Signal != "" && e.Signal.Kind != q.Signal {
			continue
		}
		if len(out.Annotations) == limit {
			out.NextCursor = strconv.FormatInt(after, 10)
			break
		}
		after = e.Index
		out.Annotations = append(out.Annotations, e.Annotation)
		out.About[e.AnnotationID.String()] = e.Details
	}
	return out, nil
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
	Title      string     `json:"title,omitzero"`
	annotations.Summary
}

// WorkflowFeedback is the summary of all runs of a workflow.
type WorkflowFeedback struct {
	WorkflowID string `json:"workflowId"`
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
// the largest first.
func (g *Engine) SummarizeAnnotations(ctx context.Context, q SummaryQuery) (FeedbackSummary, error) {
	out := FeedbackSummary{Runs: []RunFeedback{}, Workflows: []WorkflowFeedback{}, Incomplete: []id.Session{}}
	if _, err := g.requireProvided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return out, err
	}
	if q.Run != "" {
		at, err := g.lookup(ctx, q.Run)
		if err != nil {
			return out, err
		}
		t, whole, err := g.tally(ctx, at.session)
		if err != nil {
			return out, err
		}
		if !whole {
			out.Incomplete = append(out.Incomplete, at.session)
		}
		out.Runs = append(out.Runs, runFeedback(at.session, at.run, t))
		return out, nil
	}
	return out, g.summarizeStore(ctx, q, &out)
}

// summarizeStore adds the rows of all runs that the query selects.
func (g *Engine) summarizeStore(ctx context.Context, q SummaryQuery, out *FeedbackSummary) error {
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return err
	}
	sums := map[string][]annotations.Sums{}
	for _, s := range all {
		fold, v, err := g.readWindowed(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			out.Incomplete = append(out.Incomplete, s)
			continue
		}
		t, whole, err := g.tally(ctx, s)
		if err != nil || !whole || v.Damaged() { // runs behind the damage are unknown
			out.Incomplete = append(out.Incomplete, s)
		}
		for _, name := range fold.Order {
			run := fold.Runs[name]
			if q.WorkflowID != "" && run.Started.WorkflowID != q.WorkflowID {
				continue
			}
			of := t.Of(run.ID)
			sums[run.Started.WorkflowID] = append(sums[run.Started.WorkflowID], of)
			if of.Count() > 0 {
				out.Runs = append(out.Runs, runFeedback(s, run, t))
			}
		}
	}
	for name, of := range sums {
		out.Workflows = append(out.Workflows, WorkflowFeedback{name, annotations.Merge(of)})
	}
	slices.SortFunc(out.Workflows, func(a, b WorkflowFeedback) int {
		return cmp.Or(cmp.Compare(b.Annotations, a.Annotations), cmp.Compare(a.WorkflowID, b.WorkflowID))
	})
	slices.SortFunc(out.Runs, func(a, b RunFeedback) int {
		return cmp.Or(cmp.Compare(b.Annotations, a.Annotations), cmp.Compare(a.RunID.String(), b.RunID.String()))
	})
	return nil
}

// runFeedback builds the row of one run.
func runFeedback(s id.Session, run *runs.Run, t *annotations.Tally) RunFeedback {
	return RunFeedback{RunID: run.ID, SessionID: s, WorkflowID: run.Started.WorkflowID, Title: run.Started.Title,
		Summary: t.Of(run.ID).Summary()}
}

// tally sums a session's annotations, continuing from the saved sums. whole is
// false if the log is damaged or has records that this version does not know.
func (g *Engine) tally(ctx context.Context, s id.Session) (t *annotations.Tally, whole bool, err error) {
	log := annotationsLog(s)
	// Most sessions have no annotations; that is checked before the cache is
	// read.
	v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: log}, newSegmentProbe{})
	if err == nil && v.Health == manifest.Healthy && v.Head.IsZero() {
		return annotations.NewTally(), true, nil
	}
	t = g.savedTally(ctx, log)
	v, err = g.Logs.Read(ctx, ports.ReadRequest{Log: log, From: t.Head}, t)
	if errors.Is(err, manifest.ErrNotOnChain) || err == nil && t.Missed() {
		t.Reset()
		v, err = g.Logs.Read(ctx, ports.ReadRequest{Log: log}, t)
	}
	return t, err == nil && v.Health == manifest.Healthy, err
}

// tallySeal is the context under which the key for the seal of a saved tally is
// derived.
const tallySeal = "waybill 2026 v1 annotations cache"

// savedTally loads the saved sums of a session's annotations, empty sums
// without a valid cache.
func (g *Engine) savedTally(ctx context.Context, log manifest.Log) *annotations.Tally {
	empty := annotations.NewTally()
	if g.HeadCache == nil {
		return empty
	}
	// The keyring is read last: a list of many sessions finds no cache for most
	// of them.
	data, err := g.HeadCache.CachedHead(ctx, log, annotations.TallyFormat, limits.AnnotationCacheBytesMax+1)
	if err != nil || len(data) == 0 || len(data) > limits.AnnotationCacheBytesMax {
		return empty
	}
	key := g.headKey(ctx)
	if key == nil {
		return empty
	}
	doc, ok := openSealed(data, tallySeal, key)
	if !ok {
		return empty
	}
	t, err := annotations.LoadTally(doc)
	if err != nil || t.Head.NextRecord <= shortLog {
		return empty // a short log is read in full, which also detects damage
	}
	return t
}

// saveTally saves sums whose head was just committed. Errors are ignored: the
// cache saves time only.
func (g *Engine) saveTally(ctx context.Context, log manifest.Log, t *annotations.Tally) {
	key := g.headKey(ctx)
	if key == nil {
		return
	}
	doc, err := t.Save()
	if err == nil && len(doc) < limits.AnnotationCacheBytesMax-1024 {
		_ = g.HeadCache.StoreHead(ctx, log, annotations.TallyFormat, appendSealed(nil, tallySeal, key, doc))
	}
}
