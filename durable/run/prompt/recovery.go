package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Recovery is what the log holds around a pending step, for whoever takes a run up
// without having seen what came before (locks 18.1 and section 5). Lists are in the
// order in which they are told.
type Recovery struct {
	StepsDone int64    // acknowledged on the way to this step
	Done      []Told   // the notes of the latest of them, the latest last
	Here      []Told   // what was kept at this step and moved nothing on, the latest last
	Open      []string // what is open on the way here, the worst first
	Branches  []Branch // where the run went from here before, the preferred one first
	Pending   compile.Step
	Vars      canon.Value
}

// Told is a text under the step or occasion that it belongs to.
type Told struct{ Heading, Text string }

// Branch is one way on from a step that was left before.
type Branch struct {
	Tip       string // node id
	Status    string
	Preferred bool
	Pending   string         // label of the step that waits at the tip, "" at the end of a run
	Last      Told           // the latest notes of the branch, zero where there are none
	Steps     []compile.Step // those that are named: their functions are explained
}

// The shares of limits.RecapBytesMax. Notes on the way here get what the others
// leave, at least the rest: they are the longest, and the oldest can go.
const (
	openShare     = 1536
	hereShare     = 3072
	branchesShare = 3072
	functionShare = 1536
	branchNotes   = 512
	labelMax      = 160 // of a title and of a key: workflows may have longer ones
	openShownMax  = 8
	// cutWorth is the room below which a text is left out rather than cut.
	cutWorth = 256
)

// Recap is the recovery text: at most limits.RecapBytesMax bytes of Markdown, cut by
// bytes with the marker of the locks where it has to be, and "" where there is
// nothing to tell. Newer texts get room before older ones.
func Recap(r Recovery) string {
	open := openSection(r.Open)
	here := toldSection("Kept at this step so far", "Nothing of this has moved the run on.", r.Here, hereShare)
	branches := branchSection(r.Branches)
	named := functionSection(r)
	left := limits.RecapBytesMax
	for _, s := range []string{open, here, branches, named} {
		left -= len(s) + len("\n\n")
	}
	var p page
	intro := fmt.Sprintf("Steps done so far: %d. The notes of the latest follow, the latest last.", r.StepsDone)
	p.add(toldSection("Done before this step", intro, r.Done, left))
	p.add(open)
	p.add(here)
	p.add(branches)
	p.add(named)
	return p.text()
}

// Label names a step and its instance.
func Label(title, key string) string {
	return fmt.Sprintf("%s (%s)", reason.Clip(title, labelMax), reason.Clip(key, labelMax))
}

func openSection(open []string) string {
	if len(open) == 0 {
		return ""
	}
	shown := slices.Clone(open)
	if more := len(open) - openShownMax; more > 0 {
		shown = append(shown[:openShownMax], fmt.Sprintf("…and %d more", more))
	}
	for i, s := range shown {
		shown[i] = reason.Clip(strings.Join(strings.Fields(s), " "), labelMax)
	}
	return reason.Truncate("## Open on the way here\n\n"+strings.Join(bullets(shown), "\n"), openShare)
}

// toldSection takes texts from the latest back as long as there is room, and says
// how many it left out.
func toldSection(heading, intro string, list []Told, room int) string {
	if len(list) == 0 {
		return ""
	}
	head := "## " + heading + "\n\n" + intro
	const omission = "\n\nTexts left out for their length: %d, the oldest."
	room -= len(head) + len(omission)
	var parts []string
	for i := len(list) - 1; i >= 0; i-- {
		block := "\n\n### " + list[i].Heading + "\n\n" + strings.TrimSpace(list[i].Text)
		if len(block) > room && room < cutWorth {
			break
		}
		block = reason.Truncate(block, room)
		parts = append(parts, block)
		room -= len(block)
	}
	if more := len(list) - len(parts); more > 0 {
		head += fmt.Sprintf(omission, more)
	}
	slices.Reverse(parts)
	return head + strings.Join(parts, "")
}

func branchSection(list []Branch) string {
	if len(list) == 0 {
		return ""
	}
	head := "## This step was left before\n\nA new attempt opens another branch; these are there already."
	const omission = "\n\nFurther branches: %d."
	room, shown := branchesShare-len(head)-len(omission), 0
	var text strings.Builder
	for _, b := range list[:min(len(list), limits.RecapBranchesMax)] {
		block := "\n\n### " + b.describe()
		if len(block) > room && room < cutWorth {
			break
		}
		block = reason.Truncate(block, room)
		text.WriteString(block)
		room -= len(block)
		shown++
	}
	if more := len(list) - shown; more > 0 {
		text.WriteString(fmt.Sprintf(omission, more))
	}
	return head + text.String()
}

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

// functionSection explains the functions of steps that the branches name. Those of
// the pending step stand in its prompt already (locks section 5).
func functionSection(r Recovery) string {
	text := "## Functions named in the branches\n"
	var ends []int // where each definition ends in text
	for _, fn := range r.unexplained() {
		text += "\n" + strings.Join(function(fn, &filler{vars: r.Vars}), "\n")
		ends = append(ends, len(text))
	}
	if len(ends) == 0 {
		return ""
	}
	if len(text) <= functionShare {
		return text
	}
	const omission = "\n\nOmitted %d function definitions."
	room := functionShare - len(omission) - len("9999")
	omitted := 0
	for _, end := range ends {
		if end > room-len(limits.TruncationMarker) {
			omitted++
		}
	}
	return reason.Truncate(text, room) + fmt.Sprintf(omission, omitted)
}

// unexplained lists each function that a shown branch names and the prompt does not
// hold: once, the preferred branch's first, in the order of their steps.
func (r Recovery) unexplained() []compile.Function {
	type definition struct{ name, text string }
	known := map[definition]bool{}
	for _, fn := range r.Pending.Functions {
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
