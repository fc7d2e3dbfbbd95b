package advance

import (
	"fmt"
	"slices"
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
func (q *requirements) contract() {
	c := q.step.OutputContract
	if c == nil {
		return
	}
	pack, _ := q.workflow.Contract(c.ContractRef) // a compiled workflow embeds every contract that it names
	if !q.earlier {
		pack = pack.For(q.step.Probe)
	}
	sent := q.artifacts(pack.ArtifactKind)
	at := reason.OutputContract(c.ContractRef)
	if len(sent) == 0 && c.Required {
		q.lacks(reason.MissingOutput, at, showExample(pack.Example),
			"Step %q needs an artifact of kind %s (%s), and none was sent.", q.step.StepID, pack.ArtifactKind,
			c.ContractRef)
	}
	for _, a := range sent {
		if wrong := pack.Check(a); len(wrong) > 0 {
			q.invalid(pack.ArtifactKind, at, showExample(pack.Example), "The %s does not satisfy %s: %s.",
				pack.ArtifactKind, c.ContractRef, contract.JoinMismatches(wrong))
			return
		}
	}
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
func (q *requirements) assessments() {
	var missing, wrong, stay []string
	var example canon.Value
	for _, ref := range q.step.AssessmentRefs {
		a, _ := q.workflow.Assessment(ref) // a compiled workflow embeds every assessment that it names
		sent, found := q.assessed(a)
		levels, mismatches := a.Check(sent)
		switch {
		case !found:
			missing, example = append(missing, ref), a.Example()
		case len(mismatches) > 0:
			wrong = append(wrong, fmt.Sprintf("assessment %q: %s", ref, contract.JoinMismatches(mismatches)))
			example = a.Example()
		default:
			stay = append(stay, q.consequences(a, levels)...)
		}
	}
	at := reason.OutputContract(assessmentRef)
	if len(missing) > 0 {
		q.lacks(reason.MissingOutput, at, showExample(example),
			"Step %q needs an artifact of kind %s for %s, and none was sent.", q.step.StepID,
			contract.AssessmentKind, strings.Join(missing, ", "))
	}
	switch {
	// Consequences are reported only for valid assessments.
	case len(wrong) > 0:
		q.invalid(contract.AssessmentKind, at, showExample(example), "%s", strings.Join(wrong, "; "))
	case len(stay) > 0:
		q.invalid(contract.AssessmentKind, at,
			"Do what the message asks for, then send the assessment again with the new levels.", "%s",
			strings.Join(stay, "; "))
	}
}

// assessed returns the latest artifact for an assessment: by its assessmentId, or without one
// if the step has a single assessment.
func (q *requirements) assessed(a contract.Assessment) (canon.Value, bool) {
	sent := q.artifacts(contract.AssessmentKind)
	slices.Reverse(sent)
	single := len(q.step.AssessmentRefs) == 1
	for _, latest := range sent {
		named, ok := latest.Get("assessmentId")
		if ok && named.Text() == a.ID || !ok && single {
			return latest, true
		}
	}
	if single && len(sent) > 0 {
		return sent[0], true // reported as a mismatch of the id
	}
	return canon.Value{}, false
}

// consequences returns a message for each dimension with a level that keeps the step pending.
func (q *requirements) consequences(a contract.Assessment, levels map[string]string) []string {
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
