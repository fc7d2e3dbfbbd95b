package source

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
)

// checkRules checks the rules that involve several places of the file: members that
// contradict each other and names that do not resolve. It reads raw values, so that it
// also works on files whose shape is wrong elsewhere.
func checkRules(src Source, named namedBodies, report problem.Report) {
	checkID(src.Root, src.Kind, report)
	checkInputs(src.Root.Member("inputs"), report)
	refuseChoicesFrom(src.Root.Member("inputs"), report)
	checkCapabilities(src.Root.Member("capabilities"), report)
	checkReferences(src.Root.Member("references"), report)
	steps := src.Root.Member("steps")
	r := stepRules{src: src, report: report, ids: map[string]problem.SourceValue{}, named: named,
		assess: newAssessmentRules(src.Root)}
	r.collect(steps)
	// Files that exceed a limit get no further checks, which bounds the cost of a hostile file.
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
	r.checkSequence(named.main(src.Root), scope)
	for _, body := range named.invalid {
		report.Error(body.at, body.fix, "the body %q %s", body.name, body.why)
	}
	r.assess.warnUnused(report)
	checkConditions(src.Root, report)
	checkTokens(src.Root, report)
}

// stepRules checks all steps of a file, those in loops included.
type stepRules struct {
	src    Source
	report problem.Report
	ids    map[string]problem.SourceValue // step id → its first place, or a zero Place once suggested
	count  int                            // steps of the file, loops' bodies included
	named  namedBodies
	assess assessmentRules
	outer  []problem.SourceValue // the loops around the current step, outermost first
	before []problem.SourceValue // the steps before the current one, in its sequence and those around it
}

// collect counts the steps and records all ids before any step is checked, so that a
// suggested id is not one that a later step uses.
func (r *stepRules) collect(steps problem.SourceValue) {
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

// checkSequence checks the steps of a sequence and those nested in them.
func (r *stepRules) checkSequence(steps []problem.SourceValue, scope scopes) {
	outside := len(r.before)
	for _, at := range steps {
		r.checkStep(at, scope)
		r.before = append(r.before, at)
	}
	r.before = r.before[:outside]
}

// checkStep checks a step and the steps nested in it. scope holds the functions that are
// visible to the step. Nesting beyond limits.LoopDepthMax is reported and not descended
// into, which bounds the recursion.
func (r *stepRules) checkStep(at problem.SourceValue, scope scopes) {
	if at.Value.Kind() != canon.Object {
		return
	}
	r.checkStepID(at)
	r.checkReachability(at)
	switch stepType(at) {
	case "":
		r.checkPrompt(at)
		r.checkOutputs(at)
		r.assess.check(at, r.report)
		checkInputs(at.Member("inputs"), r.report)
		r.checkChoicesFrom(at)
		checkAction(at, r.report)
		checkChecks(at, r.report)
		r.checkResults(at)
		scope.add(functions(at, "step", r.report)).resolve(at, r.report)
	case "loop":
		r.checkLoop(at)
		inner := scope.add(functions(at, "loop", r.report))
		if len(r.outer) == limits.LoopDepthMax {
			r.report.Error(at, "Put what it repeats into one step, or split the workflow.",
				"loops can be nested at most %d deep", limits.LoopDepthMax)
			return
		}
		r.outer = append(r.outer, at)
		r.checkSequence(r.named.bodyOf(at), inner)
		r.outer = r.outer[:len(r.outer)-1]
	}
}

// stepType returns the type by which a step is checked: its own, or the one that an unknown type is
// most similar to, so that a typing error hides nothing else.
func stepType(at problem.SourceValue) string {
	own := at.Member("type").Value.Text()
	if _, known := stepShape.Cases[own]; known {
		return own
	}
	return stepShape.Nearest(own)
}

// checkStepID checks the alphabet and uniqueness of a step id. Ids become parts of keys in
// which @, / and : are delimiters (docs/design.md#snapshots), so they must not contain
// these.
func (r *stepRules) checkStepID(step problem.SourceValue) {
	at := step.Member("id")
	id := at.Value.Text()
	if id == "" {
		return
	}
	if !reason.ValidStepID(id) {
		r.report.Error(at, fmt.Sprintf("Write %q.", r.unusedID(slug(id))),
			"expected a step id of lowercase letters, digits, _ and -, got %q", id)
		return
	}
	if first := r.ids[id]; first.Pointer != step.Pointer {
		r.report.Error(at, fmt.Sprintf("Write %q.", r.unusedID(id)),
			"step id %q is already used on line %d; ids are unique in the whole file, loops included", id,
			first.Value.Line())
	}
}

// notInSlug matches runs of characters that a step id cannot contain.
var notInSlug = pattern.New(`[^a-z0-9_-]+`)

// slug returns a valid step id that resembles s; "step" if no character of s is usable.
func slug(s string) string {
	return cmp.Or(strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(s), "-"), "-"), "step")
}

// unusedID returns id, or id with the lowest number from 2 that makes it unused, such as
// "review-2". It reserves the result, so that two suggestions are never equal.
func (r *stepRules) unusedID(id string) string {
	out := id
	for n := 2; ; n++ {
		if _, taken := r.ids[out]; !taken {
			r.ids[out] = problem.SourceValue{}
			return out
		}
		out = fmt.Sprintf("%s-%d", id, n)
	}
}

// promptKeys are the members of a step that define its prompt; a step has at most one.
var promptKeys = []string{"prompt", "promptBlocks", "promptRef"}

// checkPrompt requires exactly one prompt. A command step needs none, because its argv
// describes it, and a templateCall must not have one, because the template's steps replace
// the step.
func (r *stepRules) checkPrompt(at problem.SourceValue) {
	blocks := at.Member("promptBlocks")
	var given []string
	for _, key := range promptKeys {
		if at.Has(key) {
			given = append(given, key)
		}
	}
	switch {
	case blocks.Value.Kind() == canon.Object && blocks.Value.Len() == 0:
		r.report.Error(blocks, `Add "goal": what is to be done.`,
			"promptBlocks is empty, so that nothing would be shown")
	case at.Has("templateCall"): // the template's steps replace this one
		for _, key := range append(given, "action") {
			if at.Has(key) {
				r.report.Error(at.Member(key), "Remove it, or make it a separate step.",
					"the steps of the template replace this one, so that its %s would not be shown", key)
			}
		}
	case len(given) > 1:
		for _, key := range given[1:] {
			r.report.Error(at.Member(key), "Keep one of the two.",
				"a step has a %s or %s, not both: it would not be clear what is shown", given[0], key)
		}
	case len(given) == 1, at.Has("action"), at.Has("promptFragments"):
	case slices.ContainsFunc(at.Names(), meansPrompt): // the unknown key is the problem
	default:
		r.report.Error(at, `Add "prompt": what is to be done.`,
			"a step needs a prompt, promptBlocks or an action, got none")
	}
}

// meansPrompt reports an unknown key of a step whose correction is a prompt or an action.
func meansPrompt(name string) bool {
	hint, keys := standardShape.Meant(name)
	return !slices.Contains(keys, name) && slices.ContainsFunc([]string{"prompt", "promptBlocks", "promptRef", "action"},
		func(key string) bool { return hint.Key == key || strings.Contains(hint.Fix, strconv.Quote(key)) })
}

// checkOutputs reports contradictory requirements for notes and output. It warns of audit
// and verification, for which other programs insert steps and Waybill does not.
func (r *stepRules) checkOutputs(at problem.SourceValue) {
	if at.Member("notesRequired").Value.True() && at.Member("notesOptional").Value.True() {
		r.report.Error(at.Member("notesOptional"), "Remove one of the two.",
			"notes cannot be both required and optional")
	}
	if at.Has("output") && at.Has("outputContract") {
		r.report.Error(at.Member("output"), "Keep one of the two.", "output and outputContract mean the same")
	}
	if ContractAt(at).Has("contractRef") && at.Has("validationCriteria") {
		r.report.Warn(at.Member("validationCriteria"), "Keep the contract, and remove the criteria.",
			"outputContract and validationCriteria both define the required output; the contract takes precedence")
	}
	// Accepted for compatibility with existing files.
	for _, name := range []string{"audit", "verification"} {
		if at.Has(name) {
			r.report.Warn(at.Member(name), "Add a separate step after this one if it must happen.",
				"%s is kept as a description; no step is added for it", name)
		}
	}
}
