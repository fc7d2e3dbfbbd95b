package lists

import (
	"context"
	"encoding/json"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// searched is what filters compare of a run and its row does not show.
type searched struct {
	Labels   map[string]int64 `json:"labels,omitzero"`
	Branches []string         `json:"branches,omitzero"` // all on which the session was recorded
	Notes    string           `json:"-"`                 // the latest on the path to the preferred tip
}

// sessionRows are the rows of the runs of a session, in the order of their start, and what could not be read.
type sessionRows struct {
	rows       []views.RunSummary
	searched   []searched // of each row
	runs       []index.Run
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
	out.settled = v.Health == manifest.Healthy && v.TailBytes == 0 && len(v.Orphans) == 0
	if v.Unborn() {
		return out
	}
	// Events without a run: the log is damaged before its first run.
	if len(fold.Order) == 0 {
		unreadable(v.Health, views.LastFinding(v))
	}
	tally, whole, tallyErr := o.r.Tally(ctx, s)
	out.settled = out.settled && whole && tallyErr == nil
	for _, runID := range fold.Order {
		r := fold.Runs[runID]
		row, err := o.views.SummaryOf(ctx, s, r, v.Health)
		if err != nil {
			out.settled = false
			unreadable(v.Health, fault.Of(err).Message)
			continue
		}
		sums := tally.Of(runID)
		row.Branch = fold.Observations["git_branch"].Value
		row.Annotations = views.CountsOf(sums, tallyErr == nil && whole)
		out.settled = out.settled && row.Health == manifest.Healthy && !o.r.Origins.DependOnProgram(ctx, s, r.Started)
		out.rows, out.searched = append(out.rows, row), append(out.searched, searched{sums.Labels, fold.Observed("git_branch"), notesOf(r)})
		out.runs = append(out.runs, index.Run{ID: runID, Tip: r.Tip, LastAtMs: r.LastAtMs, LastIndex: r.LastIndex})
	}
	out.settled = out.settled && len(out.unreadable) == 0
	return out
}

// KeepIn lets lists keep in an index what they show of sessions that do not change.
func (o *Lists) KeepIn(x *index.Index) {
	o.index = x
	x.Read = func(ctx context.Context, s id.Session) (c index.Content, err error) {
		before := o.store.OutOfDescriptors()
		read := o.readSession(ctx, s)
		// What could not be opened for want of a descriptor is not known, and must not be kept as missing.
		c.Keep, c.Runs = read.settled && o.store.OutOfDescriptors() == before, read.runs
		for i := range c.Runs {
			c.Runs[i].Row, err = json.Marshal(read.rows[i])
			if err == nil {
				c.Runs[i].Extra, err = json.Marshal(read.searched[i])
			}
			if err != nil {
				return c, err
			}
		}
		if len(read.unreadable) > 0 {
			c.Problems, err = json.Marshal(read.unreadable)
		}
		return c, err
	}
}

// listed is a run in the order of a list, whose row is decoded when it is needed.
type listed struct {
	index.Run
	row *views.RunSummary
	searched
}

// full returns the row, after which searched is complete too.
func (l *listed) full() (views.RunSummary, error) {
	if l.row != nil {
		return *l.row, nil
	}
	var row views.RunSummary
	err := json.Unmarshal(l.Row, &row)
	if err == nil {
		err = json.Unmarshal(l.Extra, &l.searched)
	}
	if err != nil {
		return row, fault.Wrap(err, fault.Invariant, "the row of run %s in the index cannot be read: %v", l.ID, err)
	}
	l.row = &row
	return row, nil
}
