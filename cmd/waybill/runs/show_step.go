package runs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/projections/runs"
)

// showStep prints all that is recorded of one step, each iteration below the one before.
func showStep(a *cli.App, r views.RunDetails, p *page.Page) {
	if n := r.OmittedSteps; n > 0 {
		p.Text(p.Dim("… "), "The first "+page.Plural(n, "round")+" are left out here. "+
			a.Command("runs", "show", page.ShortRun(r.RunID), "--json")+" has the key of each, for --step.")
		p.Line("")
	}
	for i, s := range r.Steps {
		if i > 0 {
			p.Line("")
		}
		notes := s.Notes
		s.Notes = "" // printed whole below
		render.StepRow(p, 0, s, r.Status)
		key := "key " + s.StepInstanceKey // as --step and --at take it
		if s.NodeID != nil {
			key += " · " + s.NodeID.String()
		}
		p.StyledText(indent, key, p.Dim)
		if s.Details == nil {
			continue
		}
		if text := cmp.Or(s.Details.Notes, notes); text != "" {
			part(p, "Notes")
			p.Quote(indent, text, page.Plain)
		}
		showCheckpoints(p, s.Checkpoints, r.Checkpoints)
		showTried(p, *s.Details)
		showCommand(a, p, r, s)
		if len(s.Checks) > 0 {
			part(p, "Checks")
			showChecks(p, s)
		}
		all := slices.Clone(s.Artifacts)
		for _, c := range r.Checkpoints {
			if slices.ContainsFunc(s.Checkpoints, func(at runs.Checkpoint) bool { return at.NodeID == c.NodeID }) {
				all = append(all, c.Artifacts...)
			}
		}
		showStepArtifacts(a, p, all)
		for _, x := range s.Assessments {
			p.Text(indent+"assessed ", pages.Levels(x))
		}
		for _, x := range s.Decisions {
			p.Text(indent, decisionText(x))
		}
		if len(s.Details.Context) > 0 {
			part(p, "Context that it set")
		}
		for _, c := range s.Details.Context {
			for k := range c.Context.Len() {
				text := valueText(c.Context.Item(k))
				if c.Context.Item(k).IsNull() {
					text = "(removed)"
				}
				p.Quote(indent, c.Context.Key(k)+": "+text+" ("+plainWord(string(c.Source))+")", page.Plain)
			}
		}
		showStepGaps(p, *s.Details)
		showGuarded(p, s.Guarded)
	}
	if slices.ContainsFunc(r.Steps, namesActor) {
		p.Line("")
		render.ClaimNote(p, true)
	}
}

// namesActor reports that the details of a step name who submitted something.
func namesActor(s views.StepRow) bool {
	return s.Details != nil && (len(s.Decisions) > 0 ||
		slices.ContainsFunc(s.Details.Tried, func(t views.TriedAttempt) bool { return t.By.Ref != "" }) ||
		slices.ContainsFunc(s.Artifacts, func(x views.ArtifactRow) bool { return x.RecordedBy.Ref != "" }))
}

// part prints the name of a part of a step.
func part(p *page.Page, name string) { p.Line("%s", indent+p.Bold(name)) }

// showTried prints the attempts with their blockers and warnings.
func showTried(p *page.Page, d views.StepDetails) {
	if len(d.Tried) > 0 {
		part(p, "Attempts")
	}
	for _, t := range d.Tried {
		who := strings.TrimSpace(string(t.By.Kind) + " " + t.By.Ref)
		p.Text(indent, page.ClockTime(t.AtMs, "2 Jan 2006 15:04:05")+" "+string(t.Outcome.Kind)+" by "+who)
		if t.Outcome.Blockers != nil {
			for _, b := range t.Outcome.Blockers.Blockers {
				p.Text(indent+"  "+p.Bad("blocked")+" ", string(b.Code)+": "+render.Sentence(b.Message)+" ("+pointerText(b.Pointer)+")")
				if b.SuggestedFix != "" {
					p.Text(indent+"    ", b.SuggestedFix)
				}
			}
		}
		for _, w := range t.Warnings {
			p.Text(indent+"  "+p.Warn("warning")+" ", string(w.Code)+": "+w.Message())
		}
		if t.Elicited != nil {
			p.Text(indent+"  ", "The agent's program asked its user for: "+elicitedText(*t.Elicited))
		}
		if t.Traceparent != "" {
			p.Text(indent+"  ", "traceparent "+t.Traceparent)
		}
	}
}

// elicitedText names what a user was asked for.
func elicitedText(e event.Elicited) string {
	all := slices.Clone(e.Inputs)
	if e.Confirmation {
		all = append([]string{"the confirmation of the step"}, all...)
	}
	return strings.Join(all, ", ")
}

// pointerText names what a blocker is about.
func pointerText(at reason.Pointer) string {
	raw, err := canon.Marshal(at)
	v, parsed := canon.Parse(raw)
	kind, _ := v.Get("kind")
	if err != nil || parsed != nil {
		return string(at.Kind)
	}
	text := plainWord(kind.Text())
	for i := range v.Len() {
		if v.Key(i) != "kind" {
			text += " " + valueText(v.Item(i))
		}
	}
	return text
}

// showCommand prints the result of a command with the stored output.
func showCommand(a *cli.App, p *page.Page, r views.RunDetails, s views.StepRow) {
	c := s.Details.Command
	if c == nil {
		return
	}
	part(p, "Command")
	brief := s
	b := *s.Result
	b.StdoutTail, b.StderrTail = "", "" // printed below
	brief.Result = &b
	showResult(p, brief)
	p.StyledText(indent, "argv "+c.ArgvDigest.String(), p.Dim)
	if !c.FilledDigest.IsZero() {
		p.StyledText(indent, "filled "+c.FilledDigest.String(), p.Dim)
	}
	p.StyledText(indent, "output "+c.OutputDigest.String(), p.Dim)
	out, both := c.Out(), "stdout"
	if !c.Apart() {
		both = "stdout and stderr, recorded together by an older version"
	}
	showStream(p, both, out)
	showStream(p, "stderr", c.Err())
	if out.LeftOut()+c.Err().LeftOut() > 0 {
		p.Text(indent, "All that is stored: "+a.Command("runs", "logs", page.ShortRun(r.RunID), "--step",
			s.StepInstanceKey))
	}
}

// streamLinesShown is the number of lines of each end of an output that are shown with a step.
const streamLinesShown = 200

// showStream prints one output of a command.
func showStream(p *page.Page, name string, s command.Stream) {
	if s.Bytes == 0 {
		return
	}
	p.Text(indent, name+", "+page.Size(s.Bytes))
	if s.Head != "" {
		p.QuoteExactly(indent, firstLines(s.Head, streamLinesShown), page.Plain)
	}
	if omitted := s.LeftOut(); omitted > 0 {
		p.Text(indent+p.Warn("… "), page.Plural(int(omitted), "byte")+" left out")
	}
	if s.Tail != "" {
		p.QuoteExactly(indent, lastLines(s.Tail, streamLinesShown), page.Plain)
	}
}

// firstLines returns the first lines of a text, at most so many.
func firstLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	return strings.Join(lines[:min(len(lines), most)], "\n")
}

// showStepArtifacts prints the artifacts of a step and of its checkpoints.
func showStepArtifacts(a *cli.App, p *page.Page, all []views.ArtifactRow) {
	if len(all) > 0 {
		part(p, "Artifacts")
	}
	for _, x := range all {
		text := cmp.Or(x.ArtifactKind, "no kind") + ", " + x.ContentType + ", " + page.Size(x.Bytes)
		if note := stateOf(x); note != "" {
			text += ", " + note
		}
		if x.RecordedBy.Kind != event.Engine {
			text += ", from " + strings.TrimSpace(string(x.RecordedBy.Kind)+" "+x.RecordedBy.Ref)
		}
		p.Text(indent, text)
		if !x.SHA256.IsZero() {
			p.Text(indent+"  ", showArtifact(a, p, x.SHA256))
		}
	}
}

// showGuarded prints for each chat how often hooks refused the end of a turn.
func showGuarded(p *page.Page, chats []runs.GuardedChat) {
	if len(chats) > 0 {
		part(p, "Guard")
	}
	for _, c := range chats {
		text := "refused " + timesText(int(c.Refusals))
		if c.LetGo {
			text += ", then allowed"
		}
		p.Text(indent, page.ClockTime(c.AtMs, "2 Jan 2006 15:04:05")+" "+text+" by "+c.Client+", chat "+c.Chat.String())
	}
}

// showStepGaps prints the gaps that were opened and resolved, and the decisions.
func showStepGaps(p *page.Page, d views.StepDetails) {
	if len(d.Gaps) > 0 {
		part(p, "Gaps")
	}
	for _, g := range d.Gaps {
		word := "opened"
		if g.Resolution.Kind == event.Resolves {
			word = "resolved"
		}
		p.Text(indent, word+" ("+string(g.Severity)+", "+g.Reason.String()+"): "+render.Sentence(g.Summary))
	}
	if len(d.Trace) > 0 {
		part(p, "Decisions")
	}
	for _, t := range d.Trace {
		p.Text(indent, plainWord(string(t.Kind))+": "+render.Sentence(t.Summary))
	}
}
