package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/terminal"
)

const annotationsListLong = `List what was said of a run, the oldest first: when, by whom, what, and about which part of
the run. What was superseded or taken back is shown with --history.

Without a terminal, and with --json, ids are whole. What people wrote stands between
<UNTRUSTED> and </UNTRUSTED> there, since a program may read it; in the JSON document it is
data as it was stored. That document carries nextCursor where more annotations follow;
--cursor continues there.`

func newAnnotationsListCommand(a *app) *cobra.Command {
	var q engine.AnnotationQuery
	var signal string
	cmd := &cobra.Command{
		Use:   "list RUN",
		Short: "List what was said of a run",
		Long:  annotationsListLong,
		Example: "  waybill annotations list @last\n  waybill annotations list k3j2a7 --signal correction\n" +
			"  waybill annotations list @last --history --json",
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Signal = feedback.SignalKind(signal); signal != "" && !slices.Contains(feedback.Signals(), q.Signal) {
				return usageFault(cmd, "there is no signal %q", signal).Suggest("Use %s.", wordsOf(feedback.Signals()))
			}
			if q.Limit < 0 || q.Limit > limits.AnnotationsPageMax {
				return usageFault(cmd, "--limit %d is not from 0 to %d", q.Limit, limits.AnnotationsPageMax)
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.Annotations(cmd.Context(), args[0], q)
			if err != nil {
				return err
			}
			return a.answer("annotations", list,
				func(p *page) { a.tellAnnotations(cmd.Context(), o, args[0], q, list, p) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&q.History, "history", false, "show what was superseded or taken back too")
	f.StringVar(&signal, "signal", "", "only what is `SIGNAL`: "+wordsOf(feedback.Signals()))
	f.IntVar(&q.Limit, "limit", 0, "at most `N` annotations; 0 is 100")
	f.StringVar(&q.Cursor, "cursor", "", "go on behind the `CURSOR` of the page before")
	_ = cmd.RegisterFlagCompletionFunc("signal",
		cobra.FixedCompletions(strings.Split(wordsOf(feedback.Signals()), ", "), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// tellAnnotations shows the list, and below it what stands in none of its rows.
func (a *app) tellAnnotations(ctx context.Context, o *opened, ref string, q engine.AnnotationQuery,
	list engine.AnnotationList, p *page) {
	run, err := o.Run(ctx, ref)
	titles := map[string]string{} // without the run's steps they are called by their ids
	name := ref
	if err == nil {
		for _, s := range run.Steps {
			titles[s.StepID] = s.Title
		}
		name = shortRun(run.RunID)
	}
	l := annotationLines{page: p, titles: titles}
	for _, said := range list.Annotations {
		l.who = max(l.who, min(terminal.TextWidth(clean(said.Actor.PrincipalRef)), auditWhoMax))
	}
	for _, said := range list.Annotations {
		l.tell(said, list.About[said.AnnotationID.String()])
	}
	switch {
	case len(list.Annotations) > 0:
	case q.Signal != "" || q.Cursor != "":
		p.line("Nothing like that was said.")
	default:
		p.text("", "Nothing was said of this run yet. '"+a.command("annotate", name, "--rating", "4")+"' would.")
	}
	if list.NextCursor != "" {
		p.line("%s", p.dim("More: --cursor "+list.NextCursor))
	}
	if from := list.ForkedFrom; from != nil {
		p.text("", "The run was forked from "+shortRun(from.RunID)+
			", and starts without what was said of that. See it with '"+
			a.command("annotations", "list", shortRun(from.RunID))+"'.")
	}
	switch list.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.text(p.warn(foreignMark+" "),
			"Some of it was said with another program or a newer version, and is not shown.")
	default:
		p.text(p.bad("! "), "The log of annotations is "+toldHealth(list.Health)+
			": what stands behind is not told. See what to do with '"+a.command("verify")+"'.")
	}
}

// annotationLines writes annotations one below the other, with the date above each day at
// a terminal.
type annotationLines struct {
	*page
	titles map[string]string // of steps
	who    int               // the width of the names
	day    string            // the one that the last line was under
}

func (l *annotationLines) tell(said feedback.Annotation, about feedback.About) {
	p, at := l.page, said.CreatedAt
	if when, err := time.Parse(time.RFC3339, said.CreatedAt); err == nil {
		at = clockTime(when.UnixMilli(), time.RFC3339)
		if p.width > 0 {
			if d := clockTime(when.UnixMilli(), "Monday, 2 January 2006"); d != l.day {
				p.line("%s", p.bold(d))
				l.day = d
			}
			at = clockTime(when.UnixMilli(), "15:04")
		}
	}
	paint, signalPaint, fate := plainly, p.signalPaint(said.Signal), p.fate(about)
	if fate != "" {
		paint, signalPaint = p.dim, p.dim
	}
	by := clean(said.Actor.PrincipalRef)
	by += strings.Repeat(" ", max(l.who-terminal.TextWidth(by), 0))
	name := p.annotationName(said.AnnotationID)
	if fate == "" {
		name = p.bold(name)
	} else {
		name = p.dim(name)
	}
	step := about.StepID
	if title, ok := l.titles[step]; ok {
		step = title
	}
	lead := name + "  " + p.dim(at) + "  " + by + "  "
	words, what := p.signalWords(said.Signal), aboutWords(said.Target, step)+sureWords(about.Confidence)
	if p.width > 0 && terminal.TextWidth(lead+words+"  "+what) > p.width {
		// What it says and what about fit no line: each on its own, below the time.
		p.painted(lead, words, signalPaint)
		p.painted(l.below(), what, paint)
	} else {
		p.line("%s%s  %s", lead, signalPaint(words), paint(what))
	}
	p.remarks(l.below(), said.Signal, said.Note, paint)
	if fate != "" {
		p.painted(l.below(), fate, paint)
	}
}

// below is where what belongs to a line stands: under its time.
func (l *annotationLines) below() string {
	if l.width == 0 {
		return "    "
	}
	return strings.Repeat(" ", shortRunLen+2)
}

// fate says what became of an annotation that does not stand any more, "" of one that
// does.
func (p *page) fate(about feedback.About) string {
	switch {
	case about.Retracted && about.RetractedReason != "":
		return "taken back: " + p.others(about.RetractedReason)
	case about.Retracted:
		return "taken back"
	case !about.SupersededBy.IsZero():
		return "superseded by " + p.annotationName(about.SupersededBy)
	}
	return ""
}
