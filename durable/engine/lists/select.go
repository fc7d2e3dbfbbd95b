package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Filter is a member of a Selection that excludes runs, by the name of its flag.
type Filter string

// The filters.
const (
	ByStatus   Filter = "status"
	ByWorkflow Filter = "workflow"
	ByTitle    Filter = "title"
	ByBranch   Filter = "branch"
	ByLabel    Filter = "label"
	ByText     Filter = "text"
	BySince    Filter = "since"
)

// Excluded is the number of runs that do not meet a filter, whether or not they meet the others.
type Excluded struct {
	Filter Filter `json:"filter"`
	Runs   int    `json:"runs"`
}

// SelectRuns returns the page of a store's runs that a selection takes; see Lists.Runs.
func SelectRuns(ctx context.Context, o *Lists, s Selection) (RunPage, error) {
	return session.Whole(o.store, func() (RunPage, error) {
		q, err := s.query()
		if err != nil {
			return RunPage{}, err
		}
		if o.isStreamed() && q.Limit == 0 {
			return o.stream(ctx, s, q)
		}
		all, unreadable, of, err := o.listed(ctx, s.Text != "", q)
		if err != nil {
			return RunPage{}, err
		}
		out, err := s.page(all, unreadable)
		if err == nil && len(out.Runs) == 0 && s.Cursor == "" && of.Selected {
			// Which filter excludes most is counted over all runs.
			var n counting
			err = o.each(ctx, ports.BriefQuery{}, nil, func(l *listed) error { return n.add(s, l) })
			out.Excluded = n.excluded()
		}
		return out, err
	})
}

// query returns what a catalogue compares for a page. A malformed cursor is VALIDATION_ERROR.
func (s Selection) query() (q ports.BriefQuery, err error) {
	for _, status := range s.Status {
		q.States = append(q.States, string(status))
	}
	q.Workflow, q.Branch, q.SinceMs = s.Workflow, s.Branch, s.SinceMs
	if !s.Sort.isLatest() || s.Title+s.Label+s.Text != "" {
		return q, nil // the order of the page, or other filters, need all of them
	}
	q.Limit = pageRunsMax
	if s.Limit > 0 {
		q.Limit = min(q.Limit, s.Limit+1) // one more shows that there is a next page
	}
	if s.Cursor != "" {
		q.After, err = parsePlace(s.Cursor)
	}
	return q, err
}

// pageRunsMax is more runs than a page holds, since the shortest row is longer than rowBytesMin.
const (
	pageRunsMax = limits.AnswerBytesMax / rowBytesMin
	rowBytesMin = 256
)

// missed lists the filters that a row does not meet, in the order of Filter.
func (s Selection) missed(row views.RunSummary, in *listed) (out []Filter) {
	for _, f := range []struct {
		filter  Filter
		isGiven bool
		isMet   func() bool
	}{
		{ByStatus, len(s.Status) > 0, func() bool { return s.hasStatus(row) }},
		{ByWorkflow, s.Workflow != "", func() bool { return row.WorkflowID == s.Workflow }},
		{ByTitle, s.Title != "", func() bool { return contains(row.Title, s.Title) }},
		{ByBranch, s.Branch != "", func() bool { return slices.Contains(in.compared().Branches, s.Branch) }},
		{ByLabel, s.Label != "", func() bool { return in.compared().Labels[s.Label] > 0 }},
		{ByText, s.Text != "", func() bool {
			return slices.ContainsFunc([]string{row.Title, row.Goal, row.WorkflowID, in.notes},
				func(text string) bool { return contains(text, s.Text) })
		}},
		{BySince, s.SinceMs != 0, func() bool { return row.LastAtMs >= s.SinceMs }},
	} {
		if f.isGiven && !f.isMet() {
			out = append(out, f.filter)
		}
	}
	return out
}

// hasStatus reports that the status of a row is selected: Failed also by the failure of its pending command.
func (s Selection) hasStatus(row views.RunSummary) bool {
	return slices.Contains(s.Status, row.Status) || row.CommandFailed && slices.Contains(s.Status, runs.Failed)
}

// contains reports that a text has a part, in any case.
func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// excluded counts the rows that each filter excludes, the filter that excludes most first.
func (s Selection) excluded(all []*listed) (out []Excluded, err error) {
	var n counting
	for i := range all {
		if err := n.add(s, all[i]); err != nil {
			return nil, err
		}
	}
	return n.excluded(), nil
}

// counting counts how many runs each filter excludes.
type counting []Excluded

// add adds a run.
func (n *counting) add(s Selection, l *listed) error {
	row, _, err := l.full()
	if err != nil {
		return err
	}
	for _, f := range s.missed(row, l) {
		i := slices.IndexFunc(*n, func(e Excluded) bool { return e.Filter == f })
		if i < 0 {
			i, *n = len(*n), append(*n, Excluded{Filter: f})
		}
		(*n)[i].Runs++
	}
	return nil
}

// excluded returns the filters, the one that excludes the most runs first; nil without any.
func (n counting) excluded() []Excluded {
	sorting.Stable(n, func(a, b Excluded) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Filter, b.Filter))
	})
	return n
}
