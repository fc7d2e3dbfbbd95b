package advance

import (
	"cmp"
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

// Artifact kinds that are recorded as events of their own, besides being outputs
// (docs/design.md#capabilities).
const (
	CapabilityKind = "wr.capability_observation"
	DivergenceKind = "wr.divergence"
)

// capabilityRef is the contract of CapabilityKind.
const capabilityRef = "wr.contracts.capability_observation"

// probeTemplate is the template from which probe steps are compiled.
const probeTemplate = "wr.templates.capability_probe"

// sideArtifacts checks the artifacts of these kinds that the attempt sent. An invalid one blocks,
// since it would be recorded as a fact and no later attempt could withdraw it. Artifacts that
// the step's own contract covers are checked there.
func (q *requirements) sideArtifacts() {
	const fix = "Correct the artifact, or leave it out."
	// All invalid artifacts are reported, so that one further attempt can correct them.
	for _, a := range q.fromAttempt(DivergenceKind) {
		if _, err := divergence(a, id.Divergence{}); err != nil {
			q.invalid(DivergenceKind, reason.OutputContract(DivergenceKind), fix,
				"The %s is not one: %v; it wants reason, summary and perhaps relatedStepId.",
				DivergenceKind, err)
		}
	}
	// The step's contract reports invalid observations itself.
	if c := q.step.OutputContract; c != nil && c.ContractRef == capabilityRef {
		return
	}
	pack := capabilityPack(q.workflow)
	for _, a := range q.fromAttempt(CapabilityKind) {
		if wrong := pack.Check(a); len(wrong) > 0 {
			q.invalid(CapabilityKind, reason.OutputContract(capabilityRef), fix, "The %s is not one: %s.",
				CapabilityKind, contract.JoinMismatches(wrong))
		}
	}
}

// capabilityPack returns the contract pack for observations: the pinned one, or the built-in
// one if no step of the workflow requires observations.
func capabilityPack(w compile.Compiled) contract.Pack {
	pack, pinned := w.Contract(capabilityRef)
	if !pinned {
		pack, _ = contract.Builtin(capabilityRef)
	}
	return pack
}

// divergence decodes a wr.divergence artifact (docs/design.md#capabilities). Its error
// becomes part of a blocker, which is stored.
func divergence(a canon.Value, of id.Divergence) (event.DivergenceRecorded, error) {
	d := event.DivergenceRecorded{DivergenceID: of, Reason: event.DivergenceReason(textOf(a, "reason")),
		RelatedStepID: textOf(a, "relatedStepId"),
		Summary:       reason.Truncate(textOf(a, "summary"), limits.SummaryBytesMax)}
	if len(d.RelatedStepID) > nameMax {
		return d, fmt.Errorf("relatedStepId has %d bytes; at most %d are allowed", len(d.RelatedStepID), nameMax)
	}
	return d, d.Check(event.Scope{})
}

// observation decodes a wr.capability_observation and derives its provenance from the step: a
// result at the capability's probe step is a probe, at another step an attempted use; a claim
// remains a claim (docs/design.md#capabilities).
func observation(step compile.Step, a canon.Value, of id.CapObs, earlier bool) event.CapabilityObserved {
	o := event.CapabilityObserved{CapObsID: of, Capability: textOf(a, "capability"), Status: "available"}
	result := textOf(a, "result")
	failed := result == "failure"
	if failed {
		o.Status = "unavailable"
	}
	switch {
	// No result: the agent only states what it believes.
	case result == "":
		o.Status = textOf(a, "claim")
		o.Provenance = event.Provenance{Kind: "manual_claim", EnforcementGrade: "weak",
			Detail: event.ProvenanceDetail{ClaimedBy: cmp.Or(textOf(a, "claimedBy"), "agent"), Claim: o.Status}}
	// The workflow's own probe, performed as the template describes.
	case step.Probe != "" && step.Probe == o.Capability:
		o.Provenance = event.Provenance{Kind: "probe_step", EnforcementGrade: "strong",
			Detail: event.ProvenanceDetail{ProbeTemplateID: probeTemplate, ProbeStepID: step.StepID, Result: result}}
	default:
		d := event.ProvenanceDetail{AttemptContext: "workflow_step", Result: result}
		if sent := textOf(a, "attemptContext"); sent != "" && !earlier {
			d.AttemptContext = sent
		}
		if failed {
			d.FailureCode = cmp.Or(textOf(a, "failureCode"), "unknown")
		}
		o.Provenance = event.Provenance{Kind: "attempted_use", EnforcementGrade: "strong", Detail: d}
	}
	return o
}

// textOf returns the text of a member, "" if it is absent or not a string.
func textOf(a canon.Value, name string) string {
	v, _ := a.Get(name)
	return v.Text()
}

// required checks the workflow's required capabilities against the known observations. A
// probe step requires its own capability; every later step requires all capabilities probed
// so far, since one can be lost during a run. Claims never satisfy a requirement
// (docs/design.md#capabilities).
func (q *requirements) required() {
	for _, capability := range q.workflow.Capabilities.Required {
		// || A probe step is not blocked by other capabilities: their probes may still
		// follow.
		if q.step.Probe != "" && q.step.Probe != capability || q.step.Probe == "" && !q.probed(capability) {
			continue
		}
		at := reason.OfCapability(capability)
		switch q.capabilities[capability] {
		// A successful strong observation satisfies the requirement.
		case "available":
		case "unavailable":
			q.lacks(reason.CapabilityAbsent, at,
				"Make it available, try it again, and send the result as "+CapabilityKind+".",
				"The workflow requires %s, and trying it failed.", capability)
		default:
			if q.step.Probe == capability && !q.claimed[capability] && !q.observesAnother(capability) {
				continue // reported by the contract
			}
			message := "The workflow requires %s, and whether it is there was never tried."
			if q.claimed[capability] {
				message = "The workflow requires %s; a claim is not enough, it has to be tried."
			}
			q.lacks(reason.CapabilityUnknown, at,
				fmt.Sprintf(`Try it and send {"kind":"%s","capability":"%s","result":"success"} or "failure".`,
					CapabilityKind, capability), message, capability)
		}
	}
}

// preferred returns what the run does without: the preferred capabilities that failed, and those that were not
// tried until the first step, or their probe, was left. They never block (docs/design.md#capabilities).
func (q *requirements) preferred() []reason.Unmet {
	var out []reason.Unmet
	if q.earlier {
		return nil
	}
	for _, capability := range q.workflow.Capabilities.Preferred {
		u := reason.Unmet{Code: reason.CapabilityAbsent, Pointer: reason.OfCapability(capability),
			Message: fmt.Sprintf("The workflow prefers %s, and trying it failed; the run continues without it.", capability)}
		switch {
		case q.capabilities[capability] == "available":
			continue
		case q.capabilities[capability] == "":
			u.Code = reason.CapabilityUnknown
			u.Message = fmt.Sprintf("The workflow prefers %s, and whether it is there was never tried; the run continues.", capability)
			if probes := q.workflow.Probes(capability); probes && q.step.Probe != capability || !probes && !q.first() {
				continue
			}
		}
		out = append(out, u)
	}
	return out
}

// first reports whether no step but probes was completed before the pending one.
func (q *requirements) first() bool {
	path, _, err := snapshot.ParseKey(q.state.PendingStep().Key())
	later := func(e snapshot.PathElement) bool { return e.Iteration > 0 }
	if err != nil || slices.ContainsFunc(path, later) || q.step.Probe != "" {
		return false
	}
	return !slices.ContainsFunc(q.state.CompletedKeys(), func(key string) bool {
		_, stepID, err := snapshot.ParseKey(key)
		step, _ := q.workflow.Step(stepID)
		return err != nil || step.Probe == ""
	})
}

// note records what the run does without, as gaps of severity info, but for those that are open at the node. A
// failure is recorded with the attempt that observed it, a missing observation when the step is left.
func (d *attempt) note(all []reason.Unmet, leaves bool) {
	for _, u := range all {
		_, observed := d.seen[u.Pointer.Capability]
		if !d.open(u.Code, u.Pointer) && (observed || leaves && u.Code == reason.CapabilityUnknown) {
			d.gap(event.Info, u, nil)
		}
	}
}

// observesAnother reports a valid observation of another capability: it satisfies the
// contract but not the probe.
func (q *requirements) observesAnother(capability string) bool {
	pack := capabilityPack(q.workflow)
	return slices.ContainsFunc(q.artifacts(CapabilityKind), func(a canon.Value) bool {
		of, _ := a.Get("capability")
		return of.Text() != capability && len(pack.Check(a)) == 0
	})
}

// probed reports whether the capability's probe step is completed or its result is known. The
// keys of steps in an ended loop are dropped, hence the second condition.
func (q *requirements) probed(capability string) bool {
	if q.capabilities[capability] != "" {
		return true
	}
	for _, key := range q.state.CompletedKeys() {
		// Keys of steps in loops contain the loop path.
		_, stepID, err := snapshot.ParseKey(key)
		if step, ok := q.workflow.Step(stepID); err == nil && ok && step.Probe == capability {
			return true
		}
	}
	return false
}
