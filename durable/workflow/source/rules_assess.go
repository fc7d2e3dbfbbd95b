package source

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// assessmentRules checks the steps' references to the assessments that the workflow
// declares. It records which assessments are used, for warnUnused at the end.
type assessmentRules struct {
	declared []problem.SourceValue // in file order
	levels   map[string][]string   // assessment id → the levels of all its dimensions
	used     map[string]bool       // assessment ids that a step refers to
}

// newAssessmentRules reads the declared assessments of a workflow.
func newAssessmentRules(root problem.SourceValue) assessmentRules {
	a := assessmentRules{levels: map[string][]string{}, used: map[string]bool{}}
	for _, at := range root.Member("assessments").Items() {
		id := at.Member("id").Value.Text()
		if id == "" {
			continue
		}
		a.declared = append(a.declared, at)
		a.levels[id] = nil
		for _, dimension := range at.Member("dimensions").Items() {
			for _, level := range dimension.Member("levels").Items() {
				if !slices.Contains(a.levels[id], level.Value.Text()) {
					a.levels[id] = append(a.levels[id], level.Value.Text())
				}
			}
		}
	}
	return a
}

// check checks that a step's assessmentRefs are declared and that its consequences can
// occur.
func (a assessmentRules) check(step problem.SourceValue, report problem.Report) {
	var refs []string
	for _, at := range step.Member("assessmentRefs").Items() {
		id := at.Value.Text()
		if _, ok := a.levels[id]; !ok && id != "" {
			report.Error(at, nearest.Suggest(id, shape.Names(a.levels), "Did you mean %q?",
				"Declare it under assessments, or remove it."), "no assessment %q is declared", id)
		}
		a.used[id] = true
		refs = append(refs, id)
	}
	consequences := step.Member("assessmentConsequences")
	if step.Has("assessmentConsequences") && !step.Has("assessmentRefs") {
		report.Error(consequences, `Add "assessmentRefs": which assessments the step asks for.`,
			"assessmentConsequences need assessmentRefs: without an assessment none can occur")
		return
	}
	for _, at := range consequences.Items() {
		a.checkTrigger(at.Member("when"), refs, report)
	}
}

// checkTrigger reports a trigger that can never match: it names an assessment that the
// step does not refer to, or a level that no dimension has.
func (a assessmentRules) checkTrigger(when problem.SourceValue, refs []string, report problem.Report) {
	only, level := when.Member("forAssessment"), when.Member("anyEqualsLevel")
	// With forAssessment only that assessment counts, else all that the step refers to.
	if id := only.Value.Text(); id != "" {
		if !slices.Contains(refs, id) {
			report.Error(only, nearest.Suggest(id, refs, "Did you mean %q?",
				"Add it to assessmentRefs, or name one that is listed there."),
				"forAssessment %q is not in the step's assessmentRefs", id)
			return
		}
		refs = []string{id}
	}
	var known []string
	for _, id := range refs {
		levels, ok := a.levels[id]
		if !ok {
			return // check reports the undeclared reference
		}
		known = append(known, levels...)
	}
	if level.Value.Text() == "" || slices.Contains(known, level.Value.Text()) {
		return
	}
	fix := nearest.Suggest(level.Value.Text(), known, "Did you mean %q?", "Write one of "+strings.Join(known, ", ")+".")
	report.Error(level, fix, "no dimension of %s has a level %q, so that this would never occur",
		strings.Join(refs, ", "), level.Value.Text())
}

// warnUnused warns of declared assessments that no step refers to. It must run after check
// has seen all steps.
func (a assessmentRules) warnUnused(report problem.Report) {
	for _, at := range a.declared {
		if id := at.Member("id").Value.Text(); !a.used[id] {
			report.Warn(at, "Name it in a step's assessmentRefs, or remove it.", "no step refers to the assessment %q",
				id)
		}
	}
}
