package learning

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/projections/annotations"
)

// annotationsSummaryLong is what 'waybill annotations summary --help' prints
// above the usage.
const annotationsSummaryLong = `Summarize the annotations of the runs in the store, by workflow and by run: the mean
rating, the number of ratings for each number of stars, the number of corrections and
flags, and the labels. Superseded and retracted annotations are not counted. With RUN
only that run is summarized, with --workflow only the runs of that workflow.
Nothing is changed.`

// newAnnotationsSummary returns "annotations summary": of all runs, of the runs
// of one workflow, or of one run. RUN and --workflow exclude each other. The
// engine computes the sums and rates.
func newAnnotationsSummary(a *cli.App) *cobra.Command {
	var q learning.SummaryQuery
	return cli.WithOptions(&cobra.Command{
		Use:   "summary [RUN]",
		Short: "Summarize annotations by workflow and by run",
		Long:  annotationsSummaryLong,
		Example: "  waybill annotations summary\n  waybill annotations summary @last\n" +
			"  waybill annotations summary --workflow team.build --json",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && q.WorkflowID != "" {
				return cli.UsageFault(cmd, "RUN selects one run, and --workflow all runs of a workflow").
					Suggest("Give one of the two.")
			}
			if len(args) > 0 {
				q.Run = args[0]
			}
			return cli.Show(a, cmd, "annotation_summary",
				func(ctx context.Context, o *cli.Store) (learning.FeedbackSummary, error) {
					return o.SummarizeAnnotations(ctx, q)
				},
				func(p *page.Page, sum learning.FeedbackSummary) { showSummary(a, sum, p) })
		},
	},
		cli.Opt(&q.WorkflowID, "workflow ID", "only runs of the workflow with ID"))
}

// showSummary prints the sums by workflow, then a table of the runs. Workflows
// without annotations are omitted. For a single run its sums are printed instead
// of the table. Sessions that could not be read to their end are listed last:
// their annotations may be missing from the sums.
func showSummary(a *cli.App, sum learning.FeedbackSummary, p *page.Page) {
	shown := 0
	for _, w := range sum.Workflows {
		if w.Annotations == 0 {
			continue // no sums to show
		}
		if shown++; shown > 1 {
			p.Line("")
		}
		summaryHeading(p, render.WorkflowID(w.WorkflowID, w.Source),
			fmt.Sprintf("%d of %s annotated", w.AnnotatedRuns, page.Plural(int(w.Runs), "run")))
		showFeedback(p, w.Summary)
	}
	// The caller selected one run: print its sums, a table would have one row.
	if len(sum.Workflows) == 0 && len(sum.Runs) == 1 {
		r := sum.Runs[0]
		summaryHeading(p, "run "+p.Name(page.ShortRun(r.RunID), r.RunID.String()),
			render.WorkflowID(r.WorkflowID, r.Source))
		showFeedback(p, r.Summary)
		shown++
	} else if len(sum.Runs) > 0 {
		p.Line("")
		showFeedbackTable(p, sum.Runs)
	}
	if shown == 0 {
		p.Text("", "No run has annotations. Rate the latest with '"+
			a.Command("annotate", "@last", "--rating", "4")+"'.")
	}
	for _, s := range sum.Incomplete {
		p.Text(p.Bad("! "), "The annotations of session "+s.String()+
			" could not be read to their end; the sums may be too low. See why with '"+
			a.Command("verify", s.String())+"'.")
	}
}

// summaryHeading prints a title and a remark on one line if both fit the
// terminal, else on two lines. In a pipe they are always on one line.
func summaryHeading(p *page.Page, title, more string) {
	title, more = page.OneLine(title), page.OneLine(more)
	space := min(p.Width, page.TextWidthMax) - page.TextWidth(title) - page.TextWidth(more)
	if p.Width > 0 && space < len(page.Gap) {
		p.Line("%s", p.Bold(page.Cut(title, p.Width)))
		p.Line("%s", p.Dim("  "+page.Cut(more, p.Width-len(page.Gap))))
		return
	}
	p.Line("%s%s%s", p.Bold(title), page.Gap, p.Dim(more))
}

// Dimensions of the chart of ratings, in terminal cells.
const (
	chartBarMax    = 40 // length of the longest bar
	chartTextWidth = 16 // width that is reserved for the number of stars and the count
)

// showFeedback prints the sums of a run, or of all runs of a workflow: with a
// chart of the ratings on a terminal, and as one number per line in a pipe,
// which programs can parse.
func showFeedback(p *page.Page, s annotations.Summary) {
	if p.Width == 0 {
		showFeedbackNumbers(p, s)
		return
	}
	if s.MeanRating != nil {
		p.Line("  %s %s", p.Warn(render.Stars(*s.MeanRating)), render.Mean(*s.MeanRating)+
			p.Dim(" · "+page.Plural(int(s.Ratings.Count()), "rating")))
		drawChart(p, s.Ratings)
	}
	facts := []string{page.Plural(int(s.Annotations), "annotation")}
	if s.Corrections > 0 {
		facts = append(facts, "✎ "+page.Plural(int(s.Corrections), "correction")+share(s.CorrectionRate))
	}
	if s.Flags > 0 {
		facts = append(facts, "⚑ "+page.Plural(int(s.Flags), "flag")+share(s.FlagRate))
	}
	p.StyledText("  ", strings.Join(facts, " · "), p.Dim)
	if labels := labelWords(p, s); labels != "" {
		p.Text("  # ", labels)
	}
}

// drawChart draws a bar for each rating from five stars to one. The bar of the
// most frequent rating has the full width, and a rating that was given at least
// once has a bar of at least one cell. The count follows its bar, since short
// bars are hard to compare.
func drawChart(p *page.Page, r annotations.RatingCounts) {
	counts := starCounts(r)
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	width := int64(min(max(p.Width-chartTextWidth, 1), chartBarMax))
	for i, n := range counts {
		bar := int(n * width / most)
		if n > 0 {
			bar = max(bar, 1)
		}
		p.Line("  %d %s%s %s", feedback.RatingMax-i, p.Good(strings.Repeat("█", bar)),
			strings.Repeat(" ", int(width)-bar), p.Dim(page.Itoa(int(n))))
	}
}

// starCounts returns the counts from five stars to one, the order of the chart.
func starCounts(r annotations.RatingCounts) [feedback.RatingMax]int64 {
	return [...]int64{r.Five, r.Four, r.Three, r.Two, r.One}
}

// share formats a rate as a percentage in parentheses, with a leading space. It
// is "" for nil: the engine has no rate where nothing was counted.
func share(rate *float64) string {
	if rate == nil {
		return ""
	}
	return fmt.Sprintf(" (%.0f%%)", 100**rate)
}

// labelsShownMax is how many different labels a terminal shows; the counts of the
// others are added up. In a pipe all labels are listed.
const labelsShownMax = 12

// labelWords lists labels with their counts, the most frequent first. Labels are
// untrusted text, so render.Quoted delimits them.
func labelWords(p *page.Page, s annotations.Summary) string {
	var words []string
	others := s.OtherLabels
	for i, l := range s.Labels {
		if p.Width > 0 && i >= labelsShownMax {
			// Omitted labels are still counted, so that the sums are complete.
			others += l.Count
			continue
		}
		words = append(words, fmt.Sprintf("%s %d", render.Quoted(p, strings.Join(strings.Fields(l.Label), " ")),
			l.Count))
	}
	if others > 0 {
		words = append(words, fmt.Sprintf("other labels %d", others))
	}
	return strings.Join(words, render.SignOrWord(p, " · ", ", "))
}

// showFeedbackNumbers prints the sums for programs that read a pipe: a name and
// a number per line, means with two decimals and rates with four.
func showFeedbackNumbers(p *page.Page, s annotations.Summary) {
	rate := func(r *float64) string {
		if r == nil {
			return ""
		}
		return fmt.Sprintf(" rate %.4f", *r)
	}
	p.Line("  annotations %d", s.Annotations)
	if s.MeanRating != nil {
		p.Line("  mean rating %.2f", *s.MeanRating)
	}
	for i, n := range starCounts(s.Ratings) {
		p.Line("  rated %d: %d", feedback.RatingMax-i, n)
	}
	p.Line("  corrections %d%s", s.Corrections, rate(s.CorrectionRate))
	p.Line("  flags %d%s", s.Flags, rate(s.FlagRate))
	if labels := labelWords(p, s); labels != "" {
		p.Line("  labels %s", labels)
	}
}

// showFeedbackTable prints a row for each run, in the order of the engine. Stars
// are drawn before the mean on a terminal that is wide enough.
func showFeedbackTable(p *page.Page, runs []learning.RunFeedback) {
	var rows [][]page.Cell
	for _, r := range runs {
		rating := ""
		if r.MeanRating != nil {
			rating = render.Mean(*r.MeanRating)
			// In a narrow terminal the title needs the width of the stars.
			if p.Width >= page.BarWidthMin {
				rating = render.Stars(*r.MeanRating) + " " + rating
			}
		}
		rows = append(rows, []page.Cell{
			{Text: p.Name(page.ShortRun(r.RunID), r.RunID.String()), Paint: p.Bold}, {Text: rating, Paint: p.Warn},
			{Text: page.Itoa(int(r.Annotations))},
			{Text: page.Itoa(int(r.Corrections))}, {Text: page.Itoa(int(r.Flags))},
			{Text: cmp.Or(r.Title, render.WorkflowID(r.WorkflowID, r.Source))}})
	}
	p.Table([]page.Column{{Title: "RUN"}, {Title: "RATING"}, {Title: "COUNT", Right: true},
		{Title: render.SignOrWord(p, "✎", "CORRECTED"), Right: true},
		{Title: render.SignOrWord(p, "⚑", "FLAGGED"), Right: true}, {Title: "TITLE", Flex: true}}, rows)
}
