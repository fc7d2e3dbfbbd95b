package advance

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// assessmentRef is the contract under which assessments are reported.
const assessmentRef = "wr.contracts.assessment"

// contract holds the step's artifact against its contract pack. Every artifact of
// the kind has to fit: nobody could tell which one counts otherwise.
func (q requirements) contract() []reason.Unmet {
	c := q.step.OutputContract
	if c == nil {
		return nil
	}
	pack, ok := q.workflow.Contract(c.ContractRef)
	if !ok {
		return nil // the pinned document embeds every contract that it names
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
					contract.Words(wrong)),
				Fix: showExample(pack.Example)}}
		}
	}
	return nil
}

// showExample is a valid artifact to send, whole: a part of one would mislead.
func showExample(example canon.Value) string {
	text := "Send an artifact such as " + string(example.JCS())
	if len(text) > limits.SuggestedFixBytesMax {
		return "Send an artifact of the form that the step's prompt shows."
	}
	return text
}

// assessments asks for one wr.assessment for each assessment that the step refers
// to, and follows its consequences.
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
			wrong = append(wrong, fmt.Sprintf("assessment %q: %s", ref, contract.Words(mismatches)))
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
	case len(wrong) > 0:
		add(reason.InvalidOutput, strings.Join(wrong, "; "), showExample(example))
	case len(stay) > 0:
		add(reason.InvalidOutput, strings.Join(stay, "; "),
			"Do what the message asks for, then send the assessment again with the new levels.")
	}
	return out
}

// assessed finds the artifact for an assessment: by its assessmentId, or without
// one where the step asks for a single assessment. The latest counts.
func (q requirements) assessed(a contract.Assessment) (canon.Value, bool) {
	sent := q.artifacts(contract.AssessmentKind)
	for i := len(sent) - 1; i >= 0; i-- {
		named, ok := sent[i].Get("assessmentId")
		if ok && named.Text() == a.ID || !ok && len(q.step.AssessmentRefs) == 1 {
			return sent[i], true
		}
	}
	if len(q.step.AssessmentRefs) == 1 && len(sent) > 0 {
		return sent[len(sent)-1], true // of another id: its mismatch says so
	}
	return canon.Value{}, false
}

// consequences keep the step pending while a dimension has the level that they name.
func (q requirements) consequences(a contract.Assessment, levels map[string]string) []string {
	var out []string
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
