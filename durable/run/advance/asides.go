package advance

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// Artifact kinds that bring facts of their own, beside what a step asks for (R21).
const (
	CapabilityKind = "wr.capability_observation"
	DivergenceKind = "wr.divergence"
)

const capabilityRef = "wr.contracts.capability_observation"

// probeTemplate is what a probe step was made from.
const probeTemplate = "wr.templates.capability_probe"

// asides finds artifacts of those kinds that cannot be recorded as what they say
// they are: of those that this attempt brings, since no later one could take an
// earlier one back. A step's own contract is judged with the step.
func (q requirements) asides() []reason.Unmet {
	var out []reason.Unmet
	refuse := func(ref, format string, args ...any) {
		out = append(out, reason.Unmet{Code: reason.InvalidOutput, Pointer: reason.OutputContract(ref),
			Message: fmt.Sprintf(format, args...),
			Fix:     "Correct the artifact, or leave it out."})
	}
	for _, a := range q.brought(DivergenceKind) {
		if _, err := divergence(a, id.Divergence{}); err != nil {
			refuse(DivergenceKind, "The %s is not one: %v; it wants reason, summary and perhaps relatedStepId.",
				DivergenceKind, err)
		}
	}
	if c := q.step.OutputContract; c != nil && c.ContractRef == capabilityRef {
		return out
	}
	pack := capabilityPack(q.workflow)
	for _, a := range q.brought(CapabilityKind) {
		if wrong := pack.Check(a); len(wrong) > 0 {
			refuse(capabilityRef, "The %s is not one: %s.", CapabilityKind, contract.Words(wrong))
		}
	}
	return out
}

// capabilityPack is what observations are judged by: the pack that the run is pinned
// to, or today's where no step asks for one.
func capabilityPack(w compile.Compiled) contract.Pack {
	pack, pinned := w.Contract(capabilityRef)
	if !pinned {
		pack, _ = contract.Builtin(capabilityRef)
	}
	return pack
}

// divergence reads a wr.divergence artifact (R21), or says why it is none.
func divergence(a canon.Value, of id.Divergence) (event.DivergenceRecorded, error) {
	text := func(name string) string { v, _ := a.Get(name); return v.Text() }
	d := event.DivergenceRecorded{DivergenceID: of, Reason: event.DivergenceReason(text("reason")),
		RelatedStepID: text("relatedStepId"), Summary: reason.Truncate(text("summary"), limits.SummaryBytesMax)}
	if len(d.RelatedStepID) > nameMax {
		return d, fmt.Errorf("relatedStepId has %d bytes; at most %d are allowed", len(d.RelatedStepID), nameMax)
	}
	return d, d.Check(event.Scope{})
}

// observation reads a wr.capability_observation as what the place makes of it: a
// result at the capability's probe step is a probe, elsewhere a use that was
// tried; a claim stays a claim (locks, appendix).
func observation(step compile.Step, a canon.Value, of id.CapObs) event.CapabilityObserved {
	text := func(name string) string { v, _ := a.Get(name); return v.Text() }
	o := event.CapabilityObserved{CapObsID: of, Capability: text("capability"), Status: "available"}
	result := text("result")
	switch {
	case result == "":
		o.Status = text("claim")
		by := text("claimedBy")
		if by == "" {
			by = "agent"
		}
		o.Provenance = event.Provenance{Kind: "manual_claim", EnforcementGrade: "weak",
			Detail: event.ProvenanceDetail{ClaimedBy: by, Claim: o.Status}}
		return o
	case step.Probe != "" && step.Probe == o.Capability:
		o.Provenance = event.Provenance{Kind: "probe_step", EnforcementGrade: "strong",
			Detail: event.ProvenanceDetail{ProbeTemplateID: probeTemplate, ProbeStepID: step.StepID, Result: result}}
	default:
		d := event.ProvenanceDetail{AttemptContext: "workflow_step", Result: result}
		if result == "failure" {
			if d.FailureCode = text("failureCode"); d.FailureCode == "" {
				d.FailureCode = "unknown"
			}
		}
		o.Provenance = event.Provenance{Kind: "attempted_use", EnforcementGrade: "strong", Detail: d}
	}
	if result == "failure" {
		o.Status = "unavailable"
	}
	return o
}

// required holds what is known of the workflow's required capabilities against it.
// A probe step answers for its own; after it every step does, since a capability
// can be lost on the way. Claims never count (R21).
func (q requirements) required() []reason.Unmet {
	var out []reason.Unmet
	for _, capability := range q.workflow.Capabilities.Required {
		if q.step.Probe != "" && q.step.Probe != capability || q.step.Probe == "" && !q.probed(capability) {
			continue
		}
		at := reason.OfCapability(capability)
		switch q.capabilities[capability] {
		case "available":
		case "unavailable":
			out = append(out, reason.Unmet{Code: reason.CapabilityAbsent, Pointer: at,
				Message: fmt.Sprintf("The workflow requires %s, and trying it failed.", capability),
				Fix:     "Make it available, try it again, and send the result as " + CapabilityKind + "."})
		default:
			if q.step.Probe == capability && !q.claimed[capability] && !q.observesAnother(capability) {
				continue // a missing or wrong observation is the contract's to report
			}
			message := fmt.Sprintf("The workflow requires %s, and whether it is there was never tried.", capability)
			if q.claimed[capability] {
				message = fmt.Sprintf("The workflow requires %s; a claim is not enough, it has to be tried.",
					capability)
			}
			out = append(out, reason.Unmet{Code: reason.CapabilityUnknown, Pointer: at, Message: message,
				Fix: fmt.Sprintf(`Try it and send {"kind":"%s","capability":"%s","result":"success"} or "failure".`,
					CapabilityKind, capability)})
		}
	}
	return out
}

// observesAnother reports a sound observation that is of another capability: the
// contract takes it, and it is no answer to this probe.
func (q requirements) observesAnother(capability string) bool {
	pack := capabilityPack(q.workflow)
	return slices.ContainsFunc(q.artifacts(CapabilityKind), func(a canon.Value) bool {
		of, _ := a.Get("capability")
		return of.Text() != capability && len(pack.Check(a)) == 0
	})
}

// probed reports that the capability's probe step lies behind: it is done, or what it
// found is known. An ended loop takes the keys of its steps with it.
func (q requirements) probed(capability string) bool {
	if q.capabilities[capability] != "" {
		return true
	}
	for _, key := range q.state.CompletedKeys() {
		_, stepID, err := snapshot.ParseKey(key)
		if step, ok := q.workflow.Step(stepID); err == nil && ok && step.Probe == capability {
			return true
		}
	}
	return false
}
