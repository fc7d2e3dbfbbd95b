package compile

import (
	"strings"

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
