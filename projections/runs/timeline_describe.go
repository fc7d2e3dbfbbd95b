package runs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/wait"
)

// describeSession describes the creation or the import of a session.
func describeSession(p event.SessionCreated) string {
	if p.ImportedFrom != nil {
		return "The session was imported from " + p.ImportedFrom.SessionID.String()
	}
	return "The session was created"
}

// describeRunStart describes the start of a run with its title and origin.
func describeRunStart(p event.RunStarted) string {
	text := "The run of " + p.WorkflowID + " was started"
	if name := p.Name(); name != "" {
		text += ": " + oneLine(name)
	}
	if p.Goal != "" && p.Title != "" {
		text += ", with the goal: " + oneLine(p.Goal)
	}
	if p.ForkedFrom.IsReplay() {
		text += fmt.Sprintf(", a replay of %s", p.ForkedFrom.RunID)
	} else if p.ForkedFrom != nil {
		text += fmt.Sprintf(", forked from %s at %s", p.ForkedFrom.RunID, p.ForkedFrom.NodeID)
	}
	return text + describeWarnings(p.Warnings)
}

// describeWarnings lists the loose matches of a decision, and the members that its command wrote and
// the step does not declare; "" for none.
func describeWarnings(list []event.DecisionWarning) (text string) {
	var matches, undeclared []string
	for _, w := range list {
		if w.Code == event.OutputUndeclared {
			undeclared = append(undeclared, oneLine(w.Path))
		} else {
			matches = append(matches, oneLine(w.String()))
		}
	}
	if matches != nil {
		text = " (loosely: " + strings.Join(matches, "; ") + ")"
	}
	if undeclared != nil {
		text += " (undeclared outputs: " + strings.Join(undeclared, ", ") + ")"
	}
	return text
}

// nodeDescriptions is what happened when a node of a kind was created.
var nodeDescriptions = map[event.NodeKind]string{"": "Reached ", event.StepNode: "Reached ",
	event.CheckpointNode: "Created a checkpoint at ", event.BlockedAttemptNode: "Recorded a blocked attempt at "}

// describeNode describes a new node by its kind.
func describeNode(p event.NodeCreated, step string) string {
	if done, ok := nodeDescriptions[p.NodeKind]; ok {
		return done + step
	}
	return fmt.Sprintf("Reached %s (%s)", step, plain(string(p.NodeKind)))
}

// describeEdge describes an edge; an edge to a refused attempt's node is no progress.
func (t *describer) describeEdge(p event.EdgeCreated) string {
	from, to := t.step(p.FromNodeID), t.step(p.ToNodeID)
	if t.refused[p.ToNodeID] {
		return "Stayed at " + from
	}
	switch p.Cause.Kind {
	case event.NonTipAdvance:
		return fmt.Sprintf("Advanced from %s to %s again on a new branch", from, to)
	case event.CheckpointCreated:
		return "Linked a checkpoint to " + from
	}
	return "Advanced from " + from + " to " + to
}

// describeAttempt describes the outcome of an attempt with its first blocker and the number of the
// others.
func (t *describer) describeAttempt(p event.AdvanceRecorded, step string) string {
	text := step + " was not accepted"
	// An attempt of another program may advance to a node of kind blocked_attempt: it was refused.
	switch to := p.Outcome.ToNodeID; {
	case to != nil && t.refused[*to]:
		if why := t.at(*to).Refused; why != "" {
			text += ": " + oneLine(why)
		}
		return text
	case p.Outcome.Kind == event.Advanced:
		return step + " was done" + describeWarnings(p.Warnings)
	}
	if p.Outcome.Blockers == nil || len(p.Outcome.Blockers.Blockers) == 0 {
		return text
	}
	blockers := p.Outcome.Blockers.Blockers
	return text + ": " + oneLine(blockers[0].Message) + andMore(len(blockers)-1) + describeWarnings(p.Warnings)
}

// andMore returns how many others follow the one that was named, "" for none.
func andMore(others int) string {
	if others == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", others)
}

// describeContext lists keys, not values, which may be long or confidential.
func describeContext(p event.ContextSet) string {
	var set, removed []string
	for i := range p.Context.Len() {
		if p.Context.Item(i).Kind() == canon.Null {
			removed = append(removed, p.Context.Key(i))
		} else {
			set = append(set, p.Context.Key(i))
		}
	}
	var parts []string
	if len(set) > 0 {
		parts = append(parts, "set "+strings.Join(set, ", "))
	}
	if len(removed) > 0 {
		parts = append(parts, "removed "+strings.Join(removed, ", "))
	}
	if len(parts) == 0 {
		return "The context was not changed"
	}
	return "Context: " + oneLine(strings.Join(parts, "; "))
}

// describePreferences lists the changed preferences with their source.
func describePreferences(p event.PreferencesChanged) string {
	parts := make([]string, len(p.Delta))
	for i, c := range p.Delta {
		parts[i] = c.Key + " is " + c.Value
	}
	return fmt.Sprintf("Preferences: %s (from the %s)", strings.Join(parts, ", "), plain(string(p.Source)))
}

// describeOutput describes notes by their first line, artifacts by kind and size.
func describeOutput(e event.Event, p event.NodeOutputAppended, step string) string {
	if p.OutputChannel == event.Recap {
		return "Notes on " + step + ": " + oneLine(p.Payload.NotesMarkdown)
	}
	if p.Decision != nil && p.Payload.ArtifactKind == event.DecisionKind {
		return describeDecision(*p.Decision, step)
	}
	what := cmp.Or(p.Payload.ArtifactKind, p.Payload.ContentType)
	if what == wait.Kind && !handedIn(e, p) {
		return "The wait of " + step + " is over"
	}
	if what == host.Kind && !handedIn(e, p) {
		return "Result of the host for " + step
	}
	text := fmt.Sprintf("Artifact for %s: %s, %d bytes", step, oneLine(what), p.Payload.ByteLength)
	if what == check.Kind {
		text = fmt.Sprintf("Result of a check of %s, %d bytes", step, p.Payload.ByteLength)
	}
	if handedIn(e, p) {
		text += " (" + HandedInNote + ")"
	}
	return text
}

// describeDecision describes what a person decided about a step.
func describeDecision(d event.StepDecision, step string) string {
	by := oneLine(d.By)
	if d.By == string(event.Human) {
		by = "a person"
	}
	text := fmt.Sprintf("%s was %s by %s", step, plain(string(d.Decision)), by)
	if d.Reason != "" {
		text += ": " + oneLine(d.Reason)
	}
	return text
}

// describeGap describes a gap that was opened or resolved.
func describeGap(p event.GapRecorded) string {
	if p.Resolution.Kind == event.Resolves {
		return "Gap resolved: " + oneLine(p.Summary)
	}
	return fmt.Sprintf("Gap opened (%s): %s", p.Severity, oneLine(p.Summary))
}

// describeGuarded describes what a hook decided about the end of a turn.
func describeGuarded(p event.GuardNoted, step string) string {
	if p.Verdict == event.GuardRefused {
		return fmt.Sprintf("A hook of %s refused the end of a turn at %s (refusal %d)", p.Client, step, p.Refusals)
	}
	return fmt.Sprintf("A hook of %s allowed the end of a turn at %s after %s", p.Client, step,
		counted(p.Refusals, "refusal"))
}

// describeTrace describes a decision trace by the summary of its last entry.
func describeTrace(p event.DecisionTraceAppended) string {
	if len(p.Entries) == 0 {
		return "Decision trace without entries"
	}
	last := oneLine(p.Entries[len(p.Entries)-1].Summary)
	switch more := len(p.Entries) - 1; {
	case more == 1:
		return "Decided: " + last + " (after one other decision)"
	case more > 1:
		return fmt.Sprintf("Decided: %s (after %d other decisions)", last, more)
	}
	return "Decided: " + last
}

// observationName returns a readable name for the key of an observation.
func observationName(key string) string {
	return cmp.Or(observationNames[key], plain(key))
}

var observationNames = map[string]string{"git_branch": "the git branch", "git_head_sha": "the git commit",
	"repo_root_hash": "the repository, by digest", "repo_root": "the repository"}

// textBytesMax bounds a text taken from an event, in bytes: a moment then fits on one or two lines.
const textBytesMax = 160

// oneLine returns the first line of s that is not blank, with runs of white space collapsed, cut to
// textBytesMax bytes. " …" marks text that was left out.
func oneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	for line := range strings.Lines(s) {
		if line = strings.Join(strings.Fields(line), " "); line == "" {
			continue
		}
		// " …" also marks further lines of s.
		if cut := reason.Clip(line, textBytesMax); cut != line || strings.TrimSpace(s) != strings.TrimSpace(line) {
			return cut + " …"
		}
		return line
	}
	return ""
}

// isOneLine reports text that oneLine returns as it is: short, of ASCII, with single spaces between its words.
func isOneLine(s string) bool {
	if len(s) > textBytesMax {
		return false
	}
	space := true // at the beginning, and behind a space
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && !space:
			space = true
		case c <= ' ' || c > '~':
			return false
		default:
			space = false
		}
	}
	return !space
}

// quote returns the first line of s in quotation marks.
func quote(s string) string { return "“" + oneLine(s) + "”" }

// plain returns a stored word with spaces in place of underscores.
func plain(word string) string { return strings.ReplaceAll(word, "_", " ") }

// describeHandOver describes a hand-over of the session.
func describeHandOver(p event.SessionHandedOver) string {
	if p.To == "" {
		return "The session was handed over by " + p.FromStoreID.String()
	}
	return fmt.Sprintf("The session was handed over to %s by %s", oneLine(p.To), p.FromStoreID)
}

// describePause describes a pause of the run.
func describePause(p event.RunPaused) string {
	when := ""
	if p.Drain {
		when = ", after the attempt at its current step"
	}
	return "The run was paused" + when + ": " + oneLine(p.Reason)
}

// describeResume describes the end of a pause.
func describeResume(p event.RunResumed) string {
	if p.Reason == "" {
		return "The run was resumed"
	}
	return "The run was resumed: " + oneLine(p.Reason)
}
