package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Recovery holds the recorded facts around a pending step, for an agent that resumes a run
// without having seen the earlier steps (docs/design.md#recovery). Lists are in the order in
// which they are rendered.
type Recovery struct {
	Goal string // of the run; "" without one
	// Rules is the guidance of the workflow (Rules), "" where the prompt has it.
	Rules string
	// Origin is the run that this one was forked from, "" without one.
	Origin string
	// Ended is why the run ended before it was complete, "" for one that did not.
	Ended string
	// StepsDone counts all of them, also those whose notes Done does not contain.
	StepsDone int64     // acknowledged on the path to this step
	Done      []Excerpt // their latest notes, newest last
	Here      []Excerpt // stored at this step without advancing the run, newest last
	// Results are those of earlier steps, newest first; MoreResults counts further ones.
	Results     []Result
	MoreResults int
	Open        []string // open gaps on the path, most severe first
	Branches    []Branch // branches from this node, the preferred one first
	// Pending is the step to be performed, Vars its variables.
	Pending compile.Step
	Vars    canon.Value
}

// Excerpt is a text with its heading, which names the step or occasion.
type Excerpt struct{ Heading, Text string }

// Branch is an existing branch that starts at the pending step's node.
type Branch struct {
	Tip       string // node id
	Status    string
	Preferred bool
	Pending   string         // label of the pending step at the tip, "" at the end of a run
	Last      Excerpt        // latest notes of the branch, zero if none
	Steps     []compile.Step // the steps it names: their functions are explained
}

// The shares of limits.RecapBytesMax. Notes of earlier steps get what the other parts leave:
// they are the longest, and the oldest can be dropped. Rules and results get up to their shares
// of what the parts about this step leave, and leave notesMin of it.
const (
	openShare     = 1024
	hereShare     = 2304
	branchesShare = 2304
	functionShare = 1536
	rulesShare    = 3072
	resultsShare  = 3072
	notesMin      = 2048
	branchNotes   = 512
	labelMax      = 160 // bytes of a title and of a key; workflows may have longer ones
	openShownMax  = 8
	// truncatedMin is the budget below which a text is omitted rather than truncated.
	truncatedMin = 256
)

// Recap renders the recovery text: at most limits.RecapBytesMax bytes of Markdown, truncated
// with the marker of limits.TruncationMarker, "" if there is nothing to report. Newer texts
// have priority over older ones.
func Recap(r Recovery) string {
	goal, open := goalSection(r.Goal), openSection(r.Open)
	here := excerptSection("Kept at this step so far", "Nothing of this has moved the run on.", r.Here, hereShare)
	branches := branchSection(r.Branches)
	// Those of the pending step are already in its prompt.
	named := functions("Functions named in the branches", r.unexplained(), newFiller(r.Vars, functionShare), functionShare)
	parts := []string{open, here, branches, named}
	left := limits.RecapBytesMax - len(goal) - len("\n\n")
	// The length of the other parts is subtracted first, with their separators.
	for _, s := range parts {
		left -= len(s) + len("\n\n")
	}
	rules := rulesSection(r.Rules, min(rulesShare, left-notesMin))
	left -= len(rules) + len("\n\n")
	results := Results(r.Results, r.MoreResults, min(resultsShare, left-notesMin/2))
	left -= len(results) + len("\n\n")
	origin := originSection(r.Origin)
	if r.Ended != "" {
		origin = strings.TrimPrefix(origin+"\n\n", "\n\n") + "## The run has ended\n\n" + strings.Join(quoteAll(r.Ended), "\n")
	}
	left -= len(origin) + len("\n\n")
	var p page
	p.add(goal)
	p.add(rules)
	intro := fmt.Sprintf("Steps done so far: %d. The notes of the latest follow, the latest last.", r.StepsDone)
	p.add(origin)
	p.add(excerptSection("Done before this step", intro, r.Done, left))
	p.add(results)
	for _, s := range parts {
		p.add(s)
	}
	return p.text()
}

// originSection names the run that a run was forked from: its steps are in another log.
func originSection(run string) string {
	if run == "" {
		return ""
	}
	return "## Forked from another run\n\nThe steps before were done in it: `waybill runs show " + run + "` shows them."
}

// rulesSection renders the guidance of the workflow, which the first step shows in full.
func rulesSection(rules string, budget int) string {
	if rules == "" {
		return ""
	}
	return reason.Truncate("## Rules of this workflow\n\n"+rules, budget)
}

// Label names a step and its place, in words, each within labelMax.
func Label(title, key string) string {
	return fmt.Sprintf("%s (%s)", reason.Clip(title, labelMax), reason.Clip(snapshot.InWords(key), labelMax))
}

// goalSection renders the goal as a quotation: a line of it cannot be mistaken for a heading.
func goalSection(goal string) string {
	lines := strings.FieldsFunc(goal, func(r rune) bool { return strings.ContainsRune("\n\r\u2028\u2029\u0085", r) })
	if len(strings.Fields(goal)) == 0 {
		return ""
	}
	return "## Goal of the run\n\n> " + strings.Join(lines, "\n> ")
}

// openSection renders the open gaps, at most openShownMax of them, one line each.
func openSection(open []string) string {
	if len(open) == 0 {
		return ""
	}
	shown := slices.Clone(open)
	if more := len(open) - openShownMax; more > 0 {
		// The most severe gaps come first, so the rest can be counted only.
		shown = append(shown[:openShownMax], fmt.Sprintf("…and %d more", more))
	}
	for i, s := range shown {
		shown[i] = reason.Clip(strings.Join(strings.Fields(s), " "), labelMax)
	}
	return reason.Truncate("## Open on the way here\n\n"+strings.Join(bullets(shown), "\n"), openShare)
}

// excerptSection adds texts from newest to oldest while the budget lasts, and counts those
// omitted.
func excerptSection(heading, intro string, list []Excerpt, budget int) string {
	if len(list) == 0 {
		return ""
	}
	head := "## " + heading + "\n\n" + intro
	const omission = "\n\nTexts left out for their length: %d, the oldest."
	// Collected from the newest; reversed below into the order of events.
	var blocks []string
	for _, e := range slices.Backward(list) {
		blocks = append(blocks, "\n\n### "+e.Heading+"\n\n"+strings.TrimSpace(e.Text))
	}
	shown := fitting(blocks, budget-len(head)-len(omission))
	if more := len(list) - len(shown); more > 0 {
		head += fmt.Sprintf(omission, more)
	}
	slices.Reverse(shown)
	return head + strings.Join(shown, "")
}

// fitting returns the first blocks that fit into a budget. The last of them may be truncated,
// but is left out if less than truncatedMin bytes remain for it.
func fitting(blocks []string, budget int) []string {
	for i, block := range blocks {
		if len(block) > budget && budget < truncatedMin {
			return blocks[:i]
		}
		blocks[i] = reason.Truncate(block, budget)
		budget -= len(blocks[i])
	}
	return blocks
}

// branchSection renders at most limits.RecapBranchesMax branches within branchesShare, and
// counts the rest. The preferred branch comes first, so that it is the last to be omitted.
func branchSection(list []Branch) string {
	if len(list) == 0 {
		return ""
	}
	text := "## This step was left before\n\nA new attempt opens another branch; these are there already."
	const omission = "\n\nFurther branches: %d."
	var blocks []string
	for _, b := range list[:min(len(list), limits.RecapBranchesMax)] {
		blocks = append(blocks, "\n\n### "+b.describe())
	}
	shown := fitting(blocks, branchesShare-len(text)-len(omission))
	text += strings.Join(shown, "")
	if more := len(list) - len(shown); more > 0 {
		text += fmt.Sprintf(omission, more)
	}
	return text
}

// describe renders one branch: its tip, status, pending step and latest notes.
func (b Branch) describe() string {
	s := fmt.Sprintf("Branch to %s: %s", b.Tip, b.Status)
	if b.Preferred {
		s += ", the preferred one"
	}
	if b.Pending != "" {
		s += "\n\nPending there: " + b.Pending
	}
	if b.Last.Text != "" {
		s += "\n\nLast notes, on " + b.Last.Heading + ":\n\n" + reason.Truncate(strings.TrimSpace(b.Last.Text),
			branchNotes)
	}
	return s
}

// unexplained returns the functions that shown branches name and the prompt does not contain:
// each once, the preferred branch first, in the order of the steps.
func (r Recovery) unexplained() []compile.Function {
	type definition struct{ name, text string }
	known := map[definition]bool{}
	for _, fn := range r.Pending.Functions {
		// Name and definition: steps may define the same name differently.
		known[definition{fn.Name, fn.Definition}] = true
	}
	var out []compile.Function
	for _, b := range r.Branches[:min(len(r.Branches), limits.RecapBranchesMax)] {
		for _, step := range b.Steps {
			for _, fn := range step.Functions {
				if d := (definition{fn.Name, fn.Definition}); !known[d] {
					known[d] = true
					out = append(out, fn)
				}
			}
		}
	}
	return out
}
