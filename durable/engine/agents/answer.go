package agents

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/projections/runs"
)

// Answer returns a copy of an answer without what an agent does not act on, so that no part of it occurs
// twice but the tokens, which are in Next.Params too
// (docs/decisions/0069-answers-to-agents-are-whole-in-both-channels.md).
func Answer(a engine.Answer) engine.Answer {
	byDefault := runs.PreferenceSources{Autonomy: runs.PreferenceByDefault, RiskPolicy: runs.PreferenceByDefault}
	if a.PreferenceSources == byDefault {
		a.PreferenceSources = runs.PreferenceSources{}
	}
	a.Workflow.WorkflowHash = canon.Digest{}
	if !a.IsCommand() {
		a.Next = Next(a.Next)
	}
	return a
}

// Next returns a call without the command line that does the same.
func Next(n *engine.Next) *engine.Next {
	if n == nil {
		return nil
	}
	return &engine.Next{Tool: n.Tool, Params: n.Params}
}
