package learning

import (
	"context"

	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/projections"
)

// annotationsSummaryLong is what 'waybill annotations summary --help' prints
// above the usage.
const annotationsSummaryLong = `Sum up what was said of the runs of the store, by workflow and by run: the mean rating, how
often each number of stars was given, how many annotations are corrections or flags, and
which labels were given. What was superseded or taken back does not count. With RUN only
that run is summed up, with --workflow only the runs of that workflow.`

// newAnnotationsSummary makes "annotations summary": of all runs, of those of
// one workflow, or of one run. RUN and --workflow exclude each other. The sums
// are the engine's; nothing is computed here but percentages.
func newAnnotationsSummary(a *cli.App) *cobra.Command {
	var q engine.SummaryQuery
	cmd := &cobra.Command{
		Use:   "summary [RUN]",
		Short: "Sum up what was said, by workflow and by run",
		Long:  annotationsSummaryLong,
		Example: "  waybill annotations summary\n  waybill annotations summary @last\n" +
			"  waybill annotations summary --workflow team.build --json",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && q.WorkflowID != "" {
				return cli.UsageFault(cmd, "RUN names one run, and --workflow all of a workflow").
					Suggest("Give one of the two.")
			}
			if len(args) > 0 {
				q.Run = args[0]
			}
			return cli.Show(a, cmd, "annotation_summary",
				func(ctx context.Context, o *cli.Store) (engine.FeedbackSummary, error) {
					return o.SummarizeAnnotations(ctx, q)
				},
				func(p *page.Page, sum engine.FeedbackSummary) { showSummary(a, sum, p) })
		},
	}
	cmd.Flags().StringVar(&q.WorkflowID, "workflow", "", "only runs of the workflow `ID`")
	return cmd
}

// showSummary prints the sums by workflow, then a table of the runs. Workflows
// without annotations are left out. For one run its own sums take the place of
// the table. Sessions that could not be counted are named last, since the sums
// are too low by them.
func showSummary(a *cli.App, sum engine.FeedbackSummary, p *page.Page) {
	shown := 0
	for _, w := range sum.Workflows {
		if w.Annotations == 0 {
			continue // there is nothing to show of it
		}
		if shown++; shown > 1 {
			p.Line("")
		}
		facing(p, w.WorkflowID, fmt.Sprintf("%d of %s annotated", w.AnnotatedRuns, page.Plural(int(w.Runs), "run")))
		showFeedback(p, w.AnnotationSummary)
	}
	// The sums of the one run that was asked for take the place of the table.
	if len(sum.Workflows) == 0 && len(sum.Runs) == 1 {
		r := sum.Runs[0]
		facing(p, "run "+runName(p, r), r.WorkflowID)
		showFeedback(p, r.AnnotationSummary)
		shown++
	} else if len(sum.Runs) > 0 {
		p.Line("")
		showFeedbackTable(p, sum.Runs)
	}
	if shown == 0 {
		p.Text("", "Nothing was said of any run yet. '"+a.Command("annotate", "@last", "--rating", "4")+
			"' rates the latest.")
	}
	for _, s := range sum.Incomplete {
		p.Text(p.Bad("! "), "What was said in session "+s.String()+
			" could not be read to its end, and there may be more. See why with '"+a.Command("verify", s.String())+"'.")
	}
}

// runName is how the table names a run: by the beginning of its id on a
// terminal, by the whole id in a pipe, from where it can be copied.
func runName(p *page.Page, r engine.RunFeedback) string {
	if p.Width == 0 {
		return r.RunID.String()
	}
	return page.ShortRun(r.RunID)
}

// facing prints a heading with a remark behind it, in one line where both fit.
// Elsewhere the remark goes below the heading.
func facing(p *page.Page, title, more string) {
	title, more = page.Clean(title), page.Clean(more)
	room := min(p.Width, page.TextWidthMax) - terminal.TextWidth(title) - terminal.TextWidth(more)
	if p.Width > 0 && room < len(page.Gap) {
		p.Line("%s", p.Bold(terminal.Cut(title, p.Width)))
		p.Line("%s", p.Dim("  "+terminal.Cut(more, p.Width-len(page.Gap))))
		return
	}
	p.Line("%s%s%s", p.Bold(title), page.Gap, p.Dim(more))
}

// The length of the longest bar of a chart, and the width of the text beside a
// bar.
const (
	chartMax    = 40
	chartBeside = 16
)

// showFeedback prints the sums of a run, or of all runs of a workflow: a chart
// of the ratings on a terminal, and one number a line in a pipe, where programs
// read them.
func showFeedback(p *page.Page, s projections.AnnotationSummary) {
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
	p.Painted("  ", strings.Join(facts, " · "), p.Dim)
	if labels := labelWords(p, s); labels != "" {
		p.Text("  # ", labels)
	}
}

// drawChart draws how often each rating was given, as wide as there is room.
// The most frequent one has the longest bar, and every one that was given has a
// bar. The number is at the end of its bar, since short bars are hard to
// compare.
func drawChart(p *page.Page, r projections.RatingCounts) {
	counts := starCounts(r)
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	room := int64(min(max(p.Width-chartBeside, 1), chartMax))
	for i, n := range counts {
		bar := int(n * room / most)
		if n > 0 {
			bar = max(bar, 1)
		}
		p.Line("  %d %s%s %s", feedback.RatingMax-i, p.Good(strings.Repeat("█", bar)),
			strings.Repeat(" ", int(room)-bar), p.Dim(page.Itoa(int(n))))
	}
}

// starCounts are the counts in the order of the chart, from the best rating to
// the worst.
func starCounts(r projections.RatingCounts) [feedback.RatingMax]int64 {
	return [...]int64{r.Five, r.Four, r.Three, r.Two, r.One}
}

// share is a rate in percent behind its number, "" for nil, where there is no
// rate.
func share(rate *float64) string {
	if rate == nil {
		return ""
	}
	return fmt.Sprintf(" (%.0f%%)", 100**rate)
}

// labelsShown is how many different labels a terminal shows; the others are
// added up. A pipe gets all of them.
const labelsShown = 12

// labelWords lists labels with their counts, the most frequent first. Labels
// are text of others and are shown as such.
func labelWords(p *page.Page, s projections.AnnotationSummary) string {
	var words []string
	others := s.OtherLabels
	for i, l := range s.Labels {
		if p.Width > 0 && i >= labelsShown {
			// What is left out is still counted, so that the sums are right.
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
// a number a line, rates with four decimals.
func showFeedbackNumbers(p *page.Page, s projections.AnnotationSummary) {
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

// showFeedbackTable prints a row for each run, the one with the most
// annotations first. Stars are drawn beside the mean where there is room.
func showFeedbackTable(p *page.Page, runs []engine.RunFeedback) {
	var rows [][]page.Cell
	for _, r := range runs {
		rating := ""
		if r.MeanRating != nil {
			rating = render.Mean(*r.MeanRating)
			// Stars take the room of a title where the window is narrow.
			if p.Width >= page.BarWidthMin {
				rating = render.Stars(*r.MeanRating) + " " + rating
			}
		}
		title := r.Title
		if title == "" {
			title = r.WorkflowID
		}
		rows = append(rows, []page.Cell{{Text: runName(p, r), Paint: p.Bold}, {Text: rating, Paint: p.Warn},
			{Text: page.Itoa(int(r.Annotations))},
			{Text: page.Itoa(int(r.Corrections))}, {Text: page.Itoa(int(r.Flags))}, {Text: title}})
	}
	p.Table([]page.Column{{Title: "RUN"}, {Title: "RATING"}, {Title: "SAID", Right: true},
		{Title: render.SignOrWord(p, "✎", "CORRECTED"), Right: true},
		{Title: render.SignOrWord(p, "⚑", "FLAGGED"), Right: true}, {Title: "TITLE", Flex: true}}, rows)
}
