package lists

import (
	"context"
	"encoding/json"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
	"github.com/waybill/waybill/projections/runs"
)

// sessionRows are the rows of the runs of a session, in the order of their start, and what could not be read.
type sessionRows struct {
	rows       []views.RunSummary
	facts      []index.Facts // of each row
	notes      []string      // of each row: the latest on the path to the preferred tip
	runs       []index.Run
	head       manifest.Head // of the events that were read, and of the annotations
	notesHead  manifest.Head
	unreadable []views.Unreadable
	// settled reports that the rows are a function of the files that the index observes.
	settled bool
}

// readSession reads the rows of a session. It never fails: what cannot be read is listed.
func (o *Lists) readSession(ctx context.Context, s id.Session) (out sessionRows) {
	unreadable := func(h manifest.Health, message string) {
		out.unreadable = append(out.unreadable, views.Unreadable{SessionID: s, Health: h, Message: message})
	}
	fold, v, err := o.r.ReadWindowed(ctx, s)
	if err != nil {
		unreadable(manifest.CorruptHead, fault.Of(err).Message)
		return out
	}
	// A log that ends before its head cache is damaged for those who resume it.
	claimed, _ := o.r.Brief(ctx, s, o.r.HeadKey(ctx))
	out.settled = v.Health == manifest.Healthy && v.TailBytes == 0 && len(v.Orphans) == 0 && claimed.Head.Next <= v.Head.Next
	if out.head = v.Head; v.Unborn() {
		return out
	}
	// Events without a run: the log is damaged before its first run.
	if len(fold.Order) == 0 {
		unreadable(v.Health, views.LastFinding(v))
	}
	tally, whole, tallyErr := o.r.Tally(ctx, s)
	out.notesHead, out.settled = tally.Head, out.settled && whole && tallyErr == nil
	o.rowsOf(ctx, s, fold, v.Health, tally, tallyErr == nil && whole, &out)
	return out
}

// rowsOf adds the rows of a fold. whole is false if not all annotations were counted.
func (o *Lists) rowsOf(ctx context.Context, s id.Session, fold *runs.Fold, health manifest.Health, tally *annotations.Tally,
	whole bool, out *sessionRows) {
	for _, runID := range fold.Order {
		r := fold.Runs[runID]
		row, err := o.views.SummaryOf(ctx, s, r, health)
		if err != nil {
			out.settled = false
			out.unreadable = append(out.unreadable, views.Unreadable{SessionID: s, Health: health, Message: fault.Of(err).Message})
			continue
		}
		w, err := o.r.Workflow(ctx, r.Started.WorkflowHash)
		sums := tally.Of(runID)
		row.Branch = fold.Observations["git_branch"].Value
		row.Annotations = views.CountsOf(sums, whole)
		out.settled = out.settled && err == nil && row.Health == manifest.Healthy &&
			!o.r.Origins.DependOnProgram(ctx, s, r.Started)
		out.rows, out.notes = append(out.rows, row), append(out.notes, notesOf(r))
		out.facts = append(out.facts, index.Facts{WorkflowID: row.WorkflowID, WorkflowName: w.Name, Title: r.Started.Title,
			Goal: r.Started.Goal, Heads: fold.Observed("git_head_sha"), Branches: fold.Observed("git_branch"), Labels: sums.Labels})
		listed := index.Run{ID: runID, Tip: r.Tip, LastAtMs: r.LastAtMs, LastIndex: r.LastIndex, Open: row.IsOpen(),
			States: statesOf(row)}
		if o.pending != nil && row.Health == manifest.Healthy && isUnderWay(row.Status) {
			pending, err := o.pending(ctx, s, fold, r)
			out.settled = out.settled && err == nil
			listed = listed.WithPending(pending)
		}
		if o.waits != nil && row.IsOpen() && row.Health == manifest.Healthy {
			waits, err := o.waits(ctx, s, fold, row)
			out.settled = out.settled && err == nil
			listed = listed.WithWaits(waits)
		}
		out.runs = append(out.runs, listed)
	}
	out.settled = out.settled && len(out.unreadable) == 0
}

// statesOf are the statuses by which a row is selected.
func statesOf(row views.RunSummary) []string {
	out := []string{string(row.Status)}
	if row.CommandFailed && row.Status != runs.Failed {
		out = append(out, string(runs.Failed))
	}
	return out
}

// isUnderWay reports a status at which something may be pending for a performer.
func isUnderWay(s runs.Status) bool {
	return s == runs.InProgress || s == runs.Blocked || s == runs.Cancelling
}

// keptRuns are the runs as a catalogue keeps them.
func (read *sessionRows) keptRuns() (out []index.Run) {
	for i, r := range read.runs {
		r.Row = encodeRow(read.rows[i], paging.Bytes(read.rows[i]))
		out = append(out, r.WithFacts(read.facts[i]))
	}
	return out
}

// BriefOf returns the brief of a session after an append, from the fold of all its events; nil if it does not decide the
// brief alone. objects are what the store does not have yet. No log is read: annotations are not counted, so that the session of
// one that has some is read for the next list.
func (o *Lists) BriefOf(ctx context.Context, s id.Session, fold *runs.Fold, objects []manifest.Object) *manifest.Brief {
	out, with := sessionRows{settled: true}, *o
	with.views = o.views.Over(withObjects{o.store, objects})
	if with.rowsOf(ctx, s, fold, manifest.Healthy, annotations.NewTally(), true, &out); !out.settled {
		return nil
	}
	b := index.Content{Runs: out.keptRuns()}.Brief()
	return &b
}

// withObjects is a source with objects that it does not have yet.
type withObjects struct {
	views.Source
	objects []manifest.Object
}

// Object implements ports.Objects.
func (w withObjects) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	for _, o := range w.objects {
		if o.Kind == kind && o.Ref() == ref {
			return o.Bytes, nil
		}
	}
	return w.Source.Object(ctx, kind, ref)
}

// KeepIn lets lists keep in a catalogue what they show of sessions that do not change. marks are the keep marks.
func (o *Lists) KeepIn(x index.Catalogue, marks ports.SessionControls) {
	o.index = x
	x.ReadBy(index.Readers{ReadWords: o.words, Read: func(ctx context.Context, s id.Session) (c index.Content, err error) {
		before := o.store.Failures()
		read := o.readSession(ctx, s)
		mark, err := marks.SessionControl(ctx, s, ports.KeepFile)
		c.Marked = err != nil || !mark.Data.IsNull()
		c.Runs = read.keptRuns()
		c.Events, c.Heads = read.head.Next, &index.Heads{Events: read.head, Notes: read.notesHead}
		// What could not be opened for want of a descriptor is not known, and must not be kept as missing.
		c.Keep = read.settled && o.store.Failures() == before
		if err := ctx.Err(); err != nil {
			return c, err // that is why it cannot be read
		}
		if len(read.unreadable) > 0 {
			c.Problems, err = json.Marshal(read.unreadable)
			return c, err
		}
		return c, nil
	}})
}

// listed is a run in the order of a list, whose row and facts are decoded when they are needed.
type listed struct {
	*index.Run
	session id.Session
	row     *views.RunSummary
	facts   *index.Facts
	notes   string // the latest on the path to the preferred tip, for a selection by text only
}

// full returns the row, and its bytes in a page, 0 if they are not known.
func (l *listed) full() (row views.RunSummary, bytes int, err error) {
	if l.row != nil {
		return *l.row, 0, nil
	}
	row, bytes, ok := decodeRow(*l.Run, l.session)
	if !ok {
		return row, 0, fault.New(fault.Invariant, "the row of run %s in the index cannot be read", l.ID)
	}
	return row, bytes, nil
}

// compared returns what filters compare beside the row.
func (l *listed) compared() index.Facts {
	if l.facts != nil {
		return *l.facts
	}
	return l.Facts()
}
