package perform

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Display shows a run while it is performed. Its methods are called in order,
// from one goroutine. The output of commands does not pass through it.
type Display interface {
	RunOpened(RunView)
	StepBegan(StepView)
	// Filled reports the command of the step with its values, before a person
	// confirms it and before it runs.
	Filled(TryView)
	TryBegan(TryView)
	TryEnded(TryEnd)
	// Waiting reports the time that is left until the moment of a step, about once a second, and
	// WaitEnded that the person waits no more: it is reached, or the person leaves.
	Waiting(WaitView)
	WaitEnded()
	// Suspected reports what an attempt recorded that may be a secret, before its outcome.
	Suspected([]Suspected)
	// Blocked reports an attempt that was recorded and refused.
	Blocked([]reason.Blocker)
	StepEnded(StepEnd)
}

// NoDisplay shows nothing: what happens is in the log of the run.
type NoDisplay struct{}

var _ Display = NoDisplay{}

// RunOpened implements Display.
func (NoDisplay) RunOpened(RunView) {}

// StepBegan implements Display.
func (NoDisplay) StepBegan(StepView) {}

// Filled implements Display.
func (NoDisplay) Filled(TryView) {}

// TryBegan implements Display.
func (NoDisplay) TryBegan(TryView) {}

// TryEnded implements Display.
func (NoDisplay) TryEnded(TryEnd) {}

// Waiting implements Display.
func (NoDisplay) Waiting(WaitView) {}

// WaitEnded implements Display.
func (NoDisplay) WaitEnded() {}

// Suspected implements Display.
func (NoDisplay) Suspected([]Suspected) {}

// Blocked implements Display.
func (NoDisplay) Blocked([]reason.Blocker) {}

// StepEnded implements Display.
func (NoDisplay) StepEnded(StepEnd) {}

// RunView describes the run when its execution begins.
type RunView struct {
	Run      id.Run
	Workflow string // its name
	Title    string // title or goal chosen by the user, "" without one
	Steps    int
	Done     int // acknowledged before this call
	// Preferences are those in force when the execution begins.
	Preferences event.Preferences
	Sources     runs.PreferenceSources
}

// StepView describes a step before it is performed.
type StepView struct {
	At, Of int // place in the main sequence, from 1, and its length
	// Returns reports that steps can come back, so that the step has no place.
	Returns  bool
	Done     int // completed steps, shown if Returns
	StepID   string
	Title    string
	Rounds   []Round  // of the loops around it, outermost first
	Prompt   string   // text for the person; "" for a step without one
	Argv     []string // command of the step, if it has one
	Cwd      string
	Env      map[string]string
	Back     bool     // the person can go back to an earlier step
	Confirm  bool     // the person has to confirm the step before anything else happens
	Warnings []string // of the answer that shows the step
	Refused  []string // messages of the last refused attempt
	// Checkpoints are those recorded at the step, oldest first.
	Checkpoints []runs.Checkpoint
}

// Position describes how far the run is: "2/3", or "1 done" if steps can come back. It is "" for
// a step that is not shown as part of a run.
func (s StepView) Position() string {
	switch {
	case s.Of > 0:
		return fmt.Sprintf("%d/%d", s.At, s.Of)
	case s.Returns:
		return fmt.Sprintf("%d done", s.Done)
	}
	return ""
}

// TryView describes a command before it starts.
type TryView struct {
	Argv    []string
	Cwd     string
	Env     map[string]string // of the action or check
	Try, Of int
	Check   string // id of the check, "" for the command of the step
}

// TryEnd describes how a command ended.
type TryEnd struct {
	ports.CommandOutcome
	PauseMs int64 // pause before the next try
	Last    bool  // no further try follows
	Check   string
	// Unproved is why a check does not prove what it expects, as a clause; "" if it does.
	Unproved string
}

// StepEnd describes a step that was accepted.
type StepEnd struct{ ElapsedMs int64 }

// runView collects the run's title from the fold and its progress from the answer.
func (e *execution) runView() RunView {
	v := RunView{Run: e.report.Run, Workflow: e.report.Workflow, Steps: len(e.flow.Steps),
		Done: int(e.answer.StepsDone()), Preferences: e.answer.Preferences, Sources: e.answer.PreferenceSources}
	if run := e.view.run(); run != nil {
		v.Title = run.Started.Name()
	}
	return v
}

// Round is the iteration of one of the loops around a step.
type Round struct {
	Loop string // title of the loop
	N    int    // from 1
}

// FormatRounds describes iterations in words, outermost loop first.
func FormatRounds(all []Round) string {
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = fmt.Sprintf("round %d of %q", r.N, r.Loop)
	}
	return strings.Join(words, ", ")
}

// RoundsOf reads the iterations from a step instance key, outermost loop first, with titles that vars
// are filled into. It returns nil for a key that does not parse, written by a newer version.
func RoundsOf(w compile.Compiled, key string, vars canon.Value) []Round {
	loops, _, err := snapshot.ParseKey(key)
	if err != nil {
		return nil
	}
	var out []Round
	for i, l := range loops {
		loop, _ := w.Loop(l.LoopID)
		title := prompt.Title(loop.Title, interpreter.VariablesAt(w, loops[:i+1], vars)).Text
		out = append(out, Round{cmp.Or(title, l.LoopID), int(l.Iteration) + 1})
	}
	return out
}
