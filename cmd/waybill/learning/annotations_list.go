package learning

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// annotationsListLong is what 'waybill annotations list --help' prints above
// the usage.
const annotationsListLong = `List the annotations of a run, oldest first: time, author, signal, and the part of the
run that each is for. --history includes superseded and retracted annotations.
Nothing is changed.

In a pipe and with --json, ids are complete. In a pipe, text that people wrote is
enclosed in <UNTRUSTED> and </UNTRUSTED>, since a program may read it. Annotations that
came with a bundle are marked as imported, and their authors are claims.

The document has nextCursor when more annotations follow; --cursor continues there.`

// newAnnotationsList returns "annotations list". Signals and limits are checked
// before the store is opened. One page is shown, 100 annotations without
// --limit; nextCursor of the document is the --cursor of the next page.
func newAnnotationsList(a *cli.App) *cobra.Command {
	var q learning.AnnotationQuery
	var details bool
	return cli.WithOptions(&cobra.Command{
		Use:   "list RUN",
		Short: "List the annotations of a run",
		Long:  annotationsListLong,
		Example: "  waybill annotations list @last\n  waybill annotations list k3j2a7 --signal correction\n" +
			"  waybill annotations list @last --history --json",
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Limit < 0 || q.Limit > limits.AnnotationsPageMax {
				return cli.UsageFault(cmd, "--limit %d is not from 0 to %d", q.Limit, limits.AnnotationsPageMax)
			}
			var store *cli.Store // kept for the titles of steps, which are read while printing
			return cli.Show(a, cmd, "annotations",
				func(ctx context.Context, o *cli.Store) (learning.AnnotationList, error) {
					store = o
					return o.Annotations(ctx, args[0], q)
				},
				func(p *page.Page, list learning.AnnotationList) {
					showAnnotations(cmd.Context(), a, store, args[0], q, list, p)
					if details { // without texts, which are above and in marks
						render.Members(p, list, annotationTexts...)
					}
				})
		},
	},
		cli.Opt(&q.History, "history", "include superseded and retracted annotations"),
		cli.OneOf(&q.Signal, "signal SIGNAL", feedback.Signals(),
			"only annotations with SIGNAL: "+page.JoinWords(feedback.Signals())),
		cli.Opt(&details, "details", "also print all recorded members but the texts, one a line"),
		cli.Opt(&q.Limit, "limit N", "show at most N annotations (default 100)"),
		cli.Opt(&q.Cursor, "cursor CURSOR", "continue after CURSOR, the nextCursor of the previous page"),
		cli.Lines(a, "annotations"))
}

// annotationTexts are the members of annotations that are free text.
var annotationTexts = []string{"note", "correction", "label", "text", "retractedReason"}

// showAnnotations prints a line for each annotation. Below them it prints facts
// about the list: that it is empty or continues, that the run was forked from a
// run with annotations, and that the log could not be read to its end.
//
// Annotations of an unreadable run are listed too; steps are then named by
// their ids. Annotations of the run that this one was forked from are not
// listed, since they belong to that run.
func showAnnotations(ctx context.Context, a *cli.App, o *cli.Store, ref string, q learning.AnnotationQuery,
	list learning.AnnotationList, p *page.Page) {
	run, err := o.Run(ctx, ref)
	titles := map[string]string{} // by node, and by step id; a step without a title is named by its id
	name := ref
	if err == nil {
		for _, s := range run.Steps {
			titles[s.StepID] = s.Title
			if s.NodeID != nil {
				titles[s.NodeID.String()] = s.Title // of this iteration
			}
		}
		name = page.ShortRun(run.RunID)
	}
	l := annotationLines{Page: p, titles: titles}
	for _, annotation := range list.Annotations {
		l.authorWidth = max(l.authorWidth,
			min(page.TextWidth(authorOf(annotation, list.About[annotation.AnnotationID.String()])), render.ActorWidthMax))
	}
	for _, annotation := range list.Annotations {
		l.show(annotation, list.About[annotation.AnnotationID.String()])
	}
	// With a filter an empty list does not mean that the run has no annotations.
	switch {
	case len(list.Annotations) > 0:
	case q.Signal != "" || q.Cursor != "":
		p.Line("No matching annotations.")
	default:
		p.Text("", "This run has no annotations. Add one with '"+
			a.Command("annotate", name, "--rating", "4")+"'.")
	}
	if list.NextCursor != "" {
		p.Line("%s", p.Dim("More: --cursor "+list.NextCursor))
	}
	if from := list.ForkedFrom; from != nil {
		p.Text("", "The run was forked from "+page.ShortRun(from.RunID)+
			", whose annotations are not copied. See them with '"+
			a.Command("annotations", "list", page.ShortRun(from.RunID))+"'.")
	}
	// Incomplete reads are reported last, next to the prompt, where they are seen.
	switch list.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "),
			"Some annotations were written by another program or a newer version, and are not shown.")
	default:
		p.Text(p.Bad("! "), "The log of annotations is "+render.Health(list.Health)+
			": annotations after the damage are not shown. See what to do with '"+a.Command("verify")+"'.")
	}
}

// annotationLines prints annotations one below the other, on a terminal grouped
// by day. It is the state that is shared by the lines.
type annotationLines struct {
	*page.Page
	// titles are the titles of steps by their ids. It is empty for a run that
	// cannot be read; steps are then named by their ids.
	titles      map[string]string
	authorWidth int    // width of the column of authors, in cells
	day         string // heading that the last line was printed under
}

// show prints one annotation: id, time, author, signal and target. Below it are
// its long texts, and for an annotation that does not count any more the reason.
func (l *annotationLines) show(annotation feedback.Annotation, about feedback.Details) {
	p, at := l.Page, annotation.CreatedAt
	if when, err := time.Parse(time.RFC3339, annotation.CreatedAt); err == nil {
		at, l.day = p.TimeInDay(l.day, when.UnixMilli(), "15:04")
	}
	namePaint, paint, signalPaint := p.Bold, page.Plain, render.SignalStyle(p, annotation.Signal)
	// An annotation that does not count any more is dimmed.
	inactive := inactiveText(p, about)
	if inactive != "" {
		namePaint, paint, signalPaint = p.Dim, p.Dim, p.Dim
	}
	// Names are padded to one column, up to a maximum.
	by := authorOf(annotation, about)
	by += strings.Repeat(" ", max(l.authorWidth-page.TextWidth(by), 0))
	step := about.StepID
	if title := cmp.Or(l.titles[about.NodeID.String()], l.titles[step]); title != "" {
		step = title
	}
	lead := namePaint(render.AnnotationName(p, annotation.AnnotationID)) + "  " + p.Dim(at) + "  " + by + "  "
	words, what := render.SignalText(p, annotation.Signal), render.TargetText(annotation.Target, step)+
		render.ConfidenceText(about.Confidence)
	if p.Width > 0 && page.TextWidth(lead+words+"  "+what) > p.Width {
		// Signal and target do not fit on one line: the target goes below.
		p.StyledText(lead, words, signalPaint)
		p.StyledText(l.indent(), what, paint)
	} else {
		p.Line("%s%s  %s", lead, signalPaint(words), paint(what))
	}
	render.AnnotationTexts(p, l.indent(), annotation.Signal, annotation.Note, paint)
	if inactive != "" {
		p.StyledText(l.indent(), inactive, paint)
	}
}

// authorOf returns the author of an annotation as it is shown.
func authorOf(annotation feedback.Annotation, about feedback.Details) string {
	return render.AuthorText(annotation.Actor.PrincipalRef, about.Imported)
}

// indent returns the indentation of lines that belong to the annotation above.
// On a terminal they are aligned with the text after its short id.
func (l *annotationLines) indent() string {
	if l.Width == 0 {
		return "    "
	}
	return strings.Repeat(" ", page.ShortRunLen+2)
}

// inactiveText returns why an annotation does not count any more: it was
// retracted or superseded. It is "" for an annotation that counts.
func inactiveText(p *page.Page, about feedback.Details) string {
	switch {
	case about.Retracted && about.RetractedReason != "":
		return "retracted: " + render.Quoted(p, about.RetractedReason)
	case about.Retracted:
		return "retracted"
	case !about.SupersededBy.IsZero():
		return "superseded by " + render.AnnotationName(p, about.SupersededBy)
	}
	return ""
}
