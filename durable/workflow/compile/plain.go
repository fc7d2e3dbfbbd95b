package compile

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/source"
)

// plain compiles a plain step. Conditions and criteria are embedded in normal form, so that
// equivalent spellings have the same hash. Arguments of a call are inserted into texts that
// are shown, never into a command: a command must run as it was reviewed in the routine.
func (u *unit) plain(s source.PlacedStep, fns functionScopes) Step {
	out := u.head(s)
	out.Action, out.Wait, out.Host = s.Action, s.Wait, s.Host
	out.AgentRole = cmp.Or(u.text(s.AgentRole), u.role)
	out.AskForFiles = s.AskForFiles
	if len(s.Checks) > 0 { // an empty list requires nothing; same hash as without it
		out.Checks = s.Checks
	}
	out.Functions = u.functions(s.Step, fns)
	out.Guidance = u.ownGuidance(s.Guidance)
	out.Inputs = u.withInputs(ownInputs(u, s))
	out.NotesRequired = s.NotesRequired
	if len(s.Outputs) > 0 { // an empty object sets nothing; same hash as without it
		out.Outputs = s.Outputs
	}
	u.prompt(&out, s)
	out.PromptFragments = u.fragments(s.At.Member("promptFragments"))
	out.OutputContract = u.outputContract(source.ContractAt(s.At))
	u.assess(&out, s)
	if rules := s.At.Member("validationCriteria"); rules.Value.Len() > 0 { // an empty list has no rules
		c, _ := criteria.Parse(rules, func(problem.Problem) {}) // package source reports the problems
		out.ValidationCriteria = c.Value()
	}
	return u.b.chargeSize(out)
}

// prompt sets the prompt of a step from promptRef, promptBlocks or prompt, and applies the
// features of the unit.
func (u *unit) prompt(out *Step, s source.PlacedStep) {
	if s.At.Has("promptRef") {
		u.fromTemplate(out, s.At.Member("promptRef"))
		return
	}
	if s.PromptBlocks == nil {
		out.Prompt = u.text(s.Prompt)
		if out.Prompt != "" || s.At.Has("promptFragments") {
			u.featuresInPreamble()
		}
		return
	}
	out.PromptBlocks, out.Injected = u.blocks(*s.PromptBlocks, s.At.Member("promptBlocks"))
	out.Injected = append(out.Injected, u.applyFeatures(out.PromptBlocks)...)
	checkInjected(u.report, out.Injected, s.At)
	out.Prompt = out.PromptBlocks.text(s.At.Member("promptBlocks").Member("outputRequired").Value.SourceKeys())
}

// ownGuidance returns the step's guidance after the routine's metaGuidance. The latter is
// repeated in every step of the routine, because a performer may continue the run at any of
// them.
func (u *unit) ownGuidance(own []string) []string {
	own = u.texts(own)
	if len(u.guidance) == 0 {
		return own
	}
	return append(u.guidance[:len(u.guidance):len(u.guidance)], own...)
}

// withInputs returns the step's inputs and those that the routine requires of all its steps.
// For a key that both declare, the step's declaration applies.
func (u *unit) withInputs(own []source.Input) []source.Input {
	for _, in := range u.inputs {
		own = withInput(own, in)
	}
	return own
}

// ownInputs returns the inputs of a step. A choicesFrom names the step by its id in the compiled
// workflow.
func ownInputs(u *unit, s source.PlacedStep) []source.Input {
	out := slices.Clone(s.Inputs)
	for i, in := range out {
		if in.ChoicesFrom == nil {
			continue
		}
		from := *in.ChoicesFrom
		from.Step = u.prefix + from.Step
		out[i].ChoicesFrom = &from
		if slices.ContainsFunc(u.b.everywhere, func(w source.Input) bool { return w.ContextKey == in.ContextKey }) {
			u.report.Error(s.At.Member("inputs"), "Choose another key, or remove the input of the workflow.",
				"the workflow asks for %q before its first step, so that its choices cannot come from a result", in.ContextKey)
		}
	}
	return out
}

// withInput adds an input to declared ones, unless one has its key, which is more specific.
func withInput(declared []source.Input, in source.Input) []source.Input {
	if slices.ContainsFunc(declared, func(d source.Input) bool { return d.ContextKey == in.ContextKey }) {
		return declared
	}
	return append(declared[:len(declared):len(declared)], in)
}

// condition returns the condition at a key of at in normal form, null if it is absent.
func (u *unit) condition(at problem.SourceValue, key string) canon.Value {
	if !at.Has(key) {
		return canon.Value{}
	}
	c, _ := condition.Parse(at.Member(key), u.report)
	return c.Value()
}
