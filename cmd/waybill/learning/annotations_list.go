package learning

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/terminal"
)

// annotationsListLong is what 'waybill annotations list --help' prints above
// the usage.
const annotationsListLong = `List what was said of a run, the oldest first: when, by whom, what, and about which part of
the run. What was superseded or taken back is shown with --history.

Without a terminal, and with --json, ids are whole. What people wrote stands between
<UNTRUSTED> and </UNTRUSTED> there, since a program may read it; in the JSON document it is
data as it was stored. That document carries nextCursor where more annotations follow;
--cursor continues there.`

// newAnnotationsList makes "annotations list". Signals and limits are checked
// before the store is opened. One page is shown, 100 annotations without
// --limit; nextCursor of the document leads to the next.
func newAnnotationsList(a *cli.App) *cobra.Command {
	var q engine.AnnotationQuery
	var signal string
	cmd := &cobra.Command{
		Use:   "list RUN",
		Short: "List what was said of a run",
		Long:  annotationsListLong,
		Example: "  waybill annotations list @last\n  waybill annotations list k3j2a7 --signal correction\n" +
			"  waybill annotations list @last --history --json",
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Signal = feedback.SignalKind(signal); signal != "" && !slices.Contains(feedback.Signals(), q.Signal) {
				return cli.UsageFault(cmd, "there is no signal %q", signal).
					Suggest("Use %s.", page.Words(feedback.Signals()))
			}
			if q.Limit < 0 || q.Limit > limits.AnnotationsPageMax {
				return cli.UsageFault(cmd, "--limit %d is not from 0 to %d", q.Limit, limits.AnnotationsPageMax)
			}
			var store *cli.Store // the titles of steps are looked up while the list is printed
			return cli.Show(a, cmd, "annotations",
				func(ctx context.Context, o *cli.Store) (engine.AnnotationList, error) {
					store = o
					return o.Annotations(ctx, args[0], q)
				},
				func(p *page.Page, list engine.AnnotationList) {
					showAnnotations(cmd.Context(), a, store, args[0], q, list, p)
				})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&q.History, "history", false, "show what was superseded or taken back too")
	f.StringVar(&signal, "signal", "", "only what is `SIGNAL`: "+page.Words(feedback.Signals()))
	f.IntVar(&q.Limit, "limit", 0, "at most `N` annotations; 0 is 100")
	f.StringVar(&q.Cursor, "cursor", "", "go on behind the `CURSOR` of the page before")
	_ = cmd.RegisterFlagCompletionFunc("signal",
		cobra.FixedCompletions(strings.Split(page.Words(feedback.Signals()), ", "), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// showAnnotations prints a line for each annotation, and below them what no
// line has: that the list is empty or continues, that the run was forked from
// one with annotations of its own, and that the log could not be read to its
// end.
//
// A run that cannot be read does not keep its annotations from being listed;
// steps are named by their ids then. Annotations of a run that this one was
// forked from are not listed, since they are about that run.
func showAnnotations(ctx context.Context, a *cli.App, o *cli.Store, ref string, q engine.AnnotationQuery,
	list engine.AnnotationList, p *page.Page) {
	run, err := o.Run(ctx, ref)
	titles := map[string]string{} // without the run's steps they are called by their ids
	name := ref
	if err == nil {
		for _, s := range run.Steps {
			titles[s.StepID] = s.Title
		}
		name = page.ShortRun(run.RunID)
	}
	l := annotationLines{Page: p, titles: titles}
	for _, said := range list.Annotations {
		l.who = max(l.who, min(terminal.TextWidth(page.Clean(said.Actor.PrincipalRef)), render.ActorWidthMax))
	}
	for _, said := range list.Annotations {
		l.show(said, list.About[said.AnnotationID.String()])
	}
	// An empty list has two reasons, and only one of them means that there is
	// nothing.
	switch {
	case len(list.Annotations) > 0:
	case q.Signal != "" || q.Cursor != "":
		p.Line("Nothing like that was said.")
	default:
		p.Text("", "Nothing was said of this run yet. '"+a.Command("annotate", name, "--rating", "4")+"' would.")
	}
	if list.NextCursor != "" {
		p.Line("%s", p.Dim("More: --cursor "+list.NextCursor))
	}
	if from := list.ForkedFrom; from != nil {
		p.Text("", "The run was forked from "+page.ShortRun(from.RunID)+
			", and starts without what was said of that. See it with '"+
			a.Command("annotations", "list", page.ShortRun(from.RunID))+"'.")
	}
	// What could not be read is named last, where it is not overlooked.
	switch list.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "),
			"Some of it was said with another program or a newer version, and is not shown.")
	default:
		p.Text(p.Bad("! "), "The log of annotations is "+render.Health(list.Health)+
			": what stands behind is not told. See what to do with '"+a.Command("verify")+"'.")
	}
}

// annotationLines prints annotations one below the other, with the date above
// each day on a terminal. It keeps from line to line how wide the column of
// names is and under which day it is.
type annotationLines struct {
	*page.Page
	// Without titles, which need a run that can be read, steps are named by
	// their ids.
	titles map[string]string // of steps
	who    int               // the width of the names
	day    string            // the one that the last line was under
}

// show prints one annotation: when, by whom, what, and about which part of the
// run; below it its long texts and what became of it.
func (l *annotationLines) show(said feedback.Annotation, about feedback.About) {
	p, at := l.Page, said.CreatedAt
	if when, err := time.Parse(time.RFC3339, said.CreatedAt); err == nil {
		at = page.ClockTime(when.UnixMilli(), time.RFC3339)
		if p.Width > 0 {
			if d := page.ClockTime(when.UnixMilli(), "Monday, 2 January 2006"); d != l.day {
				p.Line("%s", p.Bold(d))
				l.day = d
			}
			at = page.ClockTime(when.UnixMilli(), "15:04")
		}
	}
	paint, signalPaint, fate := page.Plainly, render.SignalPaint(p, said.Signal), fate(p, about)
	// What does not count any more is dimmed, and says so below.
	if fate != "" {
		paint, signalPaint = p.Dim, p.Dim
	}
	// Names are padded to one column, up to a maximum.
	by := page.Clean(said.Actor.PrincipalRef)
	by += strings.Repeat(" ", max(l.who-terminal.TextWidth(by), 0))
	name := render.AnnotationName(p, said.AnnotationID)
	if fate == "" {
		name = p.Bold(name)
	} else {
		name = p.Dim(name)
	}
	step := about.StepID
	if title, ok := l.titles[step]; ok {
		step = title
	}
	lead := name + "  " + p.Dim(at) + "  " + by + "  "
	words, what := render.SignalWords(p, said.Signal), render.AboutWords(said.Target, step)+
		render.SureWords(about.Confidence)
	if p.Width > 0 && terminal.TextWidth(lead+words+"  "+what) > p.Width {
		// What it says and what about fit no line: each on its own, below the time.
		p.Painted(lead, words, signalPaint)
		p.Painted(l.below(), what, paint)
	} else {
		p.Line("%s%s  %s", lead, signalPaint(words), paint(what))
	}
	render.Remarks(p, l.below(), said.Signal, said.Note, paint)
	if fate != "" {
		p.Painted(l.below(), fate, paint)
	}
}

// below is the indentation of what belongs to the line above: it is aligned
// with the text after the time.
func (l *annotationLines) below() string {
	if l.Width == 0 {
		return "    "
	}
	return strings.Repeat(" ", page.ShortRunLen+2)
}

// fate is what became of an annotation that was superseded or retracted, "" for
// one that counts.
func fate(p *page.Page, about feedback.About) string {
	switch {
	case about.Retracted && about.RetractedReason != "":
		return "taken back: " + render.Quoted(p, about.RetractedReason)
	case about.Retracted:
		return "taken back"
	case !about.SupersededBy.IsZero():
		return "superseded by " + render.AnnotationName(p, about.SupersededBy)
	}
	return ""
}
