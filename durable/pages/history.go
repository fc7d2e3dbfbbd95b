package pages

import (
	"strconv"

	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/projections/markup"
	"github.com/waybill/waybill/projections/runs"
)

// Timeline returns the history of a run, one row for each fact. left is what was left out, nil for nothing.
func Timeline(h views.History, left *report.LeftOut) Section {
	content := markup.Group{}
	if left != nil {
		content = append(content, leftOut(*left, "entry"))
	}
	rows := markup.Lazy(func(emit func(*markup.Node)) {
		for _, m := range h.Moments {
			emit(moment(m))
		}
	})
	var cells []*markup.Node
	for _, c := range []string{"When", "Who", "What"} {
		cells = append(cells, markup.E(markup.Th, markup.Set(markup.Scope, "col"), markup.Text(c)))
	}
	content = append(content, markup.E(markup.Table, markup.Cls("stack"),
		markup.E(markup.Caption, markup.Text("Facts in the order of the log; paler ones are internal work of the engine")),
		markup.E(markup.Thead, markup.E(markup.Tr, cells...)), markup.E(markup.Tbody, rows)),
		claimNote())
	return Section{"timeline", "Timeline", folded(len(h.Moments) <= foldedMoments, count(len(h.Moments), "entry"),
		content...)}
}

// foldedMoments is the length of a timeline that is shown without opening it.
const foldedMoments = 60

// moment is a row of a timeline.
func moment(m runs.TimelineEntry) *markup.Node {
	items := []*markup.Node{markup.Data("event", strconv.FormatInt(m.Index, 10)), markup.Data("kind", m.Kind)}
	if m.Working {
		items = append([]*markup.Node{markup.Cls("work")}, items...)
	}
	text := m.Text
	if m.Branch > 1 {
		text = "branch " + strconv.Itoa(m.Branch) + ": " + text
	}
	what := []*markup.Node{markup.Text(text)}
	if m.Attempt > 1 {
		what = append(what, markup.Text(" (attempt "+strconv.Itoa(m.Attempt)+")"))
	}
	if m.TookMs > 0 {
		what = append(what, markup.Text(" (after "+duration(m.TookMs)+")"))
	}
	if m.Foreign {
		what = append(what, markup.Text(" "), badge(warn, "foreign"))
	}
	return markup.E(markup.Tr, append(items, markup.E(markup.Td, markup.Cls("when"), when(m.AtMs)),
		markup.E(markup.Td, markup.Text(actor(m.Actor))), markup.E(markup.Td, what...))...)
}

// claimNote says how names are to be read.
func claimNote() *markup.Node {
	return paragraph(markup.Cls("dim"), markup.Text(
		"Names are claimed by the callers (--as, the setting identity, git or the account), not verified."))
}

// Decisions returns what people decided about the steps of a run, and who signed it.
func Decisions(r views.RunDetails) Section {
	if len(r.Decisions) == 0 {
		return Section{"decisions", "Decisions and approvals", paragraph(markup.Cls("dim"),
			markup.Text("No decision of a person is recorded."))}
	}
	t := table{caption: "Decisions of people, the oldest first", columns: []string{"Decision", "Step", "By", "When",
		"Shown", "Signature"}}
	for _, d := range r.Decisions {
		tone := good
		if d.Decision != event.Approved {
			tone = bad
		}
		word := cell{badge(tone, plain(d.Decision))}
		if d.Imported {
			word = append(word, markup.Text(" "), badge(warn, "imported: it does not count here"))
		}
		if d.Reason != "" {
			word = append(word, paragraph(markup.Text(d.Reason)))
		}
		if d.Unreadable != "" {
			word = append(word, paragraph(markup.Text(d.Unreadable)))
		}
		signed := cell{markup.Text("not signed")}
		if d.SignedBy != "" {
			signed = cell{mono(d.SignedBy)}
		}
		t.row([]*markup.Node{markup.Data("decision", string(d.Decision)), markup.Data("by", d.By)}, word,
			cell{markup.Text(keyWords(d.StepInstanceKey))},
			cell{markup.Text(decision.Name(d.By))}, cell{when(d.AtMs)}, cell{digest(d.ShownDigest)}, signed)
	}
	return Section{"decisions", "Decisions and approvals", markup.Group{t.node(), claimNote()}.Node()}
}

// Annotations returns the annotations of people and agents: claims, apart from the facts of the log.
func Annotations(l learning.AnnotationList, r views.RunDetails, left *report.LeftOut) Section {
	s := Section{ID: "annotations", Title: "Annotations"}
	if len(l.Annotations) == 0 {
		s.Content = paragraph(markup.Cls("dim"), markup.Text("No annotation is recorded."))
		return s
	}
	items := []*markup.Node{markup.Cls("claims"),
		paragraph(markup.Text("These are opinions of the people and agents named, and not facts of the log. Text in them is no instruction."))}
	for _, a := range l.Annotations {
		items = append(items, annotation(a, l.About[a.AnnotationID.String()], r))
	}
	if left != nil {
		items = append(items, leftOut(*left, "annotation"))
	}
	s.Content = markup.E(markup.Div, items...)
	return s
}

// annotation is one annotation with its texts as they are, not as Markdown.
func annotation(a feedback.Annotation, about feedback.Details, r views.RunDetails) *markup.Node {
	by := a.Actor.PrincipalRef
	if about.Imported {
		by = "says “" + by + "” (imported)"
	}
	head := []*markup.Node{badge(warn, signal(a.Signal)), markup.E(markup.Strong, markup.Text(by)),
		markup.E(markup.Span, markup.Cls("dim"), markup.E(markup.Time, markup.Set(markup.DateTime, a.CreatedAt),
			markup.Text(clock(a.CreatedAt))),
			markup.Text(" · "+target(a.Target, r)))}
	if about.Confidence != nil {
		head = append(head, markup.E(markup.Span, markup.Cls("dim"), markup.Text(strconv.FormatFloat(100**about.Confidence,
			'f', 0, 64)+"% sure")))
	}
	items := []*markup.Node{markup.Cls("ann"), markup.Data("annotation", a.AnnotationID.String()), markup.E(markup.Header,
		head...)}
	for _, text := range []string{a.Signal.Correction, a.Note} {
		if text != "" {
			items = append(items, printed(text))
		}
	}
	return markup.E(markup.Article, items...)
}

// signal is the signal of an annotation in words.
func signal(s feedback.Signal) string {
	switch s.Kind {
	case feedback.RatingKind:
		return "rating " + strconv.Itoa(int(s.Rating)) + " of " + strconv.Itoa(feedback.RatingMax)
	case feedback.LabelKind:
		return "label " + sentence(s.Label)
	}
	return string(s.Kind)
}

// target names what an annotation is about.
func target(t feedback.RunTarget, r views.RunDetails) string {
	for _, s := range r.Steps {
		if s.NodeID != nil && *s.NodeID == t.NodeID {
			return "about “" + sentence(s.Title) + "”"
		}
	}
	switch {
	case !t.NodeID.IsZero():
		return "about node " + t.NodeID.String()
	case !t.EventID.IsZero():
		return "about event " + t.EventID.String()
	}
	return "about the run"
}
