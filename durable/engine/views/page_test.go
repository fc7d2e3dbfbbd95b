package views

import (
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

func rows(n int) RunList {
	l := RunList{}
	for i := range n {
		status := runs.InProgress
		if i%2 == 1 {
			status = runs.CompleteStatus
		}
		// Pairs share a time, so that the cursor has to compare more than the time.
		l.Runs = append(l.Runs, RunSummary{RunID: id.NewRun(id.Seed{byte(i)}), Status: status,
			LastAtMs: int64(100 - i/2), LastActivityEventIndex: int64(9 - i%2)})
	}
	return l
}

func TestPagesHoldEveryRowOnce(t *testing.T) {
	t.Parallel()
	l := rows(7)
	for limit := 1; limit <= 8; limit++ {
		var got []RunSummary
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
