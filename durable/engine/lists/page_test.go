package lists

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/projections/runs"
)

// list is a list of runs before it is selected from.
type list struct {
	RunList
	facts map[int]index.Facts // by the index of the run
	notes map[int]string
}

// Select returns the page of l that s selects.
func (l list) Select(s Selection) (RunPage, error) {
	var all []*listed
	for i := range l.Runs {
		r := &l.Runs[i]
		facts := l.facts[i]
		all = append(all, &listed{Run: &index.Run{ID: r.RunID, LastAtMs: r.LastAtMs, LastIndex: r.LastActivityEventIndex}, row: r,
			facts: &facts, notes: l.notes[i]})
	}
	return s.page(all, l.Unreadable)
}

func rows(n int) list {
	l := list{}
	for i := range n {
		status := runs.InProgress
		if i%2 == 1 {
			status = runs.CompleteStatus
		}
		// Pairs share a time, so that the cursor has to compare more than the time.
		l.Runs = append(l.Runs, views.RunSummary{RunID: id.NewRun(id.Seed{byte(i)}), Status: status,
			LastAtMs: int64(100 - i/2), LastActivityEventIndex: int64(9 - i%2)})
	}
	return l
}

// TestPagesAreBounded: a page without a limit ends before it exceeds an answer, also where text takes
// more bytes as an escape, and all pages together have every row once.
func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	l := rows(4000)
	for i := range l.Runs {
		l.Runs[i].RunID = id.NewRun(id.Seed{byte(i), byte(i >> 8)})
		l.Runs[i].SessionID = id.NewSession(id.Seed{})
		l.Runs[i].Title = strings.Repeat("\u200b", 170)
	}
	l.Unreadable = []views.Unreadable{{SessionID: id.NewSession(id.Seed{}), Message: strings.Repeat("u", 1000)}}
	seen, s := map[id.Run]bool{}, Selection{}
	for pages := 1; ; pages++ {
		page, err := l.Select(s)
		if err != nil || len(page.Runs) == 0 {
			t.Fatal(len(page.Runs), err)
		}
		v, err := canon.ValueOf(page)
		if n := len(invisible.EscapeJSON(v.JCS())); err != nil || n > limits.AnswerBytesMax {
			t.Fatal(n, err)
		}
		for _, r := range page.Runs {
			seen[r.RunID] = true
		}
		if s.Cursor = page.NextCursor; s.Cursor == "" {
			if pages < 4 || len(seen) != 4000 {
				t.Errorf("%d rows on %d pages", len(seen), pages)
			}
			return
		}
	}
}

func TestPagesHoldEveryRowOnce(t *testing.T) {
	t.Parallel()
	l := rows(7)
	for limit := 1; limit <= 8; limit++ {
		var got []views.RunSummary
		s := Selection{Limit: limit}
		for {
			page, err := l.Select(s)
			if err != nil || len(page.Runs) > limit {
				t.Fatal(len(page.Runs), err)
			}
			got = append(got, page.Runs...)
			if s.Cursor = page.NextCursor; s.Cursor == "" {
				break
			}
		}
		if len(got) != 7 {
			t.Fatalf("limit %d gave %d rows", limit, len(got))
		}
		for i := range got {
			if got[i].RunID != l.Runs[i].RunID {
				t.Fatalf("limit %d: row %d differs", limit, i)
			}
		}
	}
}

func TestACursorOutlivesItsRow(t *testing.T) {
	t.Parallel()
	l := rows(6)
	page, _ := l.Select(Selection{Limit: 3})
	l.Runs = append(l.Runs[:2:2], l.Runs[3:]...) // the row that the cursor names is gone
	rest, err := l.Select(Selection{Cursor: page.NextCursor})
	if err != nil || len(rest.Runs) != 3 || rest.Runs[0].RunID != l.Runs[2].RunID {
		t.Fatalf("%d rows, %v", len(rest.Runs), err)
	}
}

func TestSelectFiltersBeforeItCounts(t *testing.T) {
	t.Parallel()
	page, err := rows(6).Select(Selection{Status: []runs.Status{runs.CompleteStatus}, Limit: 2})
	if err != nil || len(page.Runs) != 2 || page.NextCursor == "" {
		t.Fatalf("%d rows, cursor %q, %v", len(page.Runs), page.NextCursor, err)
	}
	for _, bad := range []string{"x", "1.2", "-", "1.x.run_"} {
		if _, err := rows(2).Select(Selection{Cursor: bad}); !fault.Is(err, fault.ValidationError) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

// TestSelectByEachFilter: a filter selects the runs that meet it, and what no run meets is reported with the
// number of runs that each filter excludes.
func TestSelectByEachFilter(t *testing.T) {
	t.Parallel()
	l := rows(3)
	l.Runs[0].Title, l.Runs[0].CommandFailed = "Fix the Parser", true
	l.Runs[1].WorkflowID, l.Runs[1].Goal = "team.flow", "ship it"
	l.facts = map[int]index.Facts{0: {Branches: []string{"old", "main"}}, 1: {Labels: map[string]int64{"good": 1}}}
	l.notes = map[int]string{2: "A Parser of dates"}
	for name, c := range map[string]struct {
		s    Selection
		want []int
	}{
		"failed command": {Selection{Status: []runs.Status{runs.Failed}}, []int{0}},
		"workflow":       {Selection{Workflow: "team.flow"}, []int{1}},
		"title":          {Selection{Title: "parser"}, []int{0}},
		"branch":         {Selection{Branch: "main"}, []int{0}},
		"earlier branch": {Selection{Branch: "old"}, []int{0}},
		"label":          {Selection{Label: "good"}, []int{1}},
		"text":           {Selection{Text: "PARSER"}, []int{0, 2}},
		"text of a goal": {Selection{Text: "ship"}, []int{1}},
		"since":          {Selection{SinceMs: 100}, []int{0, 1}},
		"both":           {Selection{Text: "parser", SinceMs: 100}, []int{0}},
	} {
		page, err := l.Select(c.s)
		var got []int
		for i, r := range l.Runs {
			if slices.ContainsFunc(page.Runs, func(of views.RunSummary) bool { return of.RunID == r.RunID }) {
				got = append(got, i)
			}
		}
		if err != nil || !slices.Equal(got, c.want) || page.Excluded != nil {
			t.Errorf("%s: runs %v, want %v, %+v, %v", name, got, c.want, page.Excluded, err)
		}
	}
	page, err := l.Select(Selection{Branch: "main", Label: "none", Title: "fix"})
	want := []Excluded{{ByLabel, 3}, {ByBranch, 2}, {ByTitle, 2}}
	if err != nil || len(page.Runs) != 0 || !slices.Equal(page.Excluded, want) {
		t.Errorf("%+v, %v, want %+v", page, err, want)
	}
}

// TestPagesAskForEnoughRuns: no row is shorter than what the number of runs that a page asks a catalogue for is computed from.
func TestPagesAskForEnoughRuns(t *testing.T) {
	t.Parallel()
	row := views.RunSummary{RunID: id.NewRun(id.Seed{}), SessionID: id.NewSession(id.Seed{}), Tips: []views.Tip{}}
	if n := paging.Bytes(row); n <= rowBytesMin {
		t.Errorf("a row has %d bytes", n)
	}
}
