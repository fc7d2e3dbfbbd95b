package trial

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/ports"
)

// Coverage collects what the cases of a workflow reach.
type Coverage struct {
	w        compile.Compiled
	steps    map[string]bool
	branches map[Branch]bool
	blockers map[Obstacle]bool
}

// NewCoverage returns the coverage of a workflow of which no case was performed.
func NewCoverage(w compile.Compiled) *Coverage {
	return &Coverage{w: w, steps: map[string]bool{}, branches: map[Branch]bool{}, blockers: map[Obstacle]bool{}}
}

// Branch is one way that a condition of a step, or a loop, may go.
type Branch struct {
	// Step or Loop is set.
	Step string `json:"step,omitzero"`
	Loop string `json:"loop,omitzero"`
	Way  Way    `json:"way"`
}

// Way is the way that a branch goes, a closed set.
type Way string

// The ways: of a step with a runCondition, and of a loop.
const (
	Runs     Way = "runs"           // the condition holds
	Passed   Way = "passed_over"    // it does not
	Leaves   Way = "leaves"         // the loop ends after an iteration
	Skips    Way = "no_iteration"   // the loop ends without one
	Repeats  Way = "repeats"        // another iteration follows
	Exceeded Way = "max_iterations" // the loop would continue after its last iteration
)

// Obstacle is a requirement for which a step may refuse an attempt.
type Obstacle struct {
	Step string             `json:"step"` // "": an input of the workflow, at any step
	Code reason.BlockerCode `json:"code"`
	// About is what the blocker is about, such as "notes" or "context key version".
	About string `json:"about"`
}

// CoverageReport says what no case reached, each sorted, and how much there is.
type CoverageReport struct {
	Steps    Count `json:"steps"`
	Branches Count `json:"branches"`
	Blockers Count `json:"blockers"`

	MissedSteps    []string   `json:"missedSteps"`
	MissedBranches []Branch   `json:"missedBranches"`
	MissedBlockers []Obstacle `json:"missedBlockers"`
}

// Count is how many of all were reached.
type Count struct {
	Reached int `json:"reached"`
	Of      int `json:"of"`
}

// add adds what a case reached.
func (c *Coverage) add(ctx context.Context, p *player) error {
	for _, id := range p.path {
		c.steps[id] = true
	}
	for _, b := range slices.Concat(p.blockers, p.implied) {
		c.blockers[Obstacle{b.Step, b.Code, b.about}] = true
		c.blockers[Obstacle{"", b.Code, b.about}] = true // of an input of the workflow
	}
	if p.now.Session.SessionID.IsZero() {
		return nil
	}
	read := reading{visit: c.event}
	_, err := p.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(p.now.Session.SessionID)}, func(manifest.Head) ports.Visitor {
		return read
	})
	return err
}

// reading passes the events of a log on.
type reading struct{ visit func(event.Event) }

// Visit implements ports.Visitor.
func (r reading) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		r.visit(e)
	}
	return nil
}

// event collects the branches that an event records.
func (c *Coverage) event(e event.Event) {
	switch d := e.Data.(type) {
	case event.DecisionTraceAppended:
		for _, entry := range d.Entries {
			if b := branchOf(entry); b.Way != "" {
				c.branches[b] = true
			}
		}
	case event.AdvanceRecorded:
		if d.Outcome.Blockers != nil {
			for _, b := range d.Outcome.Blockers.Blockers {
				c.exceeded(b.Code, b.Pointer)
			}
		}
	case event.GapRecorded:
		if d.Pointer != nil {
			c.exceeded(d.Reason.Blocker(), *d.Pointer)
		}
	}
}

// exceeded notes a loop that would continue after its last iteration.
func (c *Coverage) exceeded(code reason.BlockerCode, at reason.Pointer) {
	if code != reason.BlockerInvariant || at.Kind != reason.AtWorkflowStep {
		return
	}
	if _, ok := c.w.Loop(at.StepID); ok {
		c.branches[Branch{Loop: at.StepID, Way: Exceeded}] = true
	}
}

// branchOf returns the branch that an entry of a trace explains, the zero Branch for others. The sentences of
// traces are stored, and never change.
func branchOf(e event.TraceEntry) Branch {
	step, loop, iteration := "", "", int64(-1)
	for _, r := range e.Refs {
		switch {
		case r.StepID != "":
			step = r.StepID
		case r.LoopID != "":
			loop = r.LoopID
		case r.Value != nil:
			iteration = *r.Value
		}
	}
	switch {
	case e.Kind == event.EvaluatedCondition && step != "" && strings.Contains(e.Summary, ": its condition does not hold"):
		return Branch{Step: step, Way: Passed}
	case e.Kind == event.EvaluatedCondition && step != "" && strings.Contains(e.Summary, ": its condition holds"):
		return Branch{Step: step, Way: Runs}
	case e.Kind == event.ExitedLoop && strings.Contains(e.Summary, "without an iteration"):
		return Branch{Loop: loop, Way: Skips}
	case e.Kind == event.ExitedLoop:
		return Branch{Loop: loop, Way: Leaves}
	case e.Kind == event.SelectedNextStep && loop != "" && iteration > 0:
		return Branch{Loop: loop, Way: Repeats}
	}
	return Branch{}
}

// Report compares what was reached with all that there is.
func (c *Coverage) Report() CoverageReport {
	out := CoverageReport{MissedSteps: []string{}, MissedBranches: []Branch{}, MissedBlockers: []Obstacle{}}
	ids := workflowtest.StepIDs(c.w)
	for _, id := range ids {
		if !c.steps[id] {
			out.MissedSteps = append(out.MissedSteps, id)
		}
	}
	branches := branchesOf(c.w)
	for _, b := range branches {
		if !c.branches[b] {
			out.MissedBranches = append(out.MissedBranches, b)
		}
	}
	obstacles := obstaclesOf(c.w)
	for _, o := range obstacles {
		if !c.blockers[o] {
			out.MissedBlockers = append(out.MissedBlockers, o)
		}
	}
	out.Steps = Count{len(ids) - len(out.MissedSteps), len(ids)}
	out.Branches = Count{len(branches) - len(out.MissedBranches), len(branches)}
	out.Blockers = Count{len(obstacles) - len(out.MissedBlockers), len(obstacles)}
	return out
}

// branchesOf returns the branches of a workflow, in the order of its steps.
func branchesOf(w compile.Compiled) (out []Branch) {
	var add func(steps []compile.Step)
	add = func(steps []compile.Step) {
		for _, s := range steps {
			if !s.RunCondition.IsNull() {
				out = append(out, Branch{Step: s.StepID, Way: Runs}, Branch{Step: s.StepID, Way: Passed})
			}
			if s.Type != compile.LoopStep {
				continue
			}
			l, _ := w.Loop(s.StepID)
			out = append(out, Branch{Loop: s.StepID, Way: Leaves})
			if l.Control == nil || l.Control.Kind == compile.ByContext {
				if l.Items != "" || l.Control != nil || l.Count.Kind().String() == "string" {
					out = append(out, Branch{Loop: s.StepID, Way: Skips})
				}
			}
			if l.MaxIterations > 1 {
				out = append(out, Branch{Loop: s.StepID, Way: Repeats})
			}
			if l.Control != nil {
				out = append(out, Branch{Loop: s.StepID, Way: Exceeded})
			}
			add(l.Body)
		}
	}
	add(w.Steps)
	return out
}

// obstaclesOf returns the requirements for which steps may refuse an attempt.
func obstaclesOf(w compile.Compiled) (out []Obstacle) {
	seen := map[Obstacle]bool{}
	add := func(step string, code reason.BlockerCode, about string) {
		o := Obstacle{step, code, about}
		if !seen[o] {
			seen[o] = true
			out = append(out, o)
		}
	}
	for _, in := range w.Inputs {
		add("", in.Code().Blocker(), keyOf(in.ContextKey))
	}
	for _, id := range workflowtest.StepIDs(w) {
		s, _ := w.Step(id)
		for _, in := range s.Inputs {
			add(id, in.Code().Blocker(), keyOf(in.ContextKey))
		}
		if s.NotesRequired {
			add(id, reason.BlockerMissingOutput, "notes")
		}
		if c := s.OutputContract; c != nil {
			if c.Required {
				add(id, reason.BlockerMissingOutput, c.ContractRef)
			}
			add(id, reason.BlockerInvalidOutput, c.ContractRef)
		} else if !s.ValidationCriteria.IsNull() {
			add(id, reason.BlockerInvalidOutput, "criteria")
		}
		if len(s.AssessmentRefs) > 0 {
			add(id, reason.BlockerMissingOutput, "assessment")
		}
		if s.Action != nil || s.Host != nil {
			add(id, reason.BlockerInvalidOutput, "command")
		}
		for _, key := range slices.Sorted(maps.Keys(s.Outputs)) {
			add(id, reason.BlockerInvalidOutput, keyOf(key))
		}
		for _, c := range s.Checks {
			add(id, reason.BlockerInvalidOutput, "check "+c.ID)
		}
		if s.RequireConfirmation.Kind == compile.ConfirmApproval {
			add(id, reason.BlockerUserOnly, "approval")
		}
	}
	return out
}

// keyOf is what a blocker about a context key is about.
func keyOf(key string) string { return "context key " + key }

// aboutOf returns what a blocker is about, in the words of obstaclesOf.
func aboutOf(b reason.Blocker) string {
	p := b.Pointer
	switch p.Kind {
	case reason.AtContextKey:
		return keyOf(p.Key)
	case reason.AtOutputContract:
		switch p.ContractRef {
		case reason.NotesRef:
			return "notes"
		case reason.CriteriaRef:
			return "criteria"
		case "wr.contracts.assessment":
			return "assessment"
		}
		return p.ContractRef
	case reason.AtWorkflowStep:
		switch {
		case b.Check != nil:
			return "check " + b.Check.ID
		case b.Code == reason.BlockerUserOnly:
			return "approval"
		}
		return "command"
	case reason.AtCapability:
		return "capability " + p.Capability
	}
	return string(p.Kind)
}

// Text is a branch as a sentence.
func (b Branch) Text() string {
	name := fmt.Sprintf("step %q", b.Step)
	if b.Loop != "" {
		name = fmt.Sprintf("loop %q", b.Loop)
	}
	return name + " " + map[Way]string{Runs: "is shown because its condition holds", Passed: "is passed over",
		Leaves: "ends after an iteration", Skips: "ends without an iteration", Repeats: "continues with another iteration",
		Exceeded: "would continue after maxIterations"}[b.Way]
}

// Text is an obstacle as a sentence.
func (o Obstacle) Text() string {
	return fmt.Sprintf("%s: %s (%s)", cmp.Or(o.Step, "any step"), o.About, o.Code)
}
