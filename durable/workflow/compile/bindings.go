package compile

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
)

// The sources of a binding.
const (
	fromDefault = "default"
	fromProject = "project"
)

// bindings resolves the extension points of u: the project's binding, else the default.
// Slots are shared by all units of a compilation, so that one id must have one binding.
func (u *unit) bindings() {
	project := u.b.library.Bindings[u.chain[0]] // of the workflow that is compiled
	for _, at := range u.src.Root.Member("extensionPoints").Items() {
		slot := at.Member("slotId").Value.Text()
		bound := Binding{slot, at.Member("default").Value.Text(), fromDefault}
		if id := project[slot]; id != "" {
			bound = Binding{slot, id, fromProject}
		}
		if other, twice := u.b.bindings[slot]; twice && other != bound {
			u.report.Error(at, "Bind the slot in the project, or rename one of the two.",
				"slot %q is filled with %q here and with %q elsewhere in the workflow", slot, bound.RoutineID,
				other.RoutineID)
			continue
		}
		u.b.bindings[slot] = bound
		u.checkBound(at, bound)
	}
	u.checkSlots(project)
}

// checkBound warns of a slot that is filled with the id of a workflow that does not exist. It is no error:
// the id is a name for the performer, which may know it.
func (u *unit) checkBound(at problem.SourceValue, bound Binding) {
	name := bound.RoutineID
	for _, prefix := range routinePrefixes {
		name = strings.TrimPrefix(name, prefix)
	}
	if _, known := u.b.findRoutine(name); known || !u.b.library.Complete || bound.RoutineID == "" {
		return
	}
	var ids []string
	for _, group := range u.b.library.Routines {
		if _, known := group[bound.RoutineID]; known {
			return
		}
		ids = slices.AppendSeq(ids, maps.Keys(group))
	}
	fix := nearest.Suggest(bound.RoutineID, sorted(ids), "Did you mean %s?",
		"Write the id of a workflow that 'waybill workflows list' shows.")
	if bound.Source == fromProject {
		u.report.Warn(at, fix, "the project binds the slot %q to %q, which does not exist", bound.SlotID, bound.RoutineID)
		return
	}
	u.report.Warn(at.Member("default"), fix, "the default %q of the slot %q does not exist", bound.RoutineID, bound.SlotID)
}

// checkSlots warns of bindings of the project for slots that the workflow does not have.
func (u *unit) checkSlots(project map[string]string) {
	if len(u.chain) > 1 {
		return // a routine: its caller may have the other slots
	}
	points := u.src.Root.Member("extensionPoints")
	known := map[string]bool{}
	for _, at := range points.Items() {
		known[at.Member("slotId").Value.Text()] = true
	}
	for _, slot := range slices.Sorted(maps.Keys(project)) {
		// A routine that the file calls may have the slot.
		if !known[slot] && len(ReferencesOf(u.src).Routines) == 0 {
			u.report.Warn(points, nearest.Suggest(slot, slices.Sorted(maps.Keys(known)), "Did you mean %s?", "Remove the binding."),
				"the project binds the slot %q, which the workflow does not have", slot)
		}
	}
}

// fillBindings replaces the binding tokens of a text by routine ids. A token of an unknown
// slot remains: package source accepts it only in texts that describe tokens.
func (p *placeholders) fillBindings(s string) string {
	if !strings.Contains(s, "wr.") {
		return s
	}
	return source.ReplaceBindings(s, func(slot string) (string, bool) {
		bound, ok := p.b.bindings[slot]
		return bound.RoutineID, ok && p.b.spend(len(bound.RoutineID))
	})
}
