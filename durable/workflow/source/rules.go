package source

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
	checkReferences(src.Root.Member("references"), report)
	steps := src.Root.Member("steps")
	r := stepRules{src: src, report: report, ids: map[string]problem.Place{}, taken: bodies(src.Root),
		assess: assessments(src.Root)}
	r.collect(steps)
	if r.count > limits.WorkflowStepsMax {
		report.Error(steps, "Split the workflow.", "a workflow has at most %d steps, got %d", limits.WorkflowStepsMax,
			r.count)
		return
	}
	if conditions := src.Root.Member("conditions"); len(conditions.Items()) > limits.ConditionsMax {
		report.Error(conditions, "Keep those that loops refer to.", "a workflow has at most %d conditions, got %d",
			limits.ConditionsMax, len(conditions.Items()))
		return
	}
	scope := scopes{functions(src.Root, "workflow", report)}
	for _, at := range steps.Items() {
		if _, taken := r.taken.byStep[at.Pointer]; !taken {
			r.one(at, scope)
		}
	}
	for _, no := range r.taken.refused {
		report.Error(no.at, no.fix, "the body %q %s", no.name, no.why)
	}
	r.assess.unused(report)
	checkConditions(src.Root, report)
	checkTokens(src.Root, report)
}

// stepRules goes over all steps of a file, those in loops included.
type stepRules struct {
	src    Source
	report problem.Report
	ids    map[string]problem.Place // where each id stands first
	count  int
	taken  taking
	assess assessing
	outer  []problem.Place // the loops around, outermost first
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

// one checks a step, and the steps in it, with the functions that are visible there.
func (r *stepRules) one(at problem.Place, scope scopes) {
	if at.Value.Kind() != canon.Object {
		return
	}
	r.checkStepID(at)
	r.checkReached(at)
	switch at.Member("type").Value.Text() {
	case "":
		r.checkPrompt(at)
		r.checkOutputs(at)
		r.assess.check(at, r.report)
		checkInputs(at.Member("inputs"), r.report)
		checkAction(at.Member("action"), r.report)
		scope.add(functions(at, "step", r.report)).resolve(at, r.report)
	case "loop":
		r.checkLoop(at)
		inner := scope.add(functions(at, "loop", r.report))
		if len(r.outer) == limits.LoopDepthMax {
			r.report.Error(at, "Put what it repeats into one step, or split the workflow.",
				"loops stand in each other at most %d deep", limits.LoopDepthMax)
			return
		}
		r.outer = append(r.outer, at)
		for _, step := range r.bodyOf(at) {
			r.one(step, inner)
		}
		r.outer = r.outer[:len(r.outer)-1]
	}
}

// bodyOf is what a loop repeats: its list, or the step that it has taken.
func (r *stepRules) bodyOf(loop problem.Place) []problem.Place {
	body := loop.Member("body")
	if body.Value.Kind() != canon.String {
		return body.Items()
	}
	if target, ok := r.ids[body.Value.Text()]; ok && r.taken.byStep[target.Pointer].Pointer == loop.Pointer {
		return []problem.Place{target}
	}
	return nil
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
		r.report.Error(at, fmt.Sprintf("Write %q.", r.free(slug(id))),
			"expected a step id of lowercase letters, digits, _ and -, got %q", id)
		return
	}
	if first := r.ids[id]; first.Pointer != step.Pointer {
		r.report.Error(at, fmt.Sprintf("Write %q.", r.free(id)),
			"step id %q stands on line %d already; ids are unique in the whole file, loops included", id,
			first.Value.Line())
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

// prompts are the members of a step that are shown as its prompt.
var prompts = []string{"prompt", "promptBlocks", "promptRef"}

// checkPrompt makes sure that there is exactly one thing to show. A command may
// stand without words: it says what it does.
func (r *stepRules) checkPrompt(at problem.Place) {
	blocks := at.Member("promptBlocks")
	var given []string
	for _, key := range prompts {
		if at.Has(key) {
			given = append(given, key)
		}
	}
	switch {
	case blocks.Value.Kind() == canon.Object && blocks.Value.Len() == 0:
		r.report.Error(blocks, `Add "goal": what is to be done.`,
			"promptBlocks is empty, so that nothing would be shown")
	case at.Has("templateCall"):
		for _, key := range append(given, "action") {
			if at.Has(key) {
				r.report.Error(at.Member(key), "Remove it, or make it a step of its own.",
					"the steps of the template stand in place of this one, so that its %s would not be shown", key)
			}
		}
	case len(given) > 1:
		for _, key := range given[1:] {
			r.report.Error(at.Member(key), "Keep one of the two.",
				"a step has a %s or %s, not both: it would not be clear what is shown", given[0], key)
		}
	case len(given) == 1, at.Has("action"), at.Has("promptFragments"):
	default:
		r.report.Error(at, `Add "prompt": what is to be done.`,
			"a step needs a prompt, promptBlocks or an action, got none")
	}
}

// checkOutputs finds contradictions about notes and output, and warns of the two
// keys whose injected steps Waybill does not add.
func (r *stepRules) checkOutputs(at problem.Place) {
	if at.Member("notesRequired").Value.True() && at.Member("notesOptional").Value.True() {
		r.report.Error(at.Member("notesOptional"), "Remove one of the two.",
			"notes cannot be both required and optional")
	}
	if at.Has("outputContract") && at.Has("validationCriteria") {
		r.report.Warn(at.Member("validationCriteria"), "Keep the contract, and remove the criteria.",
			"outputContract and validationCriteria both say what must come out; the contract takes precedence")
	}
	for _, name := range []string{"audit", "verification"} {
		if at.Has(name) {
			r.report.Warn(at.Member(name), "Write a step of its own behind this one if it must happen.",
				"%s is kept as a description; no step is added for it", name)
		}
	}
}
