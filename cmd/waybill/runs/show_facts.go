package runs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/projections/runs"
)

const (
	// indent precedes what came of a step, below its title.
	indent = "       "
	// valueShownMax bounds a value of the context in the short view, in bytes.
	valueShownMax = 160
	// contextShownMax bounds the keys of the context in the short view.
	contextShownMax = 20
	// tailLinesShown is the number of lines of output that are shown of a command that failed.
	tailLinesShown = 10
)

// showOrigin prints what the run was started from.
func showOrigin(p *page.Page, r views.RunDetails) {
	// The run and node that a fork started from, or the run whose inputs a replay decided again.
	if f := r.ForkedFrom; f.IsReplay() {
		p.Facts("replay of " + page.ShortRun(f.RunID) + ": nothing was performed")
	} else if f != nil {
		p.Facts("forked from " + page.ShortRun(f.RunID) + " at " + page.ShortNode(f.NodeID))
	}
	if from := r.ImportedFrom; from != nil {
		p.Facts("imported from "+from.SessionID.String(), "store "+from.StoreID.String(), "head "+from.Head.String())
	}
	if r.Parent != nil {
		p.Facts("started by " + r.Parent.String())
	}
	if len(r.Tags) > 0 {
		p.Text("tags: ", strings.Join(r.Tags, ", "))
	}
	if r.Paused != nil {
		p.Text("paused since "+page.ClockTime(r.Paused.SinceMs, "2 Jan 2006 15:04")+": ", r.Paused.Reason)
	}
	if r.CloseReason != "" {
		p.Text("closed: ", r.CloseReason)
	}
	if r.CancelReason != "" && r.CancelReason != r.CloseReason {
		p.Text("cancellation requested: ", r.CancelReason)
	}
	showWorkspace(p, r)
}

// showWorkspace prints where the run was started, as far as a person can read it: of the repository only
// a digest is stored.
func showWorkspace(p *page.Page, r views.RunDetails) {
	var facts []string
	for _, x := range r.Observations {
		if x.Key == "git_branch" || x.Key == "git_head_sha" || x.Key == "repo_root" {
			facts = append(facts, plainWord(x.Key)+" "+page.OneLine(x.Value.Value))
		}
	}
	if len(facts) > 0 {
		p.Facts(facts...)
	}
}

// showOutcome prints below a step what came of it, in one line each, and the end of the output of a
// command that failed.
func showOutcome(a *cli.App, p *page.Page, run id.Run, s views.ShownStep) {
	showCheckpoints(p, s.Checkpoints, s.Points)
	if s.Result != nil {
		showResult(p, s.StepRow)
	}
	showChecks(p, s.StepRow)
	for _, x := range s.Assessments {
		p.Text(indent+"assessed ", pages.Levels(x))
	}
	for _, x := range s.Decisions {
		p.Text(indent, decisionText(x))
	}
	if s.WaitOver != nil {
		p.StyledText(indent, "waited until "+page.ClockTime(s.WaitOver.DueAtMs, "2 Jan 2006 15:04:05"), p.Dim)
	}
	if s.Host != nil {
		p.StyledText(indent, hostText(*s.Host), p.Dim)
	}
	if len(s.Guarded) > 0 {
		p.StyledText(indent, guardText(s.Guarded), p.Dim)
	}
	// What is shown already is no artifact to mention.
	others := slices.DeleteFunc(slices.Clone(s.Artifacts), func(x views.ArtifactRow) bool { return len(s.Checks) > 0 && x.ArtifactKind == check.Kind })
	if n := len(others); n > 0 && s.WaitOver == nil && s.Host == nil && s.Result == nil && len(s.Assessments) == 0 && len(s.Decisions) == 0 {
		p.StyledText(indent, page.Plural(n, "artifact")+": "+kindsOf(others), p.Dim)
	}
	if !s.FullNotes.IsZero() {
		p.Text(indent+"… ", "whole notes: "+a.Command("runs", "show", page.ShortRun(run), "--step", s.StepInstanceKey))
	}
}

// hostText says how a host step ended.
func hostText(h views.HostRow) string {
	if h.Error != nil {
		return "failed on the host (" + h.Error.Code + "): " + h.Error.Message
	}
	return "performed by the host (" + h.TypeID + ")"
}

// showCheckpoints prints the checkpoints of a step, each with what was attached.
func showCheckpoints(p *page.Page, all []runs.Checkpoint, rows []views.CheckpointRow) {
	for _, c := range all {
		render.Checkpoint(p, indent, c)
		for _, row := range rows {
			if row.NodeID == c.NodeID && len(row.Artifacts) > 0 {
				p.StyledText(indent+"  ", page.Plural(len(row.Artifacts), "artifact")+": "+kindsOf(row.Artifacts), p.Dim)
			}
		}
	}
}

// showResult prints the outcome of a command, and of one that failed the last lines of its output.
func showResult(p *page.Page, s views.StepRow) {
	b := *s.Result
	took := page.Duration(time.Duration(b.DurationMs) * time.Millisecond)
	if b.ExitStatus == 0 && b.Failure == "" {
		p.StyledText(indent, "command succeeded in "+took+triesText(b.Tries), p.Dim)
		return
	}
	text := "command exited with status " + page.Itoa(int(b.ExitStatus))
	if b.Failure != "" {
		text = "command failed: " + b.Failure
	}
	p.StyledText(indent, text+" after "+took+triesText(b.Tries), p.Bad)
	end := b.StderrTail
	if strings.TrimSpace(end) == "" {
		end = b.StdoutTail
	}
	if end = lastLines(end, tailLinesShown); end != "" {
		p.Quote(indent, end, p.Dim)
	}
}

// showChecks prints each check of a step, and of one that did not pass the last lines of its output.
func showChecks(p *page.Page, s views.StepRow) {
	for _, c := range s.Checks {
		c.StdoutTail, c.StderrTail = lastLines(c.StdoutTail, tailLinesShown), lastLines(c.StderrTail, tailLinesShown)
		render.Check(p, indent, c)
	}
}

// guardText says in one line how often hooks refused the end of a turn at a step.
func guardText(chats []runs.GuardedChat) string {
	refusals, letGo := 0, 0
	for _, c := range chats {
		refusals += int(c.Refusals)
		if c.LetGo {
			letGo++
		}
	}
	text := "guard: the end of a turn was refused " + timesText(refusals)
	if len(chats) > 1 {
		text += " in " + page.Plural(len(chats), "chat")
	}
	switch {
	case letGo == 0:
		return text
	case letGo == len(chats):
		return text + ", then allowed"
	}
	return text + ", then allowed in " + page.Itoa(letGo)
}

// timesText says how often something happened.
func timesText(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return page.Plural(n, "time")
}

// triesText says how often a command was tried, "" for once.
func triesText(tries int64) string {
	if tries <= 1 {
		return ""
	}
	return ", " + page.Plural(int(tries), "try")
}

// lastLines returns the last lines of a text, at most so many.
func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// decisionText says who decided what, when, and with which reason.
func decisionText(x views.DecisionRow) string {
	by := decision.Name(x.By)
	if x.SignedBy != "" {
		by += " (signed with " + x.SignedBy + ")"
	}
	text := strings.ReplaceAll(string(x.Decision), "_", " ") + " by " + by + " at " + page.ClockTime(x.AtMs, "2 Jan 2006 15:04")
	switch {
	case x.Unreadable != "":
		text += " (" + x.Unreadable + ")"
	case x.Reason != "":
		text += ": " + x.Reason
	}
	if x.Imported {
		text += " (imported: it does not count here)"
	}
	return text
}

// neededText says whose approvals a step waits for, and until when those given count.
func neededText(x engine.PendingApproval) string {
	text := page.Plural(x.Needed-x.Given, "approval") + " needed"
	if x.Given > 0 {
		text += ", given by " + page.List(x.GivenBy, "and")
	}
	if len(x.Approvers) > 0 {
		text += "; by " + page.List(x.Approvers, "or")
	}
	if x.NotPerformer {
		text += "; not from the account that handed in the outputs"
	}
	if x.ExpiresAtMs > 0 {
		text += "; those given count until " + page.ClockTime(x.ExpiresAtMs, "2 Jan 2006 15:04")
	}
	return text
}

// kindsOf lists the kinds of artifacts.
func kindsOf(all []views.ArtifactRow) string {
	var kinds []string
	for _, x := range all {
		kind := cmp.Or(x.ArtifactKind, x.ContentType)
		if note := stateOf(x); note != "" {
			kind += " (" + note + ")"
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, ", ")
}

// stateOf says what is special about an artifact, "" for nothing.
func stateOf(x views.ArtifactRow) string {
	switch {
	case x.State != views.ArtifactStored:
		return string(x.State)
	case !x.Current:
		return "replaced"
	}
	return ""
}

// valueText formats a value for one line.
func valueText(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.JCS())
}

// showValues prints the members of an object, if it has any.
func showValues(a *cli.App, p *page.Page, title string, v canon.Value, run string) {
	if v.Len() == 0 {
		return
	}
	heading(p, title)
	for i := range min(v.Len(), contextShownMax) {
		text := valueText(v.Item(i))
		if cut := reason.Clip(text, valueShownMax); cut != text {
			text = cut + " …"
		}
		p.Text("  "+page.OneLine(v.Key(i))+": ", text)
	}
	if more := v.Len() - contextShownMax; more > 0 {
		p.Text("  ", "and "+page.Plural(more, "key")+": "+a.Command("runs", "show", run, "--json"))
	}
}

// showFacts prints the context and what else is recorded about the run, without headings that would
// have nothing below them.
func showFacts(a *cli.App, p *page.Page, r views.RunDetails) {
	short := page.ShortRun(r.RunID)
	showValues(a, p, "Context", r.Context, short)
	if o := r.Options; o != nil {
		showValues(a, p, "Configurable", o.Configurable, short)
		showValues(a, p, "Metadata", o.Metadata, short)
		if !o.RequestDigest.IsZero() {
			heading(p, "Request")
			p.Text("  ", o.RequestDigest.String())
		}
	}
	section(p, "Capabilities", r.Capabilities, func(c views.CapabilityStatus) (string, string) {
		text := c.Status + " (" + provenanceText(c.Provenance) + ")"
		if !c.Current {
			text += ", earlier"
		}
		return c.Capability, text
	})
	section(p, "Beyond the recommendation", r.Recommendations, func(x views.Recommendation) (string, string) {
		return x.Key, x.Effective + ", recommended: " + x.Recommended
	})
	recorded := slices.DeleteFunc(slices.Clone(r.Warnings), func(w views.StepWarning) bool {
		return w.Code == warning.WorkflowDrifted // shown at the top
	})
	section(p, "Warnings", recorded, func(w views.StepWarning) (string, string) {
		return cmp.Or(w.StepID, "start"), string(w.Code) + ": " + w.Message
	})
	section(p, "Diverged", r.Divergences, func(d views.DivergenceRow) (string, string) {
		text := plainWord(string(d.Reason)) + ": " + render.Sentence(d.Summary)
		if d.Related != "" && d.Related != d.StepID {
			text += " (about " + d.Related + ")"
		}
		return d.StepID, text
	})
	section(p, "Cut when recorded", r.Truncations, func(t views.Truncation) (string, string) {
		text := t.What
		if t.Bytes > 0 {
			text += " of " + page.Size(t.Bytes)
		}
		if !t.SHA256.IsZero() {
			text += ": " + showArtifact(a, p, t.SHA256)
		}
		return t.StepID, text
	})
}

// provenanceText says how a status was determined.
func provenanceText(x event.Provenance) string {
	d := x.Detail
	parts := []string{plainWord(x.Kind), x.EnforcementGrade}
	for _, part := range []string{d.ProbeTemplateID, d.ProbeStepID, d.AttemptContext, d.ClaimedBy, d.Claim, d.Result,
		d.FailureCode} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// plainWord returns a stored word with spaces.
func plainWord(word string) string { return strings.ReplaceAll(word, "_", " ") }

// heading prints the heading of a section.
func heading(p *page.Page, title string) {
	p.Line("")
	p.Line("%s", p.Bold(title))
}

// rowsShownMax bounds the rows of a section; the latest ones are shown.
const rowsShownMax = 20

// section prints a heading and a line for each row, nothing without rows. Of many rows the latest ones
// are shown, and the document has all of them.
func section[T any](p *page.Page, title string, rows []T, line func(T) (name, text string)) {
	if len(rows) == 0 {
		return
	}
	heading(p, title)
	if earlier := len(rows) - rowsShownMax; earlier > 0 {
		p.Text("  … ", page.Itoa(earlier)+" earlier: see --json")
		rows = rows[earlier:]
	}
	for _, row := range rows {
		name, text := line(row)
		p.Text("  "+page.OneLine(name)+": ", text)
	}
}

// showArtifact returns the command that shows an artifact: short enough for one line of a terminal.
func showArtifact(a *cli.App, p *page.Page, d canon.Digest) string {
	return a.Command("artifacts", "show", p.Name(page.ShortDigest(d), d.String()))
}
