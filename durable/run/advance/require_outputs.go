package advance

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// assessmentRef is the contract that blockers about assessments point to.
const assessmentRef = "wr.contracts.assessment"

// contract checks the step's artifacts against its contract pack. Every artifact of the kind
// must satisfy it, since it is not determined which one a reader uses.
func (q requirements) contract() []reason.Unmet {
	c := q.step.OutputContract
	if c == nil {
		return nil
	}
	pack, ok := q.workflow.Contract(c.ContractRef)
	if !ok {
		return nil // cannot happen: a compiled workflow embeds every contract that it names
	}
	sent := q.artifacts(pack.ArtifactKind)
	at := reason.OutputContract(c.ContractRef)
	if len(sent) == 0 {
		if !c.Required {
			return nil
		}
		return []reason.Unmet{{Code: reason.MissingOutput, Pointer: at,
			Message: fmt.Sprintf("Step %q needs an artifact of kind %s (%s), and none was sent.", q.step.StepID,
				pack.ArtifactKind, c.ContractRef),
			Fix: showExample(pack.Example)}}
	}
	for _, a := range sent {
		if wrong := pack.Check(a); len(wrong) > 0 {
			return []reason.Unmet{{Code: reason.InvalidOutput, Pointer: at,
				Message: fmt.Sprintf("The %s does not satisfy %s: %s.", pack.ArtifactKind, c.ContractRef,
					contract.JoinMismatches(wrong)),
				Fix: showExample(pack.Example)}}
		}
	}
	return nil
}

// showExample returns a fix with a complete example; a shortened example would be invalid.
func showExample(example canon.Value) string {
	text := "Send an artifact such as " + string(example.JCS())
	if len(text) > limits.SuggestedFixBytesMax {
		return "Send an artifact of the form that the step's prompt shows."
	}
	return text
}

// assessments requires one wr.assessment for each assessment of the step, and evaluates the
// consequences of its levels.
func (q requirements) assessments() []reason.Unmet {
	var missing, wrong, stay []string
	var example canon.Value
	for _, ref := range q.step.AssessmentRefs {
		a, ok := q.workflow.Assessment(ref)
		if !ok {
			continue
		}
		sent, found := q.assessed(a)
		if !found {
			missing = append(missing, ref)
			example = a.Example()
			continue
		}
		levels, mismatches := a.Check(sent)
		if len(mismatches) > 0 {
			wrong = append(wrong, fmt.Sprintf("assessment %q: %s", ref, contract.JoinMismatches(mismatches)))
			example = a.Example()
			continue
		}
		stay = append(stay, q.consequences(a, levels)...)
	}
	var out []reason.Unmet
	add := func(code reason.Code, message, fix string) {
		out = append(out, reason.Unmet{Code: code, Pointer: reason.OutputContract(assessmentRef), Message: message,
			Fix: fix})
	}
	if len(missing) > 0 {
		add(reason.MissingOutput, fmt.Sprintf("Step %q needs an artifact of kind %s for %s, and none was sent.",
			q.step.StepID, contract.AssessmentKind, strings.Join(missing, ", ")), showExample(example))
	}
	switch {
	// Consequences are reported only for valid assessments.
	case len(wrong) > 0:
		add(reason.InvalidOutput, strings.Join(wrong, "; "), showExample(example))
	case len(stay) > 0:
		add(reason.InvalidOutput, strings.Join(stay, "; "),
			"Do what the message asks for, then send the assessment again with the new levels.")
	}
	return out
}

// assessed returns the latest artifact for an assessment: by its assessmentId, or without one
// if the step has a single assessment.
func (q requirements) assessed(a contract.Assessment) (canon.Value, bool) {
	sent := q.artifacts(contract.AssessmentKind)
	for i := len(sent) - 1; i >= 0; i-- {
		named, ok := sent[i].Get("assessmentId")
		if ok && named.Text() == a.ID || !ok && len(q.step.AssessmentRefs) == 1 {
			return sent[i], true
		}
	}
	if len(q.step.AssessmentRefs) == 1 && len(sent) > 0 {
		return sent[len(sent)-1], true // reported as a mismatch of the id
	}
	return canon.Value{}, false
}

// consequences returns a message for each dimension with a level that keeps the step pending.
func (q requirements) consequences(a contract.Assessment, levels map[string]string) []string {
	var out []string
	// A consequence without forAssessment applies to every assessment of the step.
	for _, c := range q.step.Consequences {
		if c.ForAssessment != "" && c.ForAssessment != a.ID {
			continue
		}
		var at []string
		for _, d := range a.Dimensions {
			if levels[d.ID] == c.AnyEqualsLevel {
				at = append(at, d.ID)
			}
		}
		if len(at) > 0 {
			out = append(out, fmt.Sprintf("assessment %q has %s at %q: %s", a.ID, strings.Join(at, ", "),
				c.AnyEqualsLevel, c.Guidance))
		}
	}
	return out
}
