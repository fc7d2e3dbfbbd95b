package lists

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// TestSorts: each order, whole and in pages of two, and with a filter.
func TestSorts(t *testing.T) {
	t.Parallel()
	l := list{}
	for i, r := range []views.RunSummary{
		{Title: "a", WorkflowID: "w.b", Status: runs.CompleteStatus, StartedAtMs: 3, LastAtMs: 40},
		{Title: "C", WorkflowID: "w.a", Status: runs.Blocked, StartedAtMs: 1, LastAtMs: 30},
		{Title: "b", WorkflowID: "w.b", Status: runs.InProgress, StartedAtMs: 2, LastAtMs: 20},
		{Title: "B", WorkflowID: "w.a", Status: runs.Failed, StartedAtMs: 2, LastAtMs: 10}} {
		r.RunID = id.NewRun(id.Seed{byte(i)})
		l.Runs = append(l.Runs, r)
	}
	titles := func(rows []views.RunSummary) (out []string) {
		for _, r := range rows {
			out = append(out, r.Title)
		}
		return out
	}
	for sort, want := range map[Sort]string{"": "a C b B", ByLatest: "a C b B", ByStart: "a b B C", ByRunTitle: "a b B C",
		ByRunStatus: "b C a B", ByWorkflowID: "C B a b"} {
		whole, err := l.Select(Selection{Sort: sort})
		if got := strings.Join(titles(whole.Runs), " "); err != nil || got != want || whole.NextCursor != "" {
			t.Errorf("%q: %s %v, want %s", sort, got, err, want)
		}
		var paged []string
		for s := (Selection{Sort: sort, Limit: 1}); ; {
			page, err := l.Select(s)
			if err != nil || len(page.Runs) > 1 {
				t.Fatal(err, page.Runs)
			}
			paged = append(paged, titles(page.Runs)...)
			if s.Cursor = page.NextCursor; s.Cursor == "" {
				break
			}
		}
		if fmt.Sprint(paged) != fmt.Sprint(titles(whole.Runs)) {
			t.Errorf("%q in pages: %v", sort, paged)
		}
		some, err := l.Select(Selection{Sort: sort, Workflow: "w.b"})
		all := slices.DeleteFunc(titles(whole.Runs), func(title string) bool { return title == "C" || title == "B" })
		if fmt.Sprint(titles(some.Runs)) != fmt.Sprint(all) || err != nil {
			t.Errorf("%q with a filter: %v %v", sort, titles(some.Runs), err)
		}
	}
	first, _ := l.Select(Selection{Sort: ByRunTitle, Limit: 1})
	latest, _ := l.Select(Selection{Limit: 1})
	for _, s := range []Selection{{Sort: ByStart, Cursor: first.NextCursor}, {Cursor: first.NextCursor},
		{Sort: ByRunTitle, Cursor: latest.NextCursor}, {Sort: ByRunTitle, Cursor: "title." + id.NewRun(id.Seed{9}).String()},
		{Sort: ByRunTitle, Cursor: "title"}} {
		if _, err := l.Select(s); !fault.Is(err, fault.ValidationError) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if len(Sorts()) != 5 {
		t.Error("an order has no row above")
	}
}
