package perform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// assessmentRef is the contract of assessment artifacts.
const assessmentRef = "wr.contracts.assessment"

// requirements are the outputs that a step requires besides notes and the
// result of its command, as far as they are not recorded. Some are asked as
// questions with choices, the others have to be files.
type requirements struct {
	probe       string                // capability to be tried out
	loop        *compile.Loop         // loop whose continuation is to be decided
	decides     bool                  // a loop decision is required
	assessments []contract.Assessment // all of the step, or none
	pack        *contract.Pack        // any other contract
	optional    bool                  // pack is not required
}

// none reports that nothing is required.
func (w requirements) none() bool {
	return w.probe == "" && !w.decides && len(w.assessments) == 0 && (w.pack == nil || w.optional)
}

// describe lists the requirements as a part of a sentence.
func (w requirements) describe() string {
	var out []string
	if w.probe != "" {
		out = append(out, fmt.Sprintf("to know whether %s works (%s)", w.probe, contract.CapabilityKind))
	}
	if w.decides {
		out = append(out, fmt.Sprintf("the decision whether to repeat the loop (%s)", contract.LoopControlKind))
	}
	for _, a := range w.assessments {
		out = append(out, fmt.Sprintf("the assessment %q (%s)", a.ID, contract.AssessmentKind))
	}
	if w.pack != nil && !w.optional {
		out = append(out, fmt.Sprintf("a result of kind %s", w.pack.ArtifactKind))
	}
	return strings.Join(out, " and ")
}

// requirements compares what the step requires with what is recorded at the
// node. Outputs that were refused do not count.
func (t *stepRun) requirements() requirements {
	var w requirements
	if len(t.step.AssessmentRefs) > 0 && t.lacks(contract.AssessmentKind, reason.OutputContract(assessmentRef)) {
		for _, ref := range t.step.AssessmentRefs {
			if a, ok := t.flow.Assessment(ref); ok {
				w.assessments = append(w.assessments, a)
			}
		}
	}
	w.decides, w.loop = t.needsDecision()
	c := t.step.OutputContract
	if c == nil || c.ContractRef == contract.LoopControlRef || c.ContractRef == assessmentRef &&
		len(t.step.AssessmentRefs) > 0 {
		return w
	}
	pack, _ := t.flow.Contract(c.ContractRef)
	switch {
	case !t.lacks(pack.ArtifactKind, reason.OutputContract(c.ContractRef), reason.OfCapability(t.step.Probe)):
	case t.step.Probe != "" && c.ContractRef == contract.CapabilityRef:
		w.probe = t.step.Probe
	default:
		w.pack, w.optional = &pack, !c.Required
	}
	return w
}

// lacks reports that the node has no artifact of the kind, or that the last
// attempt was refused at one of the pointers.
func (t *stepRun) lacks(kind string, at ...reason.Pointer) bool {
	return !t.known.kinds[kind] || slices.ContainsFunc(at, t.known.refusedAt)
}

// loop returns the loop around the step if an artifact decides about its
// continuation, else nil.
func (t *stepRun) loop() *compile.Loop {
	place, _ := t.flow.StepPlace(t.step.StepID)
	if l, ok := t.flow.Loop(place.LoopID); ok && l.Control != nil && l.Control.Kind == compile.ByArtifact {
		return &l
	}
	return nil
}

// asksDecision reports that a step requires the loop decision by its own
// contract.
func asksDecision(s compile.Step) bool {
	return s.OutputContract != nil && s.OutputContract.ContractRef == contract.LoopControlRef
}

// endsRound reports that the step is the last one of a loop body in which no
// step requires the decision. The engine requires it at this step then
// (docs/design.md#loops).
func (t *stepRun) endsRound() bool {
	l := t.loop()
	return l != nil && l.Body[len(l.Body)-1].StepID == t.step.StepID && !slices.ContainsFunc(l.Body, asksDecision)
}

// needsDecision reports whether a loop decision is required now. One that was
// refused, as in the last permitted iteration, is required again.
func (t *stepRun) needsDecision() (bool, *compile.Loop) {
	l := t.loop()
	if l != nil && t.known.refusedAt(reason.WorkflowStep(l.LoopID)) ||
		t.known.refusedAt(reason.OutputContract(contract.LoopControlRef)) {
		return true, l
	}
	return (asksDecision(t.step) || t.endsRound()) && !t.known.kinds[contract.LoopControlKind], l
}

// waitingForResult is RUN_WAITING for outputs that only a person can supply
// when none is present. Nothing is recorded.
func (t *stepRun) waitingForResult(w requirements) error {
	flags := []string{"--artifact", "FILE"}
	if t.needsNotes() {
		flags = append([]string{"--notes", "TEXT"}, flags...)
	}
	f := t.waitingFault("requires "+w.describe(),
		"Continue at a terminal with %s, or submit it with %s; without flags, that command shows the expected "+
			"form.",
		t.continueLine(), t.SubmitLine(t.report.Run, flags...))
	if w.pack != nil {
		return fault.Of(f).With("contractRef", w.pack.ContractRef).With("artifactKind", w.pack.ArtifactKind)
	}
	return f
}
