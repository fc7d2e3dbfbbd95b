package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/source"
)

// The instructions for delegating work: which tool to use, to start all tasks at once, and
// what not to do instead (docs/design.md#authoring). The texts are part of workflow hashes
// and must not change. delegateMany has the number of tasks as its argument.
const (
	delegateMany = "Hand the %d tasks below to separate agents, each to one of its own. Start all of them together, " +
		"in one answer: one after another loses what this step is for. " +
		"Use the tool that starts separate agents. Do not start workflows for them: a workflow is a run of its own, " +
		"and its result would not come back here. " +
		"Give each agent its whole task as it stands, since it sees nothing of this conversation.\n\n" +
		"If you cannot start separate agents, carry the tasks out yourself, each by itself and in this order, before " +
		"you put the results together."
	delegateOne = "Hand the task below to a separate agent. Use the tool that starts separate agents. Do not start a " +
		"workflow for it: a workflow is a run of its own, and its result would not come back here. " +
		"Give the agent its whole task as it stands, since it sees nothing of this conversation.\n\n" +
		"If you cannot start a separate agent, carry it out yourself."
	// carryOut is for a workflow that disables delegation.
	carryOut       = "Carry out each task below yourself, each by itself and in this order."
	combineResults = "When all results are there, put them together: name what they agree on, decide where they " +
		"differ, and say which result each finding comes from."
)

// parallel compiles a parallel step: all tasks become one prompt (docs/design.md#loops). The
// output contract of the synthesis becomes that of the step.
func (u *unit) parallel(s source.PlacedStep) Step {
	out := u.head(s)
	out.Type = ParallelStep
	out.AgentRole = u.role
	out.Guidance = u.ownGuidance(nil)
	out.Inputs = u.withInputs(nil)
	out.Prompt = u.delegations(s.At)
	out.OutputContract = u.outputContract(s.At.Member("synthesis").Member("outputContract"))
	u.featuresInPreamble()
	return u.b.chargeSize(out)
}

// delegations renders the prompt: the instruction, the tasks, and the synthesis.
func (u *unit) delegations(at problem.SourceValue) string {
	tasks := at.Member("parallelDelegations").Items()
	instruction := delegateOne
	switch {
	case slices.Contains(u.b.disabled, builtin.Delegation):
		instruction = carryOut
	case len(tasks) > 1:
		instruction = fmt.Sprintf(delegateMany, len(tasks))
	}
	parts := []string{instruction}
	for i, task := range tasks {
		parts = append(parts, u.delegation(i+1, task))
	}
	if own := at.Member("synthesis").Member("prompt").Value.Text(); own != "" {
		parts = append(parts, "## Afterwards\n\n"+u.text(own))
	} else if len(tasks) > 1 {
		parts = append(parts, "## Afterwards\n\n"+combineResults)
	}
	return strings.Join(parts, "\n\n")
}

// delegation renders task number n. A runCondition is rendered as text: the performer
// evaluates it, not the engine.
func (u *unit) delegation(n int, at problem.SourceValue) string {
	lines := []string{fmt.Sprintf("## Task %d: %s", n, u.text(at.Member("workflowId").Value.Text())), ""}
	if goal := at.Member("goal").Value.Text(); goal != "" {
		lines = append(lines, u.text(goal), "")
	}
	if c := u.condition(at, "runCondition"); !c.IsNull() {
		lines = append(lines, "- only when this holds over the context: "+string(c.JCS()))
	}
	args := at.Member("args")
	for _, name := range args.Names() {
		lines = append(lines, fmt.Sprintf("- %s: %s", name, u.text(args.Member(name).Value.Text())))
	}
	mapping := at.Member("contextMapping")
	for _, from := range mapping.Names() {
		lines = append(lines, fmt.Sprintf("- hand over the context key %s as %s", from,
			u.text(mapping.Member(from).Value.Text())))
	}
	if tools := at.Member("allowedTools").Items(); len(tools) > 0 {
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Value.Text()
		}
		lines = append(lines, "- with these tools only: "+strings.Join(names, ", "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
