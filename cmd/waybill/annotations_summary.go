package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/projections"
)

const annotationsSummaryLong = `Sum up what was said of the runs of the store, by workflow and by run: the mean rating, how
often each number of stars was given, how many annotations are corrections or flags, and
which labels were given. What was superseded or taken back does not count. With RUN only
that run is summed up, with --workflow only the runs of that workflow.`

func newAnnotationsSummaryCommand(a *app) *cobra.Command {
	var q engine.SummaryQuery
	cmd := &cobra.Command{
		Use:   "summary [RUN]",
		Short: "Sum up what was said, by workflow and by run",
		Long:  annotationsSummaryLong,
		Example: "  waybill annotations summary\n  waybill annotations summary @last\n" +
			"  waybill annotations summary --workflow team.build --json",
		Args: atMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && q.WorkflowID != "" {
				return usageFault(cmd, "RUN names one run, and --workflow all of a workflow").
					Suggest("Give one of the two.")
			}
			if len(args) > 0 {
				q.Run = args[0]
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			sum, err := o.SummarizeAnnotations(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.answer("annotation_summary", sum, func(p *page) { a.tellSummary(sum, p) })
		},
	}
	cmd.Flags().StringVar(&q.WorkflowID, "workflow", "", "only runs of the workflow `ID`")
	return cmd
}

// tellSummary shows workflows and then runs, and what could not be counted.
func (a *app) tellSummary(sum engine.FeedbackSummary, p *page) {
	shown := 0
	for _, w := range sum.Workflows {
		if w.Annotations == 0 {
			continue // a workflow that nobody spoke of says nothing here
		}
		if shown++; shown > 1 {
			p.line("")
		}
		p.facing(w.WorkflowID, fmt.Sprintf("%d of %s annotated", w.AnnotatedRuns, plural(int(w.Runs), "run")))
		p.feedback(w.AnnotationSummary)
	}
	if len(sum.Workflows) == 0 && len(sum.Runs) == 1 { // one that was asked for
		r := sum.Runs[0]
		p.facing("run "+p.runName(r), r.WorkflowID)
		p.feedback(r.AnnotationSummary)
		shown++
	} else if len(sum.Runs) > 0 {
		p.line("")
		p.feedbackTable(sum.Runs)
	}
	if shown == 0 {
		p.text("", "Nothing was said of any run yet. '"+a.command("annotate", "@last", "--rating", "4")+
			"' rates the latest.")
	}
	for _, s := range sum.Incomplete {
		p.text(p.bad("! "), "What was said in session "+s.String()+
			" could not be read to its end, and there may be more. See why with '"+a.command("verify", s.String())+"'.")
	}
}

func (p *page) runName(r engine.RunFeedback) string {
	if p.width == 0 {
		return r.RunID.String()
	}
	return shortRun(r.RunID)
}

// facing writes a heading, and at the right what else there is to say where there is room.
func (p *page) facing(title, more string) {
	title, more = clean(title), clean(more)
	room := min(p.width, textWidthMax) - terminal.TextWidth(title) - terminal.TextWidth(more)
	if p.width > 0 && room < len(gap) {
		p.line("%s", p.bold(terminal.Cut(title, p.width)))
		p.line("%s", p.dim("  "+terminal.Cut(more, p.width-len(gap))))
		return
	}
	p.line("%s%s%s", p.bold(title), gap, p.dim(more))
}

// The length of the longest bar of a chart, and what stands beside it.
const (
	chartMax    = 40
	chartBeside = 16
)

// feedback shows the sums of a run, or of a workflow's runs. A terminal gets a picture, a
// pipe the numbers, one thing a line.
func (p *page) feedback(s projections.AnnotationSummary) {
	if p.width == 0 {
		p.feedbackNumbers(s)
		return
	}
	if s.MeanRating != nil {
		p.line("  %s %s", p.warn(stars(*s.MeanRating)), mean(*s.MeanRating)+
			p.dim(" · "+plural(int(s.Ratings.Count()), "rating")))
		p.chart(s.Ratings)
	}
	facts := []string{plural(int(s.Annotations), "annotation")}
	if s.Corrections > 0 {
		facts = append(facts, "✎ "+plural(int(s.Corrections), "correction")+share(s.CorrectionRate))
	}
	if s.Flags > 0 {
		facts = append(facts, "⚑ "+plural(int(s.Flags), "flag")+share(s.FlagRate))
	}
	p.painted("  ", strings.Join(facts, " · "), p.dim)
	if labels := p.labelWords(s); labels != "" {
		p.text("  # ", labels)
	}
}

// chart draws how often each number of stars was given, as long as there is room for it.
// The most frequent one has the longest bar, and what was given at all has a bar.
func (p *page) chart(r projections.RatingCounts) {
	counts := starCounts(r)
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	room := int64(min(max(p.width-chartBeside, 1), chartMax))
	for i, n := range counts {
		bar := int(n * room / most)
		if n > 0 {
			bar = max(bar, 1)
		}
		p.line("  %d %s%s %s", feedback.RatingMax-i, p.good(strings.Repeat("█", bar)),
			strings.Repeat(" ", int(room)-bar), p.dim(itoa(int(n))))
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

func (p *page) labelWords(s projections.AnnotationSummary) string {
	var words []string
	others := s.OtherLabels
	for i, l := range s.Labels {
		if p.width > 0 && i >= labelsShown {
			others += l.Count
			continue
		}
		words = append(words, fmt.Sprintf("%s %d", p.others(strings.Join(strings.Fields(l.Label), " ")), l.Count))
	}
	if others > 0 {
		words = append(words, fmt.Sprintf("other labels %d", others))
	}
	return strings.Join(words, p.signed(" · ", ", "))
}

func (p *page) feedbackNumbers(s projections.AnnotationSummary) {
	rate := func(r *float64) string {
		if r == nil {
			return ""
		}
		return fmt.Sprintf(" rate %.4f", *r)
	}
	p.line("  annotations %d", s.Annotations)
	if s.MeanRating != nil {
		p.line("  mean rating %.2f", *s.MeanRating)
	}
	for i, n := range starCounts(s.Ratings) {
		p.line("  rated %d: %d", feedback.RatingMax-i, n)
	}
	p.line("  corrections %d%s", s.Corrections, rate(s.CorrectionRate))
	p.line("  flags %d%s", s.Flags, rate(s.FlagRate))
	if labels := p.labelWords(s); labels != "" {
		p.line("  labels %s", labels)
	}
}

// feedbackTable is a row a run, the one that most was said of first.
func (p *page) feedbackTable(runs []engine.RunFeedback) {
	var rows [][]cell
	for _, r := range runs {
		rating := ""
		if r.MeanRating != nil {
			rating = mean(*r.MeanRating)
			if p.width >= barWidthMin {
				rating = stars(*r.MeanRating) + " " + rating
			}
		}
		title := r.Title
		if title == "" {
			title = r.WorkflowID
		}
		rows = append(rows, []cell{{text: p.runName(r), paint: p.bold}, {text: rating, paint: p.warn},
			{text: itoa(int(r.Annotations))},
			{text: itoa(int(r.Corrections))}, {text: itoa(int(r.Flags))}, {text: title}})
	}
	p.table([]column{{title: "RUN"}, {title: "RATING"}, {title: "SAID", right: true},
		{title: p.signed("✎", "CORRECTED"), right: true},
		{title: p.signed("⚑", "FLAGGED"), right: true}, {title: "TITLE", flex: true}}, rows)
}
