package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/source"
)

// plain resolves a step that someone carries out. Conditions and criteria are
// embedded in normal form, so that spellings of one meaning have one hash. Arguments
// of a call are put into what is shown, never into a command: what runs stands in
// the routine as it was reviewed.
func (u *unit) plain(s source.PlacedStep, fns functionScopes) Step {
	out := u.head(s)
	out.Action = s.Action
	out.AgentRole = u.text(s.AgentRole)
	if out.AgentRole == "" {
		out.AgentRole = u.role
	}
	out.AskForFiles = s.AskForFiles
	out.Functions = u.functions(s.Step, fns)
	out.Guidance = u.ownGuidance(s.Guidance)
	out.Inputs = u.withInputs(s.Inputs)
	out.NotesRequired = s.NotesRequired
	u.prompt(&out, s)
	out.PromptFragments = u.fragments(s.At.Member("promptFragments"))
	out.OutputContract = u.outputContract(s.At.Member("outputContract"))
	u.assess(&out, s)
	if rules := s.At.Member("validationCriteria"); rules.Value.Len() > 0 { // an empty list asks for nothing
		c, _ := criteria.Parse(rules, func(problem.Problem) {}) // said when the file was read
		out.ValidationCriteria = c.Value()
	}
	return u.weigh(out)
}

// prompt is the text of the step, with references and features.
func (u *unit) prompt(out *Step, s source.PlacedStep) {
	if s.At.Has("promptRef") {
		u.fromTemplate(out, s.At.Member("promptRef"))
		return
	}
	if s.PromptBlocks == nil {
		out.Prompt = u.text(s.Prompt)
		if out.Prompt != "" || s.At.Has("promptFragments") {
			u.featuresBeside()
		}
		return
	}
	out.PromptBlocks, out.Injected = u.blocks(*s.PromptBlocks, s.At.Member("promptBlocks"))
	out.Injected = append(out.Injected, u.applyFeatures(out.PromptBlocks)...)
	u.checkInjected(out.Injected, s.At)
	out.Prompt = out.PromptBlocks.text()
}

// ownGuidance puts what a routine says of all its steps in front of what a step
// says: whoever takes the run up in the middle has not seen the first one.
func (u *unit) ownGuidance(own []string) []string {
	own = u.texts(own)
	if len(u.guidance) == 0 {
		return own
	}
	return append(u.guidance[:len(u.guidance):len(u.guidance)], own...)
}

// withInputs adds what a routine asks of all its steps; the step's own word counts.
func (u *unit) withInputs(own []source.Input) []source.Input {
	out, declared := own, map[string]bool{}
	for _, in := range own {
		declared[in.ContextKey] = true
	}
	for _, in := range u.inputs {
		if !declared[in.ContextKey] {
			out = append(out[:len(out):len(out)], in)
		}
	}
	return out
}

// condition is the member of at in normal form, null when there is none.
func (u *unit) condition(at problem.Place, key string) canon.Value {
	if !at.Has(key) {
		return canon.Value{}
	}
	c, _ := condition.Parse(at.Member(key), u.report)
	return c.Value()
}
