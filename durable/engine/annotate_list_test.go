package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
)

// TestPagesOfAnnotations: pages of any length hold each annotation once, in the order in which they
// were made, also when annotations are added, superseded or retracted between two pages.
func TestPagesOfAnnotations(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a, other := n.start(twoSteps), n.start(twoSteps)
	g, ctx := n.g, context.Background()
	var all, flags []id.Annotation
	const many = 250
	for i := range many {
		at, signal := a, feedback.Rating(int64(1+i%5))
		if i%3 == 0 {
			signal = feedback.Flag()
		}
		made, err := g.Annotate(ctx, n.by(), annotationSeed(i), at.Position(), remark(signal))
		must(t, err)
		if all = append(all, made.AnnotationID); i%3 == 0 {
			flags = append(flags, made.AnnotationID)
		}
	}
	n.made = many
	n.note(other, remark(feedback.Flag()))
	if got := currentIDs(n.list(a, learning.AnnotationQuery{})); !slices.Equal(got, all[:100]) {
		t.Errorf("a page holds %d rows", len(got))
	}
	walk := func(q learning.AnnotationQuery, between func(page int)) (out []id.Annotation, pages int) {
		for {
			list := n.list(a, q)
			if len(list.About) != len(list.Annotations) {
				t.Fatalf("%d rows, and something about %d", len(list.Annotations), len(list.About))
			}
			out, pages = append(out, currentIDs(list)...), pages+1
			if list.NextCursor == "" {
				return out, pages
			}
			q.Cursor = list.NextCursor
			between(pages)
		}
	}
	still := func(int) {}
	for _, test := range []struct {
		q     learning.AnnotationQuery
		want  []id.Annotation
		pages int
	}{
		{learning.AnnotationQuery{}, all, 3},
		{learning.AnnotationQuery{Limit: 125}, all, 2},
		{learning.AnnotationQuery{Limit: 249, History: true}, all, 2},
		{learning.AnnotationQuery{Limit: 250}, all, 1},
		{learning.AnnotationQuery{Limit: 1000}, all, 1},
		{learning.AnnotationQuery{Signal: feedback.FlagKind, Limit: 20}, flags, 5},
		{learning.AnnotationQuery{Signal: feedback.LabelKind}, nil, 1},
	} {
		if got, pages := walk(test.q, still); !slices.Equal(got, test.want) || pages != test.pages {
			t.Errorf("%+v: %d rows on %d pages, want %d on %d", test.q, len(got), pages, len(test.want), test.pages)
		}
	}
	// One that was on a page is removed, one behind the cursor as well, and one is added.
	got, _ := walk(learning.AnnotationQuery{Limit: 100}, func(page int) {
		if page == 1 {
			for _, gone := range []int{99, 100, 249} {
				_, err := n.retract(a, all[gone])
				must(t, err)
			}
			all = append(all, n.note(a, remark(feedback.Flag())).AnnotationID)
		}
	})
	want := slices.Concat(all[:100], all[101:249], all[250:])
	if !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for _, bad := range []learning.AnnotationQuery{{Limit: -1}, {Limit: 1001}, {Signal: "praise"}, {Cursor: "x"},
		{Cursor: "-1"}, {Cursor: "+1"}, {Cursor: "007"}, {Cursor: "99999999999999999999"}} {
		if _, err := g.Annotations(ctx, a.Session.RunID.String(), bad); !fault.Is(err, fault.ValidationError) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if last := n.list(a, learning.AnnotationQuery{Cursor: "9000000000000000"}); len(last.Annotations) > 0 ||
		last.NextCursor != "" {
		t.Errorf("behind the end: %+v", last)
	}
}

// sums is a summary in one line: of each workflow its counts, then of each run.
func sums(s learning.FeedbackSummary) string {
	var out []string
	for _, w := range s.Workflows {
		mean := "-"
		if w.MeanRating != nil {
			mean = fmt.Sprint(*w.MeanRating)
		}
		out = append(out, fmt.Sprintf("%s: %d in %d of %d, %s stars, %d corrected, %d flagged, %v", w.WorkflowID,
			w.Annotations, w.AnnotatedRuns, w.Runs, mean, w.CorrectedRuns, w.FlaggedRuns, w.Labels))
	}
	for _, r := range s.Runs {
		out = append(out, fmt.Sprintf("%d of %s", r.Annotations, r.WorkflowID))
	}
	return strings.Join(append(out, fmt.Sprint(len(s.Incomplete), " incomplete")), "; ")
}

// sumUp sums up as another process would.
func (n *annotationFixture) sumUp(q learning.SummaryQuery) string {
	n.Helper()
	out, err := n.withEveryPort().SummarizeAnnotations(context.Background(), q)
	if err != nil {
		n.Fatal(err)
	}
	return sums(out)
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	if got := n.sumUp(learning.SummaryQuery{}); got != "0 incomplete" {
		t.Error(got)
	}
	a, b, none, long := n.start(twoSteps), n.start(twoSteps), n.start(twoSteps), n.start(longOne)
	wrong := n.note(a, remark(feedback.Rating(1)))
	n.note(a, instead(wrong, feedback.Rating(4)))
	n.note(a, remark(feedback.Label("off-brand")))
	n.note(b, remark(feedback.Rating(5)))
	n.note(b, remark(feedback.Correction("so")))
	gone := n.note(b, remark(feedback.Flag()))
	n.note(long, remark(feedback.Flag()))
	_, err := n.retract(b, gone.AnnotationID)
	must(t, err)
	const two = "test.two: 4 in 2 of 3, 4.5 stars, 1 corrected, 0 flagged, [{off-brand 1}]"
	const one = "test.long: 1 in 1 of 1, - stars, 0 corrected, 1 flagged, []"
	for _, test := range []struct {
		q    learning.SummaryQuery
		want string
	}{
		{learning.SummaryQuery{}, two + "; " + one + "; 2 of test.two; 2 of test.two; 1 of test.long; 0 incomplete"},
		{learning.SummaryQuery{WorkflowID: "test.long"}, one + "; 1 of test.long; 0 incomplete"},
		{learning.SummaryQuery{WorkflowID: "test.none"}, "0 incomplete"},
		{learning.SummaryQuery{Run: b.Session.RunID.String()}, "2 of test.two; 0 incomplete"},
		{learning.SummaryQuery{Run: none.Session.RunID.String()}, "0 of test.two; 0 incomplete"},
		{learning.SummaryQuery{Run: engine.Last}, "1 of test.long; 0 incomplete"},
	} {
		if got := n.sumUp(test.q); got != test.want {
			t.Errorf("%+v:\n%s\nwant\n%s", test.q, got, test.want)
		}
	}
	// Not all runs of a session are known when it cannot be read to its end.
	must(t, os.WriteFile(filepath.Join(n.dir, "sessions", long.Session.SessionID.String(), "manifest.jsonl"),
		[]byte("{}\n"), 0o600))
	if got := n.sumUp(learning.SummaryQuery{}); got != two+"; 2 of test.two; 2 of test.two; 1 incomplete" {
		t.Error(got)
	}
}
