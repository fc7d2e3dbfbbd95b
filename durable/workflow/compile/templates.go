package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/source"
)

// routineTemplate is in front of a routine's name: each routine is a template. The
// only other one is builtin.ProbeTemplate.
const routineTemplate = "wr.templates.routine."

// routineDepthMax bounds how deep routines call each other: a person has to be able
// to say where a step comes from.
const routineDepthMax = 8

// besideCall are the members that a call may have. Any other is lost, with a warning:
// existing files were written for an engine that drops them as well. demands are
// members that no such file has; losing one would be a surprise.
var (
	besideCall = []string{"hasValidation", "id", "modelTier", "notesOptional", "requireConfirmation", "runCondition",
		"templateCall", "title"}
	demands = []string{"inputs", "notesRequired"}
)

// call puts the steps of a template in the place of the step that calls it, in the
// template's order (locks section 5). Their ids are the call's, "_" and their own.
// The call's runCondition is asked again before each step of the expanded sequence
// and holds beside the step's own; its requireConfirmation is that of each, unless
// the step's own is stricter. Steps of a loop's body are under the loop's.
func (u *unit) call(s source.PlacedStep) []Step {
	at := s.At
	if !u.b.roomForCall() {
		return nil
	}
	for _, name := range at.Names() {
		const fix = "Write it into the routine, or into a step of its own."
		switch {
		case slices.Contains(demands, name):
			u.report.Error(at.Member(name), fix,
				"%q beside templateCall would be lost: the step is replaced by those of the template", name)
		case !slices.Contains(besideCall, name):
			u.report.Warn(at.Member(name), fix,
				"%q beside templateCall is lost: the step is replaced by those of the template", name)
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
	case strings.HasPrefix(id, routineTemplate):
		out = u.routine(u.prefix+s.ID, strings.TrimPrefix(id, routineTemplate), call)
	default:
		u.report.Error(template, suggest(id, u.templates()), "there is no template %q", id)
	}
	for i := range out {
		out[i].RunCondition = both(condition, out[i].RunCondition)
		out[i].RequireConfirmation = stricter(gate, out[i].RequireConfirmation)
	}
	return out
}

// templates are the known template ids.
func (u *unit) templates() []string {
	out := []string{builtin.ProbeTemplate}
	for _, id := range u.b.options.RoutineIDs {
		for _, prefix := range routinePrefixes {
			if name, ok := strings.CutPrefix(id, prefix); ok {
				out = append(out, routineTemplate+name)
				break
			}
		}
	}
	return slices.Compact(sorted(out))
}

// routinePrefixes are where a routine's name stands in its workflow id: Waybill's own
// first, so that nothing else can stand in for them.
var routinePrefixes = []string{"wr.routine-", "routine-"}

// routine compiles a routine in the place of a call.
func (u *unit) routine(stepID, name string, call problem.Place) []Step {
	template := call.Member("templateId")
	src, ok := u.findRoutine(name)
	switch {
	case !ok:
		u.report.Error(template, suggest(template.Value.Text(), u.templates()), "there is no routine %q", name)
		return nil
	case !src.Valid:
		u.report.Error(template, "Mend the file of the routine first.", "the routine %q does not validate", src.ID)
		return nil
	case slices.Contains(u.chain, src.ID):
		u.report.Error(template, "Take one of the calls out.", "the routine calls itself: %s",
			strings.Join(append(u.chain[:len(u.chain):len(u.chain)], src.ID), " → "))
		return nil
	case len(u.chain) > routineDepthMax:
		u.report.Error(template, "Call it from a step farther out.", "routines call each other more than %d deep: %s",
			routineDepthMax, strings.Join(u.chain, " → "))
		return nil
	}
	r := u.enter(src, stepID, call)
	out := r.main()
	r.unusedArgs(stepID, call.Member("args"), u)
	return out
}

func (u *unit) findRoutine(name string) (source.Source, bool) {
	if u.b.options.Routine == nil {
		return source.Source{}, false
	}
	for _, prefix := range routinePrefixes {
		if src, ok := u.b.options.Routine(prefix + name); ok {
			return src, true
		}
	}
	return source.Source{}, false
}

// enter is the unit of a routine. What the routine says of itself as a whole goes
// with its steps: the role to steps without one, the metaGuidance and the inputs to
// each. What it asks before it begins (preconditions, questions, references) is its
// caller's to say, who hands it the arguments.
func (u *unit) enter(src source.Source, stepID string, call problem.Place) *unit {
	r := &unit{
		b: u.b, src: src,
		where:      "routine " + src.ID,
		provenance: Provenance{TemplateInjected, call.Member("templateId").Value.Text()},
		prefix:     stepID + "_",
		chain:      append(u.chain[:len(u.chain):len(u.chain)], src.ID),
		args:       u.arguments(call.Member("args")),
		used:       map[string]bool{},
		inputs:     src.Inputs,
	}
	// Places in the routine are not in the author's file: the call stands for them.
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
