package pages

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/projections/markup"
)

// mdWriter writes a report as Markdown. Texts from outside are escaped in a line, and whole texts are in blocks of code
// whose fences are longer than any in the text: no text can end its block, begin a heading or become HTML.
type mdWriter struct{ out *bufio.Writer }

// Markdown writes a report as Markdown, with the facts of the page. It has notes, prompts and outputs as they are.
func Markdown(w io.Writer, r report.Report) error {
	m := mdWriter{bufio.NewWriter(w)}
	m.summary(r)
	m.steps(r)
	m.gaps(r.Run)
	m.decisions(r.Run)
	m.artifacts(r.Run)
	m.timeline(r)
	m.annotations(r)
	m.integrity(r)
	m.line("", "Made "+clock(event.TimeText(r.MadeAtMs))+" by waybill "+r.Version+" from the run's log. Times are in UTC.")
	return m.out.Flush()
}

// line writes a line of the program.
func (m mdWriter) line(lines ...string) {
	for _, l := range lines {
		_, _ = m.out.WriteString(l + "\n") // Flush returns the error
	}
}

// heading writes a heading.
func (m mdWriter) heading(level int, text string) {
	m.line("", strings.Repeat("#", level)+" "+escaped(text), "")
}

// fact writes an item with a name and a text.
func (m mdWriter) fact(name, text string) {
	if text != "" {
		m.line("- " + name + ": " + escaped(text))
	}
}

// code writes an item with a name and a word in the font of code, such as an id.
func (m mdWriter) code(name, text string) {
	m.line("- " + name + ": `" + strings.ReplaceAll(shown(text), "`", "'") + "`")
}

// block writes a whole text.
func (m mdWriter) block(name, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.line("", name+":", "", fence+"text", strings.TrimRight(shown(strings.ReplaceAll(text, "\r\n", "\n")), "\n"), fence)
}

// escaped returns a text in one line in which no character has a meaning in Markdown or HTML.
func escaped(text string) string {
	var b strings.Builder
	line := sentence(text)
	for i, r := range line {
		switch {
		case strings.ContainsRune("\\`*_{}[]()#+!|~", r):
			b.WriteString("\\" + string(r))
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == ':' && strings.HasPrefix(line[i+1:], "//"):
			b.WriteString("&#58;") // an address would become a link
		case r == '@':
			b.WriteString("&#64;")
		default:
			b.WriteString(shown(string(r)))
		}
	}
	return b.String()
}

// shown returns a text in which characters that cannot be seen are code points, but for the ends of lines and tabs.
func shown(text string) string {
	if !strings.ContainsFunc(text, isHidden) {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case !invisible.Shapes(r):
			b.WriteString(markup.CodePoint(r))
		}
	}
	return b.String()
}

func isHidden(r rune) bool { return r != '\n' && r != '\t' && invisible.Is(r) }

func (m mdWriter) summary(r report.Report) {
	run := r.Run
	m.line("# " + escaped(run.Title))
	m.line("")
	m.fact("Status", plain(run.Status))
	m.fact("Progress", progress(run.Progress))
	m.fact("Goal", run.Goal)
	m.fact("Workflow", run.Workflow.WorkflowID)
	m.code("Run", run.RunID.String())
	m.code("Session", run.SessionID.String())
	m.fact("Started", clock(event.TimeText(run.StartedAtMs)))
	m.fact("Last event", clock(event.TimeText(run.LastAtMs)))
	m.fact("Tags", strings.Join(run.Tags, ", "))
	m.fact("Git branch", run.Branch)
	if run.Health != manifest.Healthy {
		m.fact("Session is", plain(run.Health))
	}
	for _, l := range r.LeftOut {
		m.fact("Left out", count(l.Count, "item")+" of "+string(l.Part)+"; all of it: "+fault.Command(l.Command).Line())
	}
}

func (m mdWriter) steps(r report.Report) {
	m.heading(2, "Steps")
	if n := len(r.Run.Tips); n > 1 {
		m.line("The run has " + count(n, "tip") +
			". These are the steps of the path to the preferred one; the timeline has the other branches.")
	}
	next := 0
	for i, s := range r.Run.Steps {
		word, _, _ := stepTone(r.Run, s)
		m.heading(3, strconv.Itoa(i+1)+". "+s.Title+" – "+word)
		m.fact("Step", keyWords(s.StepInstanceKey))
		if s.Attempts > 0 {
			m.fact("Attempts", strconv.Itoa(s.Attempts))
		}
		if s.DoneAtMs > 0 {
			m.fact("Done", clock(event.TimeText(s.DoneAtMs)))
		}
		var shown report.Step
		if s.NodeID != nil {
			m.code("Node", s.NodeID.String())
			if next < len(r.Steps) && r.Steps[next].NodeID == *s.NodeID {
				shown = r.Steps[next]
				next++
			}
		}
		m.outcome(s)
		notes := s.Notes
		if shown.Notes != nil {
			notes = shown.Notes.Text
		}
		if notes != "" {
			m.block("Notes", notes)
		}
		for _, c := range s.Checkpoints {
			m.fact("Checkpoint", clock(event.TimeText(c.AtMs)))
			if c.Notes != "" {
				m.block("Notes of the checkpoint", c.Notes)
			}
		}
		m.output("stdout", shown.Stdout)
		m.output("stderr", shown.Stderr)
		if shown.Prompt.Text != "" {
			name := "Prompt"
			if shown.Prompt.IsCut() {
				name += " (the beginning of " + size(shown.Prompt.Bytes) + ")"
			}
			m.block(name, shown.Prompt.Text)
		}
	}
}

// outcome writes what came of a step, in one item each.
func (m mdWriter) outcome(s views.StepRow) {
	if b := s.Result; b != nil {
		m.fact("Command", b.Outcome()+", after "+duration(b.DurationMs)+tries(b.Tries))
	}
	for _, c := range s.Checks {
		m.fact("Check "+escaped(c.ID), cmp.Or(c.Why, "passed")+", after "+duration(c.DurationMs))
	}
	for _, x := range s.Assessments {
		m.fact("Assessed", Levels(x))
	}
}

// output writes an output of a command.
func (m mdWriter) output(name string, o *report.Output) {
	if o == nil {
		return
	}
	if o.OmittedBytes == 0 {
		m.block(name, o.Head+o.Tail)
		return
	}
	m.block(name+", its beginning", o.Head)
	m.block(name+", its end, after "+size(o.OmittedBytes)+" that are left out", o.Tail)
}

func (m mdWriter) gaps(r views.RunDetails) {
	if len(r.Gaps)+len(r.Blockers) == 0 {
		return
	}
	m.heading(2, "Open gaps")
	for _, b := range r.Blockers {
		m.fact("blocked", b.Message)
	}
	for _, g := range r.Gaps {
		m.fact(string(g.Severity), g.Summary)
	}
}

func (m mdWriter) decisions(r views.RunDetails) {
	if len(r.Decisions) == 0 {
		return
	}
	m.heading(2, "Decisions and approvals")
	for _, d := range r.Decisions {
		text := "by " + decision.Name(d.By) + ", " + keyWords(d.StepInstanceKey) + ", " + clock(d.At)
		if d.Reason != "" {
			text += ". " + d.Reason
		}
		if d.SignedBy != "" {
			text += ". Signed with " + d.SignedBy
		}
		if d.Imported {
			text += ". Imported, so that it does not count here"
		}
		m.fact(plain(d.Decision), text)
		if !d.ShownDigest.IsZero() {
			m.code("shown", d.ShownDigest.String())
		}
	}
}

func (m mdWriter) artifacts(r views.RunDetails) {
	begun := false
	for _, s := range r.Steps {
		for _, x := range s.Artifacts {
			if !begun {
				m.heading(2, "Artifacts")
				begun = true
			}
			text := cmp.Or(x.ArtifactKind, x.ContentType) + ", " + keyWords(x.StepInstanceKey) + ", " + size(x.Bytes) + " " +
				artifactWord(x)
			m.code(escaped(text), x.SHA256.String())
		}
	}
}

func (m mdWriter) timeline(r report.Report) {
	m.heading(2, "Timeline")
	for _, e := range r.Timeline.Moments {
		at := "–"
		if e.AtMs != 0 {
			at = clock(event.TimeText(e.AtMs))
		}
		m.line("- " + escaped(at+", "+actor(e.Actor)+". "+e.Text))
	}
}

func (m mdWriter) annotations(r report.Report) {
	if len(r.Annotations.Annotations) == 0 {
		return
	}
	m.heading(2, "Annotations")
	m.line("These are opinions of the people and agents named, and not facts of the log.", "")
	for _, a := range r.Annotations.Annotations {
		by := a.Actor.PrincipalRef
		if r.Annotations.About[a.AnnotationID.String()].Imported {
			by = "says “" + by + "” (imported)"
		}
		m.fact(escaped(signal(a.Signal)), by+", "+clock(a.CreatedAt)+", "+target(a.Target, r.Run))
		for _, text := range []string{a.Signal.Correction, a.Note} {
			if text != "" {
				m.block("Text", text)
			}
		}
	}
}

func (m mdWriter) integrity(r report.Report) {
	m.heading(2, "Integrity")
	errors := 0
	each(r.Verification, func(f manifest.Finding) {
		if f.Severity == manifest.SeverityError {
			errors++
		}
	})
	text := "no errors when the report was made"
	if !r.Verification.OK {
		text = count(errors, "error")
	}
	m.fact("Verification", text)
	each(r.Verification, func(f manifest.Finding) { m.fact(string(f.Severity), f.Path+". "+f.Message) })
	m.code("Log head", r.Run.Head.Digest.String())
	m.code("Workflow", r.Run.Workflow.WorkflowHash.String())
	m.code("Check it", fault.Command{"verify", r.Run.RunID.String(), "--expect-head", r.Run.Head.Digest.String()}.Line())
}
