package projections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

func sessionWords(p event.SessionCreated) string {
	if p.ImportedFrom != nil {
		return "The session was imported from " + p.ImportedFrom.SessionID.String()
	}
	return "The session was created"
}

func startWords(p event.RunStarted) string {
	text := "The run of " + p.WorkflowID + " was started"
	if p.Title != "" {
		text += ": " + oneLine(p.Title)
	}
	if p.ForkedFrom != nil {
		text += fmt.Sprintf(", forked from %s at %s", p.ForkedFrom.RunID, p.ForkedFrom.NodeID)
	}
	return text
}

func nodeWords(p event.NodeCreated, step string) string {
	switch p.NodeKind {
	case event.CheckpointNode:
		return "A checkpoint was made at " + step
	case event.BlockedAttemptNode:
		return "A blocked attempt was kept at " + step
	case event.StepNode, "":
		return "Came to " + step
	}
	return fmt.Sprintf("Came to %s (%s)", step, plain(string(p.NodeKind)))
}

func (t teller) edgeWords(p event.EdgeCreated) string {
	from, to := t.step(p.FromNodeID), t.step(p.ToNodeID)
	if t.refused[p.ToNodeID] {
		return "Stayed at " + from
	}
	switch p.Cause.Kind {
	case event.NonTipAdvance:
		return fmt.Sprintf("Went on from %s to %s once more: a new branch", from, to)
	case event.CheckpointCreated:
		return "Kept a checkpoint beside " + from
	}
	return fmt.Sprintf("Went on from %s to %s", from, to)
}

func (t teller) attemptWords(p event.AdvanceRecorded, step string) string {
	text := step + " was not accepted"
	switch to := p.Outcome.ToNodeID; {
	case to != nil && t.refused[*to]:
		if why := t.at(*to).Refused; why != "" {
			text += ": " + oneLine(why)
		}
		return text
	case p.Outcome.Kind == event.Advanced:
		return step + " was done"
	}
	if p.Outcome.Blockers == nil || len(p.Outcome.Blockers.Blockers) == 0 {
		return text
	}
	blockers := p.Outcome.Blockers.Blockers
	text += ": " + oneLine(blockers[0].Message)
	if more := len(blockers) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// contextWords names keys, not values: those may be long, or nobody's business.
func contextWords(p event.ContextSet) string {
	var set, gone []string
	for i := range p.Context.Len() {
		if p.Context.Item(i).Kind() == canon.Null {
			gone = append(gone, p.Context.Key(i))
		} else {
			set = append(set, p.Context.Key(i))
		}
	}
	var parts []string
	if len(set) > 0 {
		parts = append(parts, "set "+strings.Join(set, ", "))
	}
	if len(gone) > 0 {
		parts = append(parts, "removed "+strings.Join(gone, ", "))
	}
	if len(parts) == 0 {
		return "The context was left as it is"
	}
	return "Context: " + oneLine(strings.Join(parts, "; "))
}

func preferenceWords(p event.PreferencesChanged) string {
	parts := make([]string, len(p.Delta))
	for i, c := range p.Delta {
		parts[i] = c.Key + " is " + c.Value
	}
	return fmt.Sprintf("Preferences: %s (from the %s)", strings.Join(parts, ", "), plain(string(p.Source)))
}

func outputWords(p event.NodeOutputAppended, step string) string {
	if p.OutputChannel == event.Recap {
		return fmt.Sprintf("Notes on %s: %s", step, oneLine(p.Payload.NotesMarkdown))
	}
	what := p.Payload.ArtifactKind
	if what == "" {
		what = p.Payload.ContentType
	}
	return fmt.Sprintf("Artifact for %s: %s, %d bytes", step, oneLine(what), p.Payload.ByteLength)
}

func gapWords(p event.GapRecorded) string {
	if p.Resolution.Kind == event.Resolves {
		return "Settled: " + oneLine(p.Summary)
	}
	return fmt.Sprintf("Open (%s): %s", p.Severity, oneLine(p.Summary))
}

func traceWords(p event.DecisionTraceAppended) string {
	if len(p.Entries) == 0 {
		return "Decided something"
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

func observed(key string) string {
	names := []string{"git_branch", "the git branch", "git_head_sha", "the git commit", "repo_root_hash",
		"the repository, by digest", "repo_root", "the repository"}
	if i := slices.Index(names, key); i >= 0 && i%2 == 0 {
		return names[i+1]
	}
	return plain(key)
}

// textMax keeps a moment on a line or two.
const textMax = 160

// oneLine is the first line with text, cut to its budget.
func oneLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.Join(strings.Fields(line), " "); line == "" {
			continue
		}
		if cut := reason.Clip(line, textMax); cut != line || strings.TrimSpace(s) != strings.TrimSpace(line) {
			return cut + " …"
		}
		return line
	}
	return ""
}

func quote(s string) string { return "“" + oneLine(s) + "”" }

// plain turns a stored word into one for people.
func plain(word string) string { return strings.ReplaceAll(word, "_", " ") }
