package source

import (
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// refuseChoicesFrom reports choicesFrom in the inputs of a workflow, which its first step requires
// already: no result exists then.
func refuseChoicesFrom(inputs problem.SourceValue, report problem.Report) {
	for _, at := range inputs.Items() {
		if at.Has("choicesFrom") {
			report.Error(at.Member("choicesFrom"), "Declare the input at the step that needs it, after the step with the result.",
				"the inputs of a workflow are required before its first step, and no step has a result then")
		}
	}
}

// checkChoicesFrom requires that the step whose result has the choices precedes the one that asks, in
// the same or an enclosing sequence, and that it can have a result (docs/design.md#typed-answers).
func (r *stepRules) checkChoicesFrom(step problem.SourceValue) {
	for _, in := range step.Member("inputs").Items() {
		at := in.Member("choicesFrom").Member("step")
		name := at.Value.Text()
		if name == "" {
			continue // the shape check reports others
		}
		i := slices.IndexFunc(r.before, func(s problem.SourceValue) bool { return s.Member("id").Value.Text() == name })
		if i < 0 {
			var ids []string
			for _, s := range r.before {
				if whyNoResult(s) == "" {
					ids = append(ids, s.Member("id").Value.Text())
				}
			}
			r.report.Error(at, nearest.Suggest(name, ids, "Did you mean %q?", "Name a step before this one in its sequence, or in one around it."),
				"choicesFrom names %q, which is no step before this one in the same or an enclosing sequence", name)
			continue
		}
		if why := whyNoResult(r.before[i]); why != "" {
			r.report.Error(at, "Name a step that hands in an artifact, or a command that prints the list as JSON.",
				"choicesFrom names %q, which has no result: %s", name, why)
		}
	}
}

// whyNoResult says why a step has no result of its own, "" if it can have one.
func whyNoResult(step problem.SourceValue) string {
	switch {
	case step.Member("type").Value.Text() == "loop":
		return "it is a loop, and the steps of its body have results"
	case step.Has("templateCall"):
		return "the steps of a template replace it"
	case isWait(step.Member("action")), hoststep.Is(step.Member("action")):
		return "it waits, or the host performs it"
	}
	return ""
}
