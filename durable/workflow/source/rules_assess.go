package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// assessing knows the assessments of a workflow: by id, the levels that they have.
type assessing struct {
	declared []problem.Place
	levels   map[string][]string
	used     map[string]bool
}

// assessments reads those that are declared.
func assessments(root problem.Place) assessing {
	a := assessing{levels: map[string][]string{}, used: map[string]bool{}}
	for _, at := range root.Member("assessments").Items() {
		id := at.Member("id").Value.Text()
		if id == "" {
			continue
		}
		a.declared = append(a.declared, at)
		var levels []string
		for _, dimension := range at.Member("dimensions").Items() {
			for _, level := range dimension.Member("levels").Items() {
				if !slices.Contains(levels, level.Value.Text()) {
					levels = append(levels, level.Value.Text())
				}
			}
		}
		a.levels[id] = levels
	}
	return a
}

// check holds what a step says of assessments to what is declared.
func (a assessing) check(step problem.Place, report problem.Report) {
	var refs []string
	for _, at := range step.Member("assessmentRefs").Items() {
		id := at.Value.Text()
		if _, ok := a.levels[id]; !ok && id != "" {
			fix := "Declare it under assessments, or remove it."
			if near := nearest.Of(id, shape.Names(a.levels)); near != "" {
				fix = fmt.Sprintf("Did you mean %q?", near)
			}
			report.Error(at, fix, "no assessment %q is declared", id)
		}
		a.used[id] = true
		refs = append(refs, id)
	}
	consequences := step.Member("assessmentConsequences")
	if step.Has("assessmentConsequences") && !step.Has("assessmentRefs") {
		report.Error(consequences, `Add "assessmentRefs": which assessments the step asks for.`,
			"assessmentConsequences need assessmentRefs: without an assessment none can follow")
		return
	}
	for _, at := range consequences.Items() {
		a.consequence(at.Member("when"), refs, report)
	}
}

// consequence finds those that can never follow.
func (a assessing) consequence(when problem.Place, refs []string, report problem.Report) {
	only, level := when.Member("forAssessment"), when.Member("anyEqualsLevel")
	if id := only.Value.Text(); id != "" {
		if !slices.Contains(refs, id) {
			fix := "Add it to assessmentRefs, or name one of them."
			if near := nearest.Of(id, refs); near != "" {
				fix = fmt.Sprintf("Did you mean %q?", near)
			}
			report.Error(only, fix, "forAssessment %q is none of the step's assessmentRefs", id)
			return
		}
		refs = []string{id}
	}
	var known []string
	for _, id := range refs {
		levels, ok := a.levels[id]
		if !ok {
			return // said already
		}
		known = append(known, levels...)
	}
	if level.Value.Text() == "" || slices.Contains(known, level.Value.Text()) {
		return
	}
	fix := "Write one of " + strings.Join(known, ", ") + "."
	if near := nearest.Of(level.Value.Text(), known); near != "" {
		fix = fmt.Sprintf("Did you mean %q?", near)
	}
	report.Error(level, fix, "no dimension of %s has a level %q, so that this would never follow",
		strings.Join(refs, ", "), level.Value.Text())
}

// unused warns of assessments that no step asks for.
func (a assessing) unused(report problem.Report) {
	for _, at := range a.declared {
		if id := at.Member("id").Value.Text(); !a.used[id] {
			report.Warn(at, "Name it in a step's assessmentRefs, or remove it.", "no step asks for the assessment %q",
				id)
		}
	}
}
