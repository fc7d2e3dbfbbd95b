// Package delegation checks how prompts ask for work to be handed to other agents. Readers mistake
// such a sentence for the order to start another workflow, or hand the tasks over one after another;
// the prompt of a step of type parallel says what is meant (docs/design.md#authoring).
//
// It is advice for authors: `waybill workflows validate` shows it, and nothing else depends on it.
package delegation

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// The sentences that are looked for. asks is a request for one or several agents, denied what is
// written before one that is none.
var (
	asks   = pattern.New(`(?i)\b(?:spawn|launch|dispatch|delegate)\b[^.\n]{0,80}?\b(?:sub-?agent|agent|executor)s?\b[^.\n]{0,80}`)
	denied = pattern.New(`(?i)(?:\bnot|\bnever|n't|\bwithout|\bno)\s+\W*$`)
	many   = pattern.New(`(?i)\b(?:two|three|four|five|six|[2-9]|\{n\}|several|simultaneously|in parallel|at once|concurrently)\b|` +
		`\b(?:sub-?agent|agent|executor)s\b`)

	namesTool  = pattern.New(`(?i)\btools?\b`)
	noWorkflow = pattern.New(`(?i)(?:\bnot|\bnever|n't)\b[^.\n]{0,60}\b(?:start_workflow|workflows?)\b|\w*start_workflow\b[^.\n]{0,40}\bnot\b`)
	oneAnswer  = pattern.New(`(?i)\b(?:one|a single|single|the same|same)\s+(?:response|answer|message|block)|\ball (?:of them )?together\b`)
)

// deniedBytes is how far before a request a denial is looked for.
const deniedBytes = 24

// texts are the members of a step that its reader gets.
var texts = []string{"prompt", "promptBlocks", "promptFragments", "guidance"}

// Check returns a warning for each step that asks for agents and leaves open how. root is a workflow
// file, valid or not.
func Check(root problem.SourceValue) []problem.Problem {
	var found []problem.Problem
	report := problem.Report(func(p problem.Problem) { found = append(found, p) })
	steps(root.Member("steps"), report, limits.LoopDepthMax)
	return found
}

// steps checks a list of steps, and those of the loops among them.
func steps(list problem.SourceValue, report problem.Report, depth int) {
	for _, at := range list.Items() {
		step(at, report)
		if depth > 0 {
			steps(at.Member("body"), report, depth-1)
		}
	}
}

// step reports what the texts of a step leave open, at the first text that asks.
func step(at problem.SourceValue, report problem.Report) {
	var all strings.Builder
	var where problem.SourceValue
	several := false
	for _, name := range texts {
		text := textOf(at.Member(name).Value)
		all.WriteString(text + "\n")
		for _, span := range asks.FindAllStringIndex(text, -1) {
			if denied.MatchString(text[max(0, span[0]-deniedBytes):span[0]]) {
				continue
			}
			if where.Pointer == "" {
				where = at.Member(name)
			}
			several = several || many.MatchString(text[span[0]:span[1]])
		}
	}
	if where.Pointer == "" {
		return
	}
	var open []string
	text := all.String()
	if !namesTool.MatchString(text) {
		open = append(open, "which tool starts them")
	}
	if !noWorkflow.MatchString(text) {
		open = append(open, "that no workflow is to be started for them")
	}
	if several && !oneAnswer.MatchString(text) {
		open = append(open, "that all are started in one answer")
	}
	if len(open) > 0 {
		report.Warn(where, `Make it a step of "type": "parallel", whose prompt says it, or write: use the tool that starts `+
			`separate agents, make all calls in one response, do not use start_workflow.`,
			"the step hands work to agents and does not say %s", strings.Join(open, ", nor "))
	}
}

// textOf joins the strings of a value.
func textOf(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	var b strings.Builder
	for i := range v.Len() {
		b.WriteString(textOf(v.Item(i)) + "\n")
	}
	return b.String()
}
