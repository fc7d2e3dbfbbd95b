package perform

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Display shows a run while it is performed. Its methods are called in order, from
// one goroutine; what a command prints goes to it on another way.
type Display interface {
	RunOpened(RunView)
	StepBegan(StepView)
	TryBegan(TryView)
	TryEnded(TryEnd)
	// Blocked: the attempt was recorded and not accepted.
	Blocked([]reason.Blocker)
	StepEnded(StepEnd)
}

// RunView is the run that is taken up.
type RunView struct {
	Run      id.Run
	Workflow string // its name
	Title    string // what the person called the run, if they did
	Steps    int
	Done     int // acknowledged before
}

// StepView is a step that becomes somebody's turn.
type StepView struct {
	At, Of   int // 1 is the first
	Title    string
	Rounds   []Round  // of the loops around it, outermost first
	Prompt   string   // what the person has to read; "" when there is nothing for them to do
	Argv     []string // of the step's command, if it has one
	Cwd      string
	Warnings []string // about the answer that shows the step
	Refused  []string // why it was not accepted when it was tried before
}

// TryView is a command that starts.
type TryView struct {
	Argv    []string
	Cwd     string
	Try, Of int
}

// TryEnd is how it ended.
type TryEnd struct {
	ports.CommandOutcome
	AgainInMs int64 // the pause before the next try
	Last      bool  // there is no next try
}

// StepEnd is a step that was accepted.
type StepEnd struct{ ElapsedMs int64 }

func (w *work) runView() RunView {
	v := RunView{Run: w.report.Run, Workflow: w.report.Workflow, Steps: len(w.flow.Steps)}
	if run := w.view.run(); run != nil {
		v.Title = run.Started.Title
		if tip := run.Node(run.Tip); tip != nil {
			v.Done = int(tip.Depth)
		}
	}
	return v
}

// Round is where a step stands in one of the loops around it.
type Round struct {
	Loop string // its title
	N    int    // from 1
}

// Rounds tells them in words, outermost first.
func Rounds(all []Round) string {
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = fmt.Sprintf("round %d of %q", r.N, r.Loop)
	}
	return strings.Join(words, ", ")
}

// roundsOf reads the rounds off a step's key, outermost loop first.
func roundsOf(w compile.Compiled, key string) []Round {
	loops, _, err := snapshot.ParseKey(key)
	if err != nil {
		return nil
	}
	var out []Round
	for _, l := range loops {
		loop, _ := w.Loop(l.LoopID)
		title := loop.Title
		if title == "" {
			title = l.LoopID
		}
		out = append(out, Round{title, int(l.Iteration) + 1})
	}
	return out
}
