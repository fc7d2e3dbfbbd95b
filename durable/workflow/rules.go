package workflow

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
)

// checkRules finds what no single value shows: parts that contradict each other or
// name what is not there. It reads the file as it is, so that it also serves files
// whose shape is wrong elsewhere.
func checkRules(src Source, report problem.Report) {
	checkID(src.Root, src.Kind, report)
	checkInputs(src.Root.Member("inputs"), report)
	checkCapabilities(src.Root.Member("capabilities"), report)
	steps := src.Root.Member("steps")
	r := stepRules{report: report, ids: map[string]problem.Place{}}
	r.collect(steps)
	if r.count > limits.WorkflowStepsMax {
		report.Error(steps, "Split the workflow.", "a workflow has at most %d steps, got %d", limits.WorkflowStepsMax, r.count)
		return
	}
	scope := scopes{functions(src.Root, "workflow", report)}
	r.each(steps, scope)
}

// stepRules goes over all steps of a file, those in loops included.
type stepRules struct {
	report problem.Report
	ids    map[string]problem.Place // where each id stands first
	count  int
}

// collect finds all ids first, so that a suggestion never names one that stands
// farther down.
func (r *stepRules) collect(steps problem.Place) {
	for _, at := range steps.Items() {
		r.count++
		if id := at.Member("id").Value.Text(); id != "" {
			if _, twice := r.ids[id]; !twice {
				r.ids[id] = at
			}
		}
		r.collect(at.Member("body"))
	}
}

// each checks the steps of one list, with the functions that are visible there.
func (r *stepRules) each(steps problem.Place, scope scopes) {
	for _, at := range steps.Items() {
		if at.Value.Kind() != canon.Object {
			continue
		}
		r.checkStepID(at)
		inner := scope
		switch at.Member("type").Value.Text() {
		case "":
			r.checkPrompt(at)
			r.checkOutputs(at)
			checkInputs(at.Member("inputs"), r.report)
			checkAction(at.Member("action"), r.report)
			inner.add(functions(at, "step", r.report)).resolve(at, r.report)
		case "loop":
			r.each(at.Member("body"), inner.add(functions(at, "loop", r.report)))
		}
	}
}

// checkStepID holds ids to the locks' alphabet: they become parts of keys in which
// @, / and : separate (locks section 9).
func (r *stepRules) checkStepID(step problem.Place) {
	at := step.Member("id")
	id := at.Value.Text()
	if id == "" {
		return
	}
	if !reason.ValidStepID(id) {
		r.report.Error(at, fmt.Sprintf("Write %q.", r.free(slug(id))), "expected a step id of lowercase letters, digits, _ and -, got %q", id)
		return
	}
	if first := r.ids[id]; first.Pointer != step.Pointer {
		r.report.Error(at, fmt.Sprintf("Write %q.", r.free(id)), "step id %q stands on line %d already; ids are unique in the whole file, loops included", id, first.Value.Line())
	}
}

var notInSlug = pattern.New(`[^a-z0-9_-]+`)

// slug is the step id nearest to a text.
func slug(s string) string {
	s = strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if s == "" {
		return "step"
	}
	return s
}

// free is id, with the first number behind it that makes it new if it must.
func (r *stepRules) free(id string) string {
	out := id
	for n := 2; ; n++ {
		if _, taken := r.ids[out]; !taken {
			r.ids[out] = problem.Place{} // suggested once is taken
			return out
		}
		out = fmt.Sprintf("%s-%d", id, n)
	}
}

// checkPrompt makes sure that there is exactly one thing to show. A command may
// stand without words: it says what it does.
func (r *stepRules) checkPrompt(at problem.Place) {
	blocks := at.Member("promptBlocks")
	switch {
	case blocks.Value.Kind() == canon.Object && blocks.Value.Len() == 0:
		r.report.Error(blocks, `Add "goal": what is to be done.`, "promptBlocks is empty, so that nothing would be shown")
	case at.Has("prompt") && at.Has("promptBlocks"):
		r.report.Error(blocks, "Keep one of the two.", "a step has a prompt or promptBlocks, not both: it would not be clear what is shown")
	case at.Has("prompt"), at.Has("promptBlocks"), at.Has("action"), at.Has("templateCall"), at.Has("promptFragments"):
	default:
		r.report.Error(at, `Add "prompt": what is to be done.`, "a step needs a prompt, promptBlocks or an action, got none")
	}
}

// checkOutputs finds contradictions about notes, and warns of the two keys whose
// injected steps Waybill does not add.
func (r *stepRules) checkOutputs(at problem.Place) {
	if at.Member("notesRequired").Value.True() && at.Member("notesOptional").Value.True() {
		r.report.Error(at.Member("notesOptional"), "Remove one of the two.", "notes cannot be both required and optional")
	}
	for _, name := range []string{"audit", "verification"} {
		if at.Has(name) {
			r.report.Warn(at.Member(name), "Write a step of its own behind this one if it must happen.", "%s is kept as a description; no step is added for it", name)
		}
	}
}
