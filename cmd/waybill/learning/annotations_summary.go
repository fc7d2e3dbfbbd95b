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

const annotationsSummaryLong = `Sum up what was said of the runs of the store, by workflow and by run: the mean rating, how
often each number of stars was given, how many annotations are corrections or flags, and
which labels were given. What was superseded or taken back does not count. With RUN only
that run is summed up, with --workflow only the runs of that workflow.`

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

// showSummary shows workflows and then runs, and what could not be counted.
func showSummary(a *cli.App, sum engine.FeedbackSummary, p *page.Page) {
	shown := 0
	for _, w := range sum.Workflows {
		if w.Annotations == 0 {
			continue // a workflow that nobody spoke of says nothing here
		}
		if shown++; shown > 1 {
			p.Line("")
		}
		facing(p, w.WorkflowID, fmt.Sprintf("%d of %s annotated", w.AnnotatedRuns, page.Plural(int(w.Runs), "run")))
		showFeedback(p, w.AnnotationSummary)
	}
	if len(sum.Workflows) == 0 && len(sum.Runs) == 1 { // one that was asked for
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

func runName(p *page.Page, r engine.RunFeedback) string {
	if p.Width == 0 {
		return r.RunID.String()
	}
	return page.ShortRun(r.RunID)
}

// facing writes a heading, and at the right what else there is to say where there is room.
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

// The length of the longest bar of a chart, and what stands beside it.
const (
	chartMax    = 40
	chartBeside = 16
)

// showFeedback shows the sums of a run, or of a workflow's runs. A terminal gets a picture, a
// pipe the numbers, one thing a line.
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

// drawChart draws how often each number of stars was given, as long as there is room for it.
// The most frequent one has the longest bar, and what was given at all has a bar.
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

// starCounts are the counts from the best rating to the worst.
func starCounts(r projections.RatingCounts) [feedback.RatingMax]int64 {
	return [...]int64{r.Five, r.Four, r.Three, r.Two, r.One}
}

func share(rate *float64) string {
	if rate == nil {
		return ""
	}
	return fmt.Sprintf(" (%.0f%%)", 100**rate)
}

// labelsShown is how many labels people are shown of many: the most frequent ones.
const labelsShown = 12

func labelWords(p *page.Page, s projections.AnnotationSummary) string {
	var words []string
	others := s.OtherLabels
	for i, l := range s.Labels {
		if p.Width > 0 && i >= labelsShown {
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

// showFeedbackTable is a row a run, the one that most was said of first.
func showFeedbackTable(p *page.Page, runs []engine.RunFeedback) {
	var rows [][]page.Cell
	for _, r := range runs {
		rating := ""
		if r.MeanRating != nil {
			rating = render.Mean(*r.MeanRating)
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
