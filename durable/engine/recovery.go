package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// answerWithRecap is answer with the recovery text, for callers that rehydrate
// and may not know the steps before. Like every answer it is a function of the
// pinned workflow and the fold (docs/design.md#answers,
// docs/design.md#recovery).
func (n *Answers) answerWithRecap(ctx context.Context, keys token.Keys, p session.Resolved) (Answer, error) {
	n.described.forget()
	a, err := n.AnswerAt(ctx, keys, p)
	if err != nil {
		return a, err
	}
	if a.Checks, err = n.checksAt(ctx, p); err != nil {
		return a, err
	}
	recovery, err := n.recovery(ctx, p)
	recovery.Results, recovery.MoreResults = a.results.list, a.results.more
	if err == nil {
		a.Recap = prompt.Recap(recovery)
	}
	return a, err
}

// checksAt returns the checks of the last attempt at a node, nil for one that was
// accepted.
func (n *Answers) checksAt(ctx context.Context, p session.Resolved) ([]check.Brief, error) {
	results, err := n.Checks(ctx, p.Node)
	if err != nil || len(results) == 0 {
		return nil, err
	}
	w, s, err := n.Load(ctx, p)
	if err != nil || s.PendingStep() == nil {
		return nil, err
	}
	step, _ := w.Step(s.PendingStep().StepID)
	return check.Briefs(step.Checks, results, session.StartedIn(p.Fold)), nil
}

// recovery collects the input of the recovery text: the steps before, what is
// open, what is recorded at the node, and the branches that leave it.
func (n *Answers) recovery(ctx context.Context, p session.Resolved) (out prompt.Recovery, err error) {
	w, s, err := n.Load(ctx, p)
	if err != nil {
		return out, err
	}
	done, err := n.StepsDone(ctx, w, p.Run, p.Node)
	if err != nil {
		return out, err
	}
	here, err := n.recordedAt(ctx, p)
	if err != nil {
		return out, err
	}
	out = prompt.Recovery{Goal: p.Run.Started.Goal, StepsDone: done, Vars: interpreter.Variables(w, s, p.Node.Context),
		Open: openGapsAt(p), Here: here}
	if p.Node.Parent != nil {
		out.Rules = prompt.Rules(w) // the prompt of the first step has them
	}
	if from := p.Run.Started.ForkedFrom; from != nil {
		out.Origin = from.RunID.String()
	}
	if p.Run.Closed != nil {
		out.Ended = p.Run.Closed.Reason
	}
	if pending := s.PendingStep(); pending != nil {
		out.Pending, _ = w.Step(pending.StepID)
	}
	if out.Done, err = n.notesBefore(ctx, w, p); err != nil {
		return out, err
	}
	out.Branches, err = n.branches(ctx, w, p)
	return out, err
}

// notesBefore collects the notes of the last limits.RecapAncestorsMax nodes
// before a node, the nearest one last.
func (n *Answers) notesBefore(ctx context.Context, w compile.Compiled, p session.Resolved) ([]prompt.Excerpt, error) {
	var out []prompt.Excerpt
	// Nodes without notes count towards the limit as well.
	for range limits.RecapAncestorsMax {
		if p.Node = parentOf(p); p.Node == nil {
			break
		}
		t, _, err := n.notesAt(ctx, w, p.Node)
		if err != nil {
			return nil, err
		}
		if t.Text != "" {
			out = append(out, t)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// notesAt returns the notes of a node under the label of the step that was
// pending there; zero without notes, so that no snapshot is read for nothing.
func (n *Answers) notesAt(ctx context.Context, w compile.Compiled, at *runs.Node) (t prompt.Excerpt,
	step compile.Step, err error) {
	o, ok := at.Recap()
	if !ok {
		return t, step, nil
	}
	s, err := n.State(ctx, at)
	if err != nil {
		return t, step, err
	}
	heading, step := stepLabel(w, s, at.Context)
	return prompt.Excerpt{Heading: heading, Text: o.Payload.NotesMarkdown}, step, nil
}

// stepLabel returns the label of the step that is pending in a state, "" at the
// end of a run. Its title has the values of the node's context.
func stepLabel(w compile.Compiled, s snapshot.State, held canon.Value) (string, compile.Step) {
	pending := s.PendingStep()
	if pending == nil {
		return "", compile.Step{}
	}
	step, _ := w.Step(pending.StepID)
	title := prompt.Title(step.Title, interpreter.Variables(w, s, held))
	return prompt.Label(title.Text, pending.Key()), step
}

// openGapsAt lists open gaps: the critical ones from the root to the node, then
// the others of the node itself.
func openGapsAt(p session.Resolved) []string {
	var out []string
	for _, gap := range p.Run.CriticalOnPath(p.Node.ID) {
		out = append(out, fmt.Sprintf("%s: %s", gap.Severity, gap.Summary))
	}
	for _, gap := range p.Node.OpenGaps {
		if gap.Severity != event.Critical {
			out = append(out, fmt.Sprintf("%s: %s", gap.Severity, gap.Summary))
		}
	}
	return out
}

// recordedAt lists what is recorded at a node without advancing from it: the
// outputs of refused attempts, and checkpoints, the latest one last.
func (n *Answers) recordedAt(ctx context.Context, p session.Resolved) (out []prompt.Excerpt, err error) {
	read := newResults()
	add := func(p session.Resolved, heading string) error {
		from := len(read.list)
		if err := n.addResults(ctx, &read, p, ""); err != nil {
			return err
		}
		if text := outputsText(p.Node, read.list[from:]); text != "" {
			out = append(out, prompt.Excerpt{Heading: heading, Text: text})
		}
		return nil
	}
	if err := add(p, "Sent with an attempt at this step"); err != nil {
		return nil, err
	}
	of := len(p.Node.Checkpoints)
	for i, point := range p.Node.Checkpoints[max(0, of-limits.RecapAncestorsMax):] {
		if n := p.Run.Node(point); n != nil {
			nth := max(0, of-limits.RecapAncestorsMax) + i + 1
			if err := add(p.AtNode(n), fmt.Sprintf("Checkpoint %d of %d", nth, of)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// outputsText renders a node's notes and its results.
func outputsText(n *runs.Node, list []prompt.Result) string {
	var parts []string
	if o, ok := n.Recap(); ok {
		parts = append(parts, strings.TrimSpace(o.Payload.NotesMarkdown))
	}
	for _, r := range list {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, "\n\n")
}

// branches summarizes where a run went from a node that was left before: one
// summary for each acknowledged step, the branch of the preferred tip first,
// then the newest. Beyond limits.RecapBranchesMax the summaries are empty: the
// text states their number only.
func (n *Answers) branches(ctx context.Context, w compile.Compiled, p session.Resolved) ([]prompt.Branch, error) {
	if p.Node.AckedChildren == 0 {
		return nil, nil
	}
	tips := tipsBelow(p)
	var out []prompt.Branch
	for i, tip := range tips {
		if i >= limits.RecapBranchesMax {
			out = append(out, prompt.Branch{}) // counted, not shown
			continue
		}
		b, err := n.branch(ctx, w, p, tip)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// tipsBelow returns one tip for each branch that leaves a node: the preferred
// tip if it is among them, else the tip that was created last.
func tipsBelow(p session.Resolved) []*runs.Node {
	var out []*runs.Node
	at := map[id.Node]int{} // by the child of the node that the branch begins with
	for _, tip := range slices.Backward(p.Run.Tips()) {
		child, ok := childTowards(p, tip)
		if !ok {
			continue
		}
		i, seen := at[child]
		if !seen {
			at[child], out = len(out), append(out, p.Run.Node(tip))
		} else if tip == p.Run.Tip {
			out[i] = p.Run.Node(tip)
		}
	}
	slices.SortStableFunc(out, func(a, b *runs.Node) int {
		switch p.Run.Tip {
		case a.ID:
			return -1
		case b.ID:
			return 1
		}
		return 0
	})
	return out
}

// childTowards returns the first node after p on the path to a tip below it; ok
// is false if the tip is not below p.
func childTowards(p session.Resolved, tip id.Node) (child id.Node, ok bool) {
	for n := p.AtNode(p.Run.Node(tip)); n.Node != nil &&
		n.Node.CreatedIndex > p.Node.CreatedIndex; n.Node = parentOf(n) {
		if n.Node.Parent != nil && *n.Node.Parent == p.Node.ID {
			return n.Node.ID, true
		}
	}
	return child, false
}

// branch summarizes one branch: status and pending step at its tip, and the
// latest notes between the node and the tip.
func (n *Answers) branch(ctx context.Context, w compile.Compiled, p session.Resolved,
	tip *runs.Node) (prompt.Branch,
	error) {
	s, err := n.State(ctx, tip)
	if err != nil {
		return prompt.Branch{}, err
	}
	b := prompt.Branch{Tip: tip.ID.String(), Preferred: tip.ID == p.Run.Tip,
		Status: string(p.Run.StatusAt(tip.ID, session.TipState(w, tip, s)))}
	var pending compile.Step
	if b.Pending, pending = stepLabel(w, s, tip.Context); b.Pending != "" {
		b.Steps = append(b.Steps, pending)
	}
	for at := p.AtNode(tip); at.Node != nil &&
		at.Node.ID != p.Node.ID; at.Node = parentOf(at) {
		last, step, err := n.notesAt(ctx, w, at.Node)
		if err != nil {
			return b, err
		}
		if last.Text != "" {
			b.Last, b.Steps = last, append(b.Steps, step)
			break
		}
	}
	return b, nil
}
