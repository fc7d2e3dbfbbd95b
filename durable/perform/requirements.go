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
func (r requirements) none() bool {
	return r.probe == "" && !r.decides && len(r.assessments) == 0 && (r.pack == nil || r.optional)
}

// asks reports that a person present is asked to choose, and does not need to
// read the JSON form of the answer.
func (r requirements) asks() bool { return r.probe != "" || r.decides || len(r.assessments) > 0 }

// describe lists the requirements as a part of a sentence.
func (r requirements) describe() string {
	var out []string
	if r.probe != "" {
		out = append(out, fmt.Sprintf("to know whether %s works (%s)", r.probe, contract.CapabilityKind))
	}
	if r.decides {
		out = append(out, fmt.Sprintf("the decision whether to repeat the loop (%s)", contract.LoopControlKind))
	}
	for _, a := range r.assessments {
		out = append(out, fmt.Sprintf("the assessment %q (%s)", a.ID, contract.AssessmentKind))
	}
	if r.pack != nil && !r.optional {
		out = append(out, fmt.Sprintf("a result of kind %s", r.pack.ArtifactKind))
	}
	return strings.Join(out, " and ")
}

// requirements compares what the step requires with what is recorded at the
// node. Outputs that were refused do not count.
func (s *stepRun) requirements() requirements {
	var w requirements
	if len(s.step.AssessmentRefs) > 0 && s.known.lacks(contract.AssessmentKind, reason.OutputContract(assessmentRef)) {
		for _, ref := range s.step.AssessmentRefs {
			if a, ok := s.flow.Assessment(ref); ok {
				w.assessments = append(w.assessments, a)
			}
		}
	}
	w.decides, w.loop = s.needsDecision()
	c := s.step.OutputContract
	if c == nil || c.ContractRef == contract.LoopControlRef || c.ContractRef == assessmentRef &&
		len(s.step.AssessmentRefs) > 0 {
		return w
	}
	pack, _ := s.flow.Contract(c.ContractRef)
	switch {
	case !s.known.lacks(pack.ArtifactKind, reason.OutputContract(c.ContractRef), reason.OfCapability(s.step.Probe)):
	case s.step.Probe != "" && c.ContractRef == contract.CapabilityRef:
		w.probe = s.step.Probe
	default:
		w.pack, w.optional = &pack, !c.Required
	}
	return w
}

// loop returns the loop around the step if an artifact decides about its
// continuation, else nil.
func (s *stepRun) loop() *compile.Loop {
	place, _ := s.flow.StepPlace(s.step.StepID)
	if l, ok := s.flow.Loop(place.LoopID); ok && l.Control != nil && l.Control.Kind == compile.ByArtifact {
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
func (s *stepRun) endsRound() bool {
	l := s.loop()
	return l != nil && l.Body[len(l.Body)-1].StepID == s.step.StepID && !slices.ContainsFunc(l.Body, asksDecision)
}

// needsDecision reports whether a loop decision is required now. One that was
// refused, as in the last permitted iteration, is required again.
func (s *stepRun) needsDecision() (bool, *compile.Loop) {
	l := s.loop()
	if l != nil && s.known.refusedAt(reason.WorkflowStep(l.LoopID)) ||
		s.known.refusedAt(reason.OutputContract(contract.LoopControlRef)) {
		return true, l
	}
	return (asksDecision(s.step) || s.endsRound()) && !s.known.kinds[contract.LoopControlKind], l
}

// waitingForResult is RUN_WAITING for outputs that only a person can supply
// when none is present. Nothing is recorded.
func (s *stepRun) waitingForResult(w requirements) error {
	flags := repeatedNotes(s)
	if flags == nil && s.needsNotes() {
		flags = []string{"--notes", "TEXT"}
	}
	flags = append(flags, "--artifact", "FILE")
	f := s.waitingFault("requires "+w.describe(),
		"Continue at a terminal with %s, or submit it with %s; without flags, that command shows the expected "+
			"form.",
		retryLine(s), s.submitLine(flags...))
	if w.pack != nil {
		return fault.Of(f).With("contractRef", w.pack.ContractRef).With("artifactKind", w.pack.ArtifactKind)
	}
	return f
}
