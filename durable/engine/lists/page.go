package lists

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Selection selects rows of a RunList. A zero member selects every run; a run has to meet all others.
type Selection struct {
	// Status are alternatives. Failed includes the open runs whose pending command failed.
	Status   []runs.Status
	Workflow string // the whole id
	Title    string // a part of the title, in any case
	Branch   string // the whole name of any branch on which the session was recorded
	Label    string // of a current annotation
	// Text is a part of the title, the goal, the workflow's id or the latest notes, in any case.
	Text    string
	SinceMs int64 // the earliest time of the last event
	Sort    Sort  // "": ByLatest
	Limit   int   // 0: as many as a page holds
	// Cursor is NextCursor of the previous page.
	Cursor string
}

// Statuses is the closed set that runs can be selected by.
func Statuses() []runs.Status {
	return []runs.Status{runs.InProgress, runs.Blocked, runs.Paused, runs.CompleteStatus, runs.CompleteWithGaps,
		runs.Cancelling, runs.Cancelled, runs.Failed}
}

// page returns the page of a list that s selects, with the cursor of the next
// page. A page of more than limits.AnswerBytesMax ends earlier. A cursor names the row before the page and not an offset, so that runs
// which change between two pages neither repeat a row nor hide an unchanged
// one. A malformed cursor is VALIDATION_ERROR.
func (s Selection) page(all []*listed, unreadable []views.Unreadable) (RunPage, error) {
	out := RunPage{RunList: RunList{Runs: []views.RunSummary{}, Unreadable: unreadable}}
	if err := s.Sort.sort(all); err != nil {
		return out, err
	}
	from, err := s.Sort.firstAfter(all, s.Cursor)
	if err != nil {
		return out, err
	}
	p := s.begin(out)
	if p.most = len(all) - from; s.Limit > 0 {
		p.most = min(p.most, s.Limit)
	}
	for i, more := from, true; more && i < len(all); i++ {
		if more, err = p.add(all[i]); err != nil {
			return p.out, err
		}
	}
	if len(p.out.Runs) == 0 && s.Cursor == "" {
		p.out.Excluded, err = s.excluded(all)
	}
	return p.out, err
}

// filling is a page to which runs are added in its order.
type filling struct {
	s    Selection
	out  RunPage
	size paging.Size
	most int // runs that may be added, if that is known
}

// begin begins a page.
func (s Selection) begin(out RunPage) *filling {
	p := &filling{s: s, out: out}
	p.size.Add(out.Unreadable)
	return p
}

// add adds a run, if it is selected. more is false for one behind the end of the page.
func (p *filling) add(l *listed) (more bool, err error) {
	s, out := p.s, &p.out
	full := s.Limit > 0 && len(out.Runs) == s.Limit
	if full && !s.selects() {
		out.NextCursor = s.Sort.cursorAfter(out.Runs[len(out.Runs)-1])
		return false, nil
	}
	row, bytes, err := l.full()
	if err != nil {
		return false, err
	}
	if s.selects() && len(s.missed(row, l)) > 0 {
		return true, nil
	}
	if bytes == 0 {
		bytes = paging.Bytes(row)
	}
	if full || !p.size.FitsBytes(bytes) && len(out.Runs) > 0 {
		out.NextCursor = s.Sort.cursorAfter(out.Runs[len(out.Runs)-1])
		return false, nil
	}
	if len(out.Runs) == 0 {
		out.Runs = slices.Grow(out.Runs, min(p.most, limits.AnswerBytesMax/max(bytes, rowBytesMin)+1)) // as many as fit, if they are like this one
	}
	out.Runs = append(out.Runs, row)
	return true, nil
}

// selects reports that s excludes some runs.
func (s Selection) selects() bool {
	return len(s.Status) > 0 || s.Workflow != "" || s.Title != "" || s.Branch != "" || s.Label != "" || s.Text != "" || s.SinceMs != 0
}

// RunPage is the document "runs": a page of a RunList.
type RunPage struct {
	RunList
	NextCursor string `json:"nextCursor,omitzero"`
	// Excluded says, where no run of the store is selected, how many runs each filter excludes, the most first.
	Excluded []Excluded `json:"excluded,omitzero"`
}

// cursorOf encodes the position of a row in the order of the list.
func cursorOf(r views.RunSummary) string {
	return fmt.Sprintf("%d.%d.%s", r.LastAtMs, r.LastActivityEventIndex, r.RunID)
}

// firstAfter is the index of the first row behind a cursor, len(rows) if none
// is.
func firstAfter(rows []*listed, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	at, err := parsePlace(cursor)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(rows, func(r *listed) bool {
		switch {
		case r.LastAtMs != at.LastAtMs:
			return r.LastAtMs < at.LastAtMs
		case r.LastIndex != at.LastIndex:
			return r.LastIndex < at.LastIndex
		}
		return r.ID.String() > at.Run
	})
	if i < 0 {
		i = len(rows)
	}
	return i, nil
}

// parsePlace reads a cursor of cursorOf. The error is VALIDATION_ERROR.
func parsePlace(cursor string) (at ports.BriefPlace, err error) {
	_, err = fmt.Sscanf(strings.ReplaceAll(cursor, ".", " "), "%d %d %s", &at.LastAtMs, &at.LastIndex, &at.Run)
	if err != nil {
		return at, fault.New(fault.ValidationError, "the cursor %q is not valid", cursor).
			Suggest("Copy nextCursor unchanged from the previous page.")
	}
	return at, nil
}
