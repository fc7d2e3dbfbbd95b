package lists

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
)

// Sort is the closed set of orders of a list of runs.
type Sort string

// The orders. Runs that are equal in an order have the one of ByLatest.
const (
	ByLatest     Sort = "latest"   // the run with the latest event first
	ByStart      Sort = "started"  // the run that was started last first
	ByRunTitle   Sort = "title"    // alphabetical, in any case
	ByRunStatus  Sort = "status"   // in the order of Statuses
	ByWorkflowID Sort = "workflow" // alphabetical
)

// Sorts is the closed set of orders.
func Sorts() []Sort { return []Sort{ByLatest, ByStart, ByRunTitle, ByRunStatus, ByWorkflowID} }

// isLatest reports the order in which runs are listed; the zero value is it too.
func (s Sort) isLatest() bool { return s == "" || s == ByLatest }

// compare compares two rows.
func (s Sort) compare(a, b views.RunSummary) int {
	first := 0
	switch s {
	case ByStart:
		first = cmp.Compare(b.StartedAtMs, a.StartedAtMs)
	case ByRunTitle:
		first = cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	case ByRunStatus:
		all := Statuses()
		first = cmp.Compare(slices.Index(all, a.Status), slices.Index(all, b.Status))
	case ByWorkflowID:
		first = cmp.Compare(a.WorkflowID, b.WorkflowID)
	}
	return cmp.Or(first, latestFirst(a, b))
}

// sort orders runs. It decodes every row, which ByLatest does not need.
func (s Sort) sort(all []*listed) error {
	if s.isLatest() {
		return nil
	}
	for _, l := range all {
		row, _, err := l.full()
		if err != nil {
			return err
		}
		l.row = &row
	}
	slices.SortFunc(all, func(a, b *listed) int { return s.compare(*a.row, *b.row) })
	return nil
}

// cursorAfter encodes the position of a row in the order s. In other orders than ByLatest it names the run: the next page
// begins behind the present place of the run.
func (s Sort) cursorAfter(r views.RunSummary) string {
	if s.isLatest() {
		return cursorOf(r)
	}
	return string(s) + "." + r.RunID.String()
}

// firstAfter is the index of the first row behind a cursor. VALIDATION_ERROR for one of another order, and one whose run is
// gone.
func (s Sort) firstAfter(rows []*listed, cursor string) (int, error) {
	if s.isLatest() || cursor == "" {
		return firstAfter(rows, cursor)
	}
	run, err := s.cursorRun(cursor)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(rows, func(r *listed) bool { return r.ID.String() == run })
	if i < 0 {
		return 0, fault.New(fault.ValidationError, "the run of the cursor %q is not in the store any more", cursor).
			Suggest("Start again without a cursor.")
	}
	return i + 1, nil
}

// cursorRun returns the id of the run behind which a cursor of an order continues.
func (s Sort) cursorRun(cursor string) (string, error) {
	name, run, _ := strings.Cut(cursor, ".")
	if Sort(name) != s {
		return "", fault.New(fault.ValidationError, "the cursor %q is not one of a list in the order %s", cursor, s).
			Suggest("Copy nextCursor unchanged from the previous page, and keep the order.")
	}
	return run, nil
}
