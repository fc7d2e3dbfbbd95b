package pages

import (
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/projections/markup"
)

// Report returns the page of a report. It is complete in itself: no script, no image, no request.
func Report(r report.Report) *markup.Node { return reportShell(r).Node() }

// reportShell returns the parts of the page of a report.
func reportShell(r report.Report) Shell {
	steps := StepsOf{Run: r.Run, Steps: r.Steps, Left: left(r, report.OfSteps)}
	return Shell{Title: r.Run.Title, Kicker: "Waybill run report", Lead: Lead(r.Run), End: end(r),
		Sections: append(withTexts(r), Graph(r.Graph, left(r, report.OfGraph)), steps.Section(), Gaps(r.Run),
			Decisions(r.Run),
			Artifacts(r.Run), Timeline(r.Timeline, left(r, report.OfTimeline)),
			Annotations(r.Annotations, r.Run, left(r, report.OfAnnotations)), Integrity(r))}
}

// withTexts is the first section, with a note if texts were cut.
func withTexts(r report.Report) []Section {
	s := Summary(r.Run)
	if l := left(r, report.OfTexts); l != nil {
		s.Content = markup.Group{s.Content, note(info, markup.Data("left-out", string(l.Part)),
			markup.Text(count(l.Count, "long text")+" cut so that the report stays small. Whole texts: "),
			typed(l.Command...))}.Node()
	}
	return []Section{s}
}

// left returns what is left out of a part, nil for nothing.
func left(r report.Report, part report.Part) *report.LeftOut {
	if l, ok := r.Without(part); ok {
		return &l
	}
	return nil
}

// end is the last line of a report.
func end(r report.Report) *markup.Node {
	return paragraph(markup.Text("Made "), when(r.MadeAtMs), markup.Text(" by waybill "+r.Version+
		" from the run's log. The log is the record; this page is a copy of what it had then. Times are in UTC."))
}
