package compile

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
)

// capabilities adds the capabilities of u to those of the workflow. The disabled list of a
// routine is ignored: it must not affect the steps around the call.
func (u *unit) capabilities() {
	for _, at := range u.src.Root.Member("capabilities").Member("required").Items() {
		name := at.Value.Text()
		u.b.required[name] = true
		if slices.Contains(u.b.disabled, name) {
			u.report.Error(at, "Remove it from the workflow's disabled capabilities, or do not call the routine.",
				"capability %q is required here, but the workflow disables it", name)
		}
	}
	for _, name := range u.src.Capabilities.Preferred {
		if !slices.Contains(u.b.disabled, name) {
			u.b.preferred[name] = true
		}
	}
}

// probes returns the probe steps of the required capabilities, sorted by name, which precede
// all other steps (docs/design.md#capabilities). A capability is left out if the author calls
// its probe in the main sequence without a condition: every run reaches that call. A call
// that has a condition or is in a loop may be skipped and does not count.
func (b *builder) probes(u *unit, main []Step) []Step {
	var out []Step
	for _, name := range slices.Sorted(maps.Keys(b.required)) {
		probe, ok := builtin.Probe(name)
		certain := slices.ContainsFunc(main, func(s Step) bool { return s.Probe == name && s.RunCondition.IsZero() })
		if certain || !ok || !b.reserveStep() {
			continue
		}
		out = append(out, u.probe(probe.StepID, name, probe, u.src.Root.Member("capabilities").Member("required")))
	}
	return out
}

// probeCall compiles a call of the probe template by the author.
func (u *unit) probeCall(stepID string, call problem.SourceValue) []Step {
	args := call.Member("args")
	at := args.Member("capability")
	name := at.Value.Text()
	probe, ok := builtin.Probe(name)
	if !ok {
		u.report.Error(at, Suggest(name, builtin.Capabilities()),
			`the probe needs a capability as its argument "capability", got %s`, at.Value.JCS())
		return nil
	}
	if slices.Contains(u.b.disabled, name) {
		u.report.Error(at, "Remove the call, or the capability from the workflow's disabled ones.",
			"capability %q is probed here, but the workflow disables it", name)
	}
	for _, other := range args.Names() {
		if other != "capability" {
			u.b.warn(ArgumentUnused, stepID)
			u.report.Warn(args.Member(other), "Remove it.", "the probe has no argument %q", other)
		}
	}
	if !u.b.reserveStep() {
		return nil
	}
	return []Step{u.probe(stepID+"_"+probe.StepID, name, probe, at)}
}

// probe returns a probe step. An observation that is sent at such a step is strong evidence,
// because the step required the performer to test the capability
// (docs/design.md#capabilities).
func (u *unit) probe(id, capability string, def builtin.ProbeDef, at problem.SourceValue) Step {
	u.b.claim(id, "the probe of "+capability, at, u.report)
	u.embed(capabilityContract, at)
	return u.b.chargeSize(Step{
		StepID:              id,
		Title:               def.Title,
		Prompt:              def.Prompt,
		RequireConfirmation: Confirmation{Kind: ConfirmNever},
		Provenance:          Provenance{TemplateInjected, def.TemplateID},
		OutputContract:      &OutputContract{ContractRef: capabilityContract, Required: true},
		Probe:               capability,
	})
}
