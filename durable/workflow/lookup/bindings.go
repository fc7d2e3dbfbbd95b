package lookup

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Bindings returns a warning for each extension point of a file that is filled with the id of a workflow
// that does not exist, and for each binding of the project for a slot that the file does not have. They
// are no errors: the id is a name for the performer, which may know it. A library that is not complete
// gives none.
func Bindings(src source.Source, with compile.Library) []problem.Problem {
	if !with.Complete {
		return nil
	}
	var found []problem.Problem
	report := problem.Report(func(p problem.Problem) { found = append(found, p) })
	project, slots := with.Bindings[src.ID], map[string]bool{}
	points := src.Root.Member("extensionPoints")
	for _, at := range points.Items() {
		slot := at.Member("slotId").Value.Text()
		slots[slot] = true
		if id := project[slot]; id != "" && !exists(id, with) {
			report.Warn(at, suggestWorkflow(id, with), "the project binds the slot %q to %q, which does not exist", slot, id)
		}
		if id := at.Member("default").Value.Text(); project[slot] == "" && id != "" && !exists(id, with) {
			report.Warn(at.Member("default"), suggestWorkflow(id, with), "the default %q of the slot %q does not exist", id, slot)
		}
	}
	// A routine that the file calls may have the other slots.
	if len(compile.ReferencesOf(src).Routines) > 0 {
		return found
	}
	for _, slot := range slices.Sorted(maps.Keys(project)) {
		if !slots[slot] {
			report.Warn(points, nearest.Suggest(slot, slices.Sorted(maps.Keys(slots)), "Did you mean %s?", "Remove the binding."),
				"the project binds the slot %q, which the workflow does not have", slot)
		}
	}
	return found
}

// exists reports whether a library has a workflow with an id, or a routine of that name.
func exists(id string, with compile.Library) bool {
	for _, group := range with.Routines {
		if _, known := group[id]; known {
			return true
		}
	}
	template := compile.RoutineTemplate(id)
	_, known := with.Routine(strings.TrimPrefix(template, compile.RoutineTemplatePrefix))
	return template != "" && known
}

// suggestWorkflow returns the correction for the id of no workflow.
func suggestWorkflow(id string, with compile.Library) string {
	known := map[string]bool{}
	for _, group := range with.Routines {
		for other := range group {
			known[other] = true
		}
	}
	return nearest.Suggest(id, slices.Sorted(maps.Keys(known)), "Did you mean %s?",
		"Write the id of a workflow that 'waybill workflows list' shows.")
}
