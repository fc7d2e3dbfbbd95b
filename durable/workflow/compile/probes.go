package compile

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
)

// capabilities adds what u wants to what the workflow wants. What a routine would do
// without says nothing about the steps around it, so that it stays out.
func (u *unit) capabilities() {
	if u.prefix == "" {
		for _, name := range u.src.Capabilities.Disabled {
			u.b.disabled[name] = true
		}
	}
	for _, at := range u.src.Root.Member("capabilities").Member("required").Items() {
		name := at.Value.Text()
		u.b.required[name] = true
		if u.b.disabled[name] {
			u.report.Error(at, "Take it out of the workflow's disabled capabilities, or do not call the routine.",
				"capability %q is required here, and the workflow disables it", name)
		}
	}
	for _, name := range u.src.Capabilities.Preferred {
		if !u.b.disabled[name] {
			u.b.preferred[name] = true
		}
	}
}

// probes are the steps in front of everything else that find out about what the
// workflow cannot do without, in the order of the names (R21). Where the author
// calls the probe so that no run goes past it, it stands where the author wants it; a
// call that a condition or a loop may pass over finds nothing out for certain.
func (b *builder) probes(u *unit, main []Step) []Step {
	var out []Step
	for _, name := range slices.Sorted(maps.Keys(b.required)) {
		probe, ok := builtin.Probe(name)
		certain := slices.ContainsFunc(main, func(s Step) bool { return s.Probe == name && s.RunCondition.IsZero() })
		if certain || !ok || !b.roomForStep() {
			continue
		}
		out = append(out, u.probe(probe.StepID, name, probe, u.src.Root.Member("capabilities").Member("required")))
	}
	return out
}

// probeCall is the probe where an author calls it.
func (u *unit) probeCall(stepID string, call problem.Place) []Step {
	args := call.Member("args")
	at := args.Member("capability")
	name := at.Value.Text()
	probe, ok := builtin.Probe(name)
	if !ok {
		u.report.Error(at, suggest(name, builtin.Capabilities()),
			`the probe asks about a capability, got %s for "capability"`, at.Value.JCS())
		return nil
	}
	for _, other := range args.Names() {
		if other != "capability" {
			u.b.warn(ArgumentUnused, stepID)
			u.report.Warn(args.Member(other), "Remove it.", "the probe has no argument %q", other)
		}
	}
	if !u.b.roomForStep() {
		return nil
	}
	return []Step{u.probe(stepID+"_"+probe.StepID, name, probe, at)}
}

// probe asks for an observation with strong provenance: the step itself is the proof
// that somebody tried (locks, appendix on capability provenance).
func (u *unit) probe(id, capability string, def builtin.ProbeDef, at problem.Place) Step {
	u.b.claim(id, "the probe of "+capability, at, u.report)
	u.embed(capabilityContract, at)
	return u.weigh(Step{
		StepID:              id,
		Title:               def.Title,
		Prompt:              def.Prompt,
		RequireConfirmation: Confirmation{Kind: ConfirmNever},
		Provenance:          Provenance{TemplateInjected, def.TemplateID},
		OutputContract:      &OutputContract{ContractRef: capabilityContract, Required: true},
		Probe:               capability,
	})
}
