package pages

import (
	"cmp"
	"strings"

	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/projections/markdown"
	"github.com/waybill/waybill/projections/markup"
	"github.com/waybill/waybill/projections/runs"
)

// StepsOf is what a section of steps is made of: the rows of a run, and what was shown and recorded at those that were
// reached, which may be absent.
type StepsOf struct {
	Run   views.RunDetails
	Steps []report.Step
	// Left is how many rows were left out before the last ones; see report.LeftOut.
	Left *report.LeftOut
}

// Section returns the steps of a run in their order.
func (s StepsOf) Section() Section {
	return Section{"steps", "Steps", markup.Lazy(func(emit func(*markup.Node)) {
		emit(otherBranches(s.Run))
		next := 0
		for i, row := range s.Run.Steps {
			if s.Left != nil && i == len(s.Run.Steps)/4 {
				emit(leftOut(*s.Left, "step"))
			}
			var shown *report.Step
			if row.NodeID != nil && next < len(s.Steps) && s.Steps[next].NodeID == *row.NodeID {
				shown = &s.Steps[next]
				next++
			}
			emit(step(s.Run, i, row, shown))
		}
	})}
}

// otherBranches says of which part of a run with several tips the steps are.
func otherBranches(r views.RunDetails) *markup.Node {
	if len(r.Tips) < 2 {
		return markup.Nothing()
	}
	return note(info, markup.Text("The run has "+count(len(r.Tips), "tip")+
		". Steps, decisions and artifacts are those of the path to the "+
		"preferred one; the graph and the timeline have the other branches."))
}

// leftOut says what a page does not show.
func leftOut(l report.LeftOut, noun string) *markup.Node {
	return note(info, markup.Data("left-out", string(l.Part)), markup.Text(count(l.Count, noun)+
		" left out here. All of it: "), typed(l.Command...))
}

// stepTone returns the word, the tone and the class of the state of a step.
func stepTone(r views.RunDetails, s views.StepRow) (word string, t tone, class string) {
	switch {
	case s.State == views.StepDone:
		return "done", good, "done"
	case s.State == views.StepPending && (r.Status == runs.Cancelled || r.Status == runs.Failed):
		return "not done", bad, "stuck"
	case s.State == views.StepPending && r.Status == runs.Blocked:
		return "blocked", bad, "stuck"
	case s.State == views.StepPending:
		return "pending", info, "pending"
	}
	word = plain(s.State)
	return word, idle, strings.ReplaceAll(word, " ", "-")
}

// step is one step; shown may be nil.
func step(r views.RunDetails, i int, s views.StepRow, shown *report.Step) *markup.Node {
	word, t, class := stepTone(r, s)
	items := []*markup.Node{markup.Cls("card step " + class), markup.Data("step", s.StepInstanceKey), markup.Data("state",
		string(s.State))}
	if s.NodeID != nil {
		items = append(items, markup.Data("node", s.NodeID.String()))
	}
	items = append(items, markup.E(markup.Header, markup.E(markup.H3, markup.Text(sentence(s.Title))), badge(t, word)))
	meta := []string{keyWords(s.StepInstanceKey)}
	if s.Attempts > 1 {
		meta = append(meta, count(s.Attempts, "attempt"))
	}
	line := []*markup.Node{markup.Cls("meta"), markup.Text(strings.Join(meta, " · "))}
	if s.DoneAtMs > 0 {
		line = append(line, markup.Text(" · done "), when(s.DoneAtMs))
	}
	items = append(items, paragraph(line...))
	if s.ResultNote != "" {
		items = append(items, note(warn, markup.Text(s.ResultNote)))
	}
	items = append(items, stepNotes(s, shown)...)
	items = append(items, stepOutcome(r, s)...)
	if shown != nil {
		items = append(items, stepShown(s, *shown)...)
	}
	return markup.E(markup.Article, items...)
}

// stepNotes are the notes of a step.
func stepNotes(s views.StepRow, shown *report.Step) []*markup.Node {
	text := s.Notes
	cut := int64(0)
	if shown != nil && shown.Notes != nil {
		text = shown.Notes.Text
		if shown.Notes.IsCut() {
			cut = shown.Notes.Bytes
		}
	}
	if text == "" {
		return nil
	}
	out := []*markup.Node{markup.E(markup.H4, markup.Text("Notes")), notes(text)}
	if cut > 0 {
		out = append(out, paragraph(markup.Cls("dim"), markup.Text("The notes have "+size(cut)+"; this is their beginning.")))
	}
	return out
}

// notes shows Markdown that a person or an agent wrote.
func notes(text string) *markup.Node {
	return markup.E(markup.Div, markup.Cls("md"), markdown.Render(text))
}

// stepOutcome is what came of a step, in one line each.
func stepOutcome(r views.RunDetails, s views.StepRow) (out []*markup.Node) {
	var lines []*markup.Node
	add := func(items ...*markup.Node) { lines = append(lines, markup.E(markup.Li, items...)) }
	if b := s.Result; b != nil {
		add(markup.Data("result", "command"), result(*b), markup.Text(" after "+duration(b.DurationMs)+tries(b.Tries)))
	}
	for _, c := range s.Checks {
		add(checkLine(c)...)
	}
	for _, x := range s.Assessments {
		add(markup.Text("assessed " + Levels(x)))
	}
	for _, d := range s.Decisions {
		add(decisionLine(d)...)
	}
	if s.WaitOver != nil {
		add(markup.Text("waited until "), when(s.WaitOver.DueAtMs))
	}
	if h := s.Host; h != nil {
		text := "performed by the host (" + h.TypeID + ")"
		if h.Error != nil {
			text = "failed on the host (" + h.Error.Code + "): " + h.Error.Message
		}
		add(markup.Text(text))
	}
	for _, c := range s.Checkpoints {
		add(markup.Text("checkpoint "), when(c.AtMs), notes(c.Notes))
	}
	if n := len(s.Artifacts); n > 0 {
		add(markup.Cls("dim"), markup.Text(count(n, "artifact")+" in the list of artifacts"))
	}
	if lines == nil {
		return nil
	}
	return []*markup.Node{markup.E(markup.Ul, append([]*markup.Node{markup.Cls("plain")}, lines...)...)}
}

// result is the outcome of a command.
func result(b command.Brief) *markup.Node {
	if b.ExitStatus == 0 && b.Failure == "" {
		return badge(good, "command succeeded")
	}
	return markup.Group{badge(bad, "command failed"), markup.Text(" " + b.Outcome())}.Node()
}

// tries says how often a command was tried, "" for once.
func tries(n int64) string {
	if n <= 1 {
		return ""
	}
	return ", " + count(int(n), "try")
}

// checkLine is the result of a check.
func checkLine(c check.Brief) []*markup.Node {
	text := " after " + duration(c.DurationMs)
	if t := c.Tests; t != nil {
		text += ": " + count(int(t.Passed), "test") + " passed, " + count(int(t.Failed), "test") + " failed, " +
			count(int(t.Skipped), "test") + " skipped"
	}
	if c.GitHead != "" {
		text += ", at commit " + c.GitHead
	}
	if c.Elsewhere {
		text += ", in another folder than the run was started in"
	}
	out := []*markup.Node{markup.Data("check", c.ID)}
	if c.Passed {
		return append(out, badge(good, "check passed"), markup.Text(" "+c.ID+text))
	}
	out = append(out, badge(bad, "check failed"), markup.Text(" "+c.ID+" "+c.Why+text))
	if end := strings.TrimRight(cmp.Or(strings.TrimSpace(c.StderrTail), c.StdoutTail), "\r\n"); end != "" {
		out = append(out, printed(end))
	}
	return out
}

// printed is what a program wrote.
func printed(text string) *markup.Node {
	return markup.E(markup.Pre, markup.Num(markup.TabIndex, 0), markup.Text(text))
}

// Levels formats the levels of an assessment with their reasons.
func Levels(x views.Assessment) string {
	var parts []string
	for _, d := range x.Dimensions {
		part := d.ID + ": " + d.Level
		if d.Rationale != "" {
			part += " (" + d.Rationale + ")"
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ", ")
	if x.AssessmentID != "" {
		text = x.AssessmentID + " – " + text
	}
	if x.Summary != "" {
		text += ". " + x.Summary
	}
	return text
}

// decisionLine says who decided what, when, and with which reason.
func decisionLine(d views.DecisionRow) []*markup.Node {
	t := good
	if d.Decision != event.Approved {
		t = bad
	}
	out := []*markup.Node{badge(t, plain(d.Decision)), markup.Text(" by " + decision.Name(d.By) + ", "), when(d.AtMs)}
	if d.Reason != "" {
		out = append(out, markup.Text(": "+d.Reason))
	}
	if d.Unreadable != "" {
		out = append(out, markup.Text(" ("+d.Unreadable+")"))
	}
	if d.Imported {
		out = append(out, markup.Text(" "), badge(warn, "imported: it does not count here"))
	}
	return out
}

// stepShown is what was shown at a step, what was tried, and what its command wrote.
func stepShown(s views.StepRow, shown report.Step) (out []*markup.Node) {
	failed := s.Result != nil && (s.Result.ExitStatus != 0 || s.Result.Failure != "")
	name := "stdout"
	if shown.Together {
		name = "stdout and stderr, recorded together by an older version"
	}
	for _, o := range []struct {
		name string
		of   *report.Output
	}{{name, shown.Stdout}, {"stderr", shown.Stderr}} {
		if o.of != nil {
			out = append(out, folded(failed, o.name+", "+size(o.of.Bytes), output(*o.of)))
		}
	}
	if len(shown.Tried) > 1 || len(shown.Tried) == 1 && shown.Tried[0].Outcome == event.Blocked {
		out = append(out, folded(s.State == views.StepPending, "Attempts: "+count(s.Attempts, "attempt"), tried(shown)))
	}
	switch {
	case shown.PromptError != "":
		out = append(out, paragraph(markup.Cls("dim"), markup.Text("The prompt cannot be shown: "+shown.PromptError)))
	case shown.Prompt.Text != "":
		text := []*markup.Node{printed(shown.Prompt.Text)}
		if shown.Prompt.IsCut() {
			text = append(text, paragraph(markup.Cls("dim"), markup.Text("The prompt has "+size(shown.Prompt.Bytes)+
				"; this is its beginning.")))
		}
		out = append(out, folded(s.State == views.StepPending, "Prompt, as it was shown", text...))
	}
	return out
}

// output is what is stored of an output, with a line where something is left out.
func output(o report.Output) *markup.Node {
	out := markup.Group{}
	if o.Head != "" {
		out = append(out, printed(o.Head))
	}
	if o.OmittedBytes > 0 {
		out = append(out, paragraph(markup.Cls("dim"), markup.Text("… "+size(o.OmittedBytes)+" left out …")))
	}
	if o.Tail != "" {
		out = append(out, printed(o.Tail))
	}
	return out.Node()
}

// tried lists attempts with what was missing.
func tried(s report.Step) *markup.Node {
	var rows []*markup.Node
	for _, a := range s.Tried {
		t := good
		if a.Outcome == event.Blocked {
			t = bad
		}
		items := []*markup.Node{badge(t, plain(a.Outcome)), markup.Text(" by " + actor(a.By) + ", "), when(a.AtMs)}
		for _, b := range a.Blockers {
			items = append(items, paragraph(markup.Text(b.Message)))
		}
		rows = append(rows, markup.E(markup.Li, items...))
	}
	return markup.E(markup.Ol, rows...)
}
