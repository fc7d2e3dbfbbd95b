package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/source"
)

// RoutineTemplatePrefix is the prefix of the template id of a routine. The only other template is
// builtin.ProbeTemplate.
const RoutineTemplatePrefix = "wr.templates.routine."

// routineDepthMax bounds the nesting of routine calls, so that a person can still trace the
// origin of a step.
const routineDepthMax = 8

// Members of a step with a templateCall.
var (
	// acceptedMembers have an effect or are ignored deliberately. Any other member is lost,
	// which is a warning: existing files were written for an engine that drops them too.
	acceptedMembers = []string{"hasValidation", "id", "modelTier", "notesOptional", "requireConfirmation",
		"runCondition", "templateCall", "title", "type"}
	// rejectedMembers are keys of Waybill, which existing files do not have; losing one
	// would weaken what the author requires, so they are an error.
	rejectedMembers = []string{"inputs", "notesRequired"}
)

// call replaces a step with a templateCall by the steps of the template, in the template's
// order (docs/design.md#compilation). Their ids are the id of the call, "_" and their own.
// The call's runCondition is evaluated before each expanded step, in addition to the step's
// own. Each step has the stricter of the call's requireConfirmation and its own. In a loop of
// the template, both apply to the loop step, not to the steps of its body.
func (u *unit) call(s source.PlacedStep) []Step {
	at := s.At
	if !u.b.reserveCall() {
		return nil
	}
	for _, name := range at.Names() {
		const fix = "Write it into the routine, or into a separate step."
		switch {
		case slices.Contains(rejectedMembers, name):
			u.report.Error(at.Member(name), fix,
				"%q next to templateCall would be lost: the step is replaced by those of the template", name)
		case !slices.Contains(acceptedMembers, name):
			u.report.Warn(at.Member(name), fix,
				"%q next to templateCall is lost: the step is replaced by those of the template", name)
		}
	}
	call := at.Member("templateCall")
	template := call.Member("templateId")
	gate := u.confirmation(u.prefix+s.ID, at.Member("requireConfirmation"))
	condition := u.condition(at, "runCondition")
	var out []Step
	switch id := template.Value.Text(); {
	case id == builtin.ProbeTemplate:
		out = u.probeCall(u.prefix+s.ID, call)
	case strings.HasPrefix(id, RoutineTemplatePrefix):
		out = u.routine(u.prefix+s.ID, strings.TrimPrefix(id, RoutineTemplatePrefix), call)
	default:
		u.report.Error(template, Suggest(id, u.b.library.Templates()), "template %q does not exist", id)
	}
	for i := range out {
		out[i].RunCondition = join("and", condition, out[i].RunCondition)
		if conflict(gate, out[i].RequireConfirmation) {
			u.report.Error(at.Member("requireConfirmation").Member("approvers"), "Name one of those, or leave the approvers out.",
				"step %q of the template is approved by %s, and by none of these", out[i].StepID,
				strings.Join(out[i].RequireConfirmation.Approvers, ", "))
		}
		if out[i].Wait != nil && gate.Kind != ConfirmNever {
			u.report.Error(at.Member("requireConfirmation"), "Put the confirmation on a step of its own before the call.",
				"the template has the step %q, which waits and cannot be confirmed", out[i].StepID)
		}
		out[i].RequireConfirmation = stricter(gate, out[i].RequireConfirmation)
	}
	return out
}

// RoutineTemplate returns the template id by which steps call a workflow as a routine, "" for a workflow
// whose id is that of no routine.
func RoutineTemplate(id string) string {
	for _, prefix := range routinePrefixes {
		if name, ok := strings.CutPrefix(id, prefix); ok && name != "" {
			return RoutineTemplatePrefix + name
		}
	}
	if name := routineName(id); name != "" && !source.Reserved(id) {
		return RoutineTemplatePrefix + name
	}
	return ""
}

// Templates returns the known template ids, sorted, for suggestions.
func (l Library) Templates() []string {
	out := []string{builtin.ProbeTemplate}
	for _, group := range l.Routines {
		for id := range group {
			if template := RoutineTemplate(id); template != "" {
				out = append(out, template)
			}
		}
	}
	return slices.Compact(sorted(out))
}

// routinePrefixes are the prefixes of a routine's workflow id, in order of precedence within one
// group of a library. After them come ids of other namespaces; see routineName.
var routinePrefixes = []string{"wr.routine-", "routine-"}

// routineName returns the name of a routine whose id is in a namespace, such as project.routine-review
// or, as ids are suggested, project.routine_review: with - for _. "" for another id.
func routineName(id string) string {
	_, name, ok := strings.Cut(id, ".")
	if name = hyphens(name); !ok || !strings.HasPrefix(name, "routine-") {
		return ""
	}
	return strings.TrimPrefix(name, "routine-")
}

// hyphens returns a name with - for _.
func hyphens(name string) string { return strings.ReplaceAll(name, "_", "-") }

// routine compiles a routine for a call. It reports an unknown or invalid routine and
// recursive calls, and returns nil for them.
func (u *unit) routine(stepID, name string, call problem.SourceValue) []Step {
	template := call.Member("templateId")
	// The routine must exist, be valid, and not call itself, directly or through others.
	src, ok := u.b.library.Routine(name)
	switch {
	case !ok:
		u.report.Error(template, Suggest(template.Value.Text(), u.b.library.Templates()), "routine %q does not exist", name)
		return nil
	case len(u.b.library.ambiguous(name)) > 1:
		u.report.Error(template, "Rename all but one.", "several routines are meant by %q: %s", name,
			strings.Join(u.b.library.ambiguous(name), ", "))
		return nil
	case !src.Valid:
		u.report.Error(template, "Fix the file of the routine first.", "the routine %q does not validate", src.ID)
		return nil
	case slices.Contains(u.chain, src.ID):
		u.report.Error(template, "Remove one of the calls.", "the routine calls itself: %s",
			strings.Join(append(u.chain[:len(u.chain):len(u.chain)], src.ID), " → "))
		return nil
	case len(u.chain) > routineDepthMax:
		u.report.Error(template, "Call it from an outer routine.", "routine calls are nested more than %d deep: %s",
			routineDepthMax, strings.Join(u.chain, " → "))
		return nil
	}
	r := u.enter(src, stepID, call)
	out := r.main()
	r.unusedArgs(stepID, call.Member("args"), u)
	return out
}

// Routine returns the routine with a name from the first group that has one.
func (l Library) Routine(name string) (source.Source, bool) {
	for _, group := range l.Routines {
		if src, ok := group.Find(name); ok {
			return src, true
		}
	}
	return source.Source{}, false
}

// ambiguous returns the ids of the routines that a name may mean, where it is found by no prefix.
func (l Library) ambiguous(name string) []string {
	for _, group := range l.Routines {
		if src, ok := group.Find(name); ok {
			if ids := group.Named(name); slices.Contains(ids, src.ID) {
				return ids
			}
			return nil
		}
	}
	return nil
}

// Find returns the routine with the name that follows wr.templates.routine. in a template id.
func (r Routines) Find(name string) (source.Source, bool) {
	for _, prefix := range routinePrefixes {
		if src, ok := r[prefix+name]; ok {
			return src, true
		}
	}
	if ids := r.Named(name); len(ids) > 0 {
		return r[ids[0]], true
	}
	return source.Source{}, false
}

// Named returns the ids of the routines with a name in namespaces but wr, sorted. More than one is
// ambiguous.
func (r Routines) Named(name string) (ids []string) {
	for id := range r {
		if !source.Reserved(id) && name != "" && routineName(id) == hyphens(name) {
			ids = append(ids, id)
		}
	}
	return sorted(ids)
}

// enter returns the unit of a routine. Workflow-wide members of the routine apply to its
// steps: the role to steps without one, the metaGuidance and the inputs to each step.
// Preconditions, clarification prompts and references of the routine are dropped; the calling
// workflow has its own.
func (u *unit) enter(src source.Source, stepID string, call problem.SourceValue) *unit {
	r := &unit{
		placeholders: placeholders{u.b, u.arguments(call.Member("args")), map[string]bool{}}, src: src,
		where:      "routine " + src.ID,
		provenance: Provenance{TemplateInjected, call.Member("templateId").Value.Text()},
		prefix:     stepID + "_",
		chain:      append(u.chain[:len(u.chain):len(u.chain)], src.ID),
		inputs:     src.Inputs,
	}
	// Places in the routine are not in the author's file, so its problems are reported at the
	// call, with the pointer into the routine in the message.
	at := call.Member("templateId")
	r.report = func(p source.Problem) {
		where := r.where
		if p.Pointer != "" {
			where += ", " + p.Pointer
		}
		u.report(source.Problem{Pointer: at.Pointer, Line: at.Value.Line(), Severity: p.Severity, Message: where +
			": " + p.Message, Fix: p.Fix})
	}
	r.open(u.features)
	r.role = r.text(src.AgentRole)
	r.guidance = r.texts(src.MetaGuidance)
	return r
}
