// Package trial performs the cases of a test of a workflow and compares each run with what the case expects
// (docs/design.md#tests-of-workflows). Runs are decided by the engine over a store in memory: nothing is
// written, no command is executed, and the clock is part of the case.
//
// It also makes a test, and a workflow, of a recorded run. It does not read or write files, and parses none:
// package workflowtest does. Start reading at Trial.
package trial

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

// Trial performs cases of a workflow.
type Trial struct {
	Workflow compile.Compiled
	// Store returns an empty store. Each case has its own.
	Store func() engine.Store
}

// Report is the result of all cases of a file.
type Report struct {
	Cases  []CaseResult `json:"cases"`
	Passed int          `json:"passed"`
	Failed int          `json:"failed"`
}

// CaseResult is the result of one case.
type CaseResult struct {
	Name string `json:"name"`
	Line int    `json:"line,omitzero"` // of the case in its file
	OK   bool   `json:"ok"`
	// Failures are what does not hold; none if OK.
	Failures []Failure `json:"failures"`
	// Path is the steps in the order in which they were shown.
	Path     []string  `json:"path"`
	Status   string    `json:"status"`
	Blockers []Blocker `json:"blockers"`
	// Warnings are the codes of the warnings of answers, each once.
	Warnings []string `json:"warnings"`
}

// Failure is one expectation that does not hold, or an answer that was not given or not asked for.
type Failure struct {
	// What is path, status, blockers, prompts, context, warnings or answers.
	What     string `json:"what"`
	Line     int    `json:"line,omitzero"` // in the file
	Message  string `json:"message"`
	Expected string `json:"expected,omitzero"`
	Got      string `json:"got,omitzero"`
}

// Blocker is a blocker of an attempt that was refused, with its step.
type Blocker struct {
	Step    string             `json:"step"`
	Code    reason.BlockerCode `json:"code"`
	Message string             `json:"message"`

	about string
}

// Run performs all cases and adds what they reached to the coverage, unless that is nil. An error means that
// the cases could not be performed, not that one does not hold.
func (t Trial) Run(ctx context.Context, f workflowtest.File, reached *Coverage) (Report, error) {
	out := Report{Cases: []CaseResult{}}
	for i, c := range f.Cases {
		p, err := t.play(ctx, c, i)
		if err != nil {
			return out, err
		}
		if reached != nil {
			if err := reached.add(ctx, p); err != nil {
				return out, err
			}
		}
		r := p.compare()
		out.Cases = append(out.Cases, r)
		if r.OK {
			out.Passed++
		} else {
			out.Failed++
		}
	}
	return out, nil
}
