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

// assessmentRef is the contract under which assessments are reported.
const assessmentRef = "wr.contracts.assessment"

// wants is what a step asks for beside notes and its command's result, as far as it
// is not on record. What a person can answer by choosing is asked; the rest has to
// be a file.
type wants struct {
	probe       string                // the capability that is found out about
	loop        *compile.Loop         // whose next round is to be decided
	decides     bool                  // a decision is wanted, of whichever loop
	assessments []contract.Assessment // all that the step asks for, or none
	pack        *contract.Pack        // any other contract
	optional    bool                  // pack is
}

func (w wants) nothing() bool {
	return w.probe == "" && !w.decides && len(w.assessments) == 0 && (w.pack == nil || w.optional)
}

// words name what is wanted, for a sentence.
func (w wants) words() string {
	var out []string
	if w.probe != "" {
		out = append(out, fmt.Sprintf("to know whether %s works (%s)", w.probe, contract.CapabilityKind))
	}
	if w.decides {
		out = append(out, fmt.Sprintf("the decision whether to go round again (%s)", contract.LoopControlKind))
	}
	for _, a := range w.assessments {
		out = append(out, fmt.Sprintf("the assessment %q (%s)", a.ID, contract.AssessmentKind))
	}
	if w.pack != nil && !w.optional {
		out = append(out, fmt.Sprintf("a result of kind %s", w.pack.ArtifactKind))
	}
	return strings.Join(out, " and ")
}

// wants holds what the step asks for against what lies with the node. What was
// refused does not count as there.
func (t *turn) wants() wants {
	var w wants
	if len(t.step.AssessmentRefs) > 0 && t.lacks(contract.AssessmentKind, reason.OutputContract(assessmentRef)) {
		for _, ref := range t.step.AssessmentRefs {
			if a, ok := t.flow.Assessment(ref); ok {
				w.assessments = append(w.assessments, a)
			}
		}
	}
	w.decides, w.loop = t.wantsDecision()
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

// lacks: no artifact of the kind lies with the node, or the last attempt was refused
// at one of these places.
func (t *turn) lacks(kind string, at ...reason.Pointer) bool {
	if !t.known.kinds[kind] {
		return true
	}
	for _, p := range at {
		if t.known.refusedAt(p) {
			return true
		}
	}
	return false
}

// loop is the one around the step, where an artifact decides it; else nil.
func (t *turn) loop() *compile.Loop {
	place, _ := t.flow.Place(t.step.StepID)
	if l, ok := t.flow.Loop(place.LoopID); ok && l.Control != nil && l.Control.Kind == compile.ByArtifact {
		return &l
	}
	return nil
}

func asksDecision(s compile.Step) bool {
	return s.OutputContract != nil && s.OutputContract.ContractRef == contract.LoopControlRef
}

// endsRound: the step is the last of a body that nothing before it asks for a
// decision, and so it is the one that the run will ask (R22).
func (t *turn) endsRound() bool {
	l := t.loop()
	return l != nil && l.Body[len(l.Body)-1].StepID == t.step.StepID && !slices.ContainsFunc(l.Body, asksDecision)
}

// wantsDecision: whether its loop goes round again is for the step to say. A decision
// that was refused, as at the last round that the loop allows, is asked for again.
func (t *turn) wantsDecision() (bool, *compile.Loop) {
	l := t.loop()
	if l != nil && t.known.refusedAt(reason.WorkflowStep(l.LoopID)) ||
		t.known.refusedAt(reason.OutputContract(contract.LoopControlRef)) {
		return true, l
	}
	return (asksDecision(t.step) || t.endsRound()) && !t.known.kinds[contract.LoopControlKind], l
}

// waitingForResult: nobody is here to bring what the step wants. Nothing is recorded.
func (t *turn) waitingForResult(w wants) error {
	flags := []string{"--artifact", "FILE"}
	if t.needsNotes() {
		flags = append([]string{"--notes", "TEXT"}, flags...)
	}
	f := t.waiting("wants "+w.words(),
		"Go on at a terminal with '%s', or hand it in with '%s'; without flags, that command shows what it must look "+
			"like.",
		t.goOn(), t.HandIn(t.report.Run, flags...))
	if w.pack != nil {
		return fault.Of(f).With("contractRef", w.pack.ContractRef).With("artifactKind", w.pack.ArtifactKind)
	}
	return f
}
