package compile

import (
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// The contracts that the compiler itself asks for, beside source.LoopControlContract.
const (
	assessmentContract = "wr.contracts.assessment"
	capabilityContract = "wr.contracts.capability_observation"
)

// embed makes a contract a part of the document: a run is judged by the pack it was
// started with (locks section 9).
func (u *unit) embed(ref string, at problem.Place) {
	p, ok := contract.Builtin(ref)
	if !ok {
		u.report.Error(at, suggest(ref, contract.Refs()), "there is no contract %q", ref)
		return
	}
	u.b.contracts[ref] = p
}

// outputContract is what a step's artifact must satisfy; it is required unless the
// source says otherwise.
func (u *unit) outputContract(at problem.Place) *OutputContract {
	ref := at.Member("contractRef")
	if !at.Has("contractRef") {
		return nil
	}
	u.embed(ref.Value.Text(), ref)
	return &OutputContract{ContractRef: ref.Value.Text(), Required: !at.Has("required") ||
		at.Member("required").Value.True()}
}

// assess embeds the assessments that a step asks for, and what follows from them.
func (u *unit) assess(out *Step, s source.PlacedStep) {
	out.AssessmentRefs = s.AssessmentRefs
	for _, ref := range s.At.Member("assessmentRefs").Items() {
		u.embed(assessmentContract, ref)
		u.assessment(ref)
	}
	for _, c := range s.At.Member("assessmentConsequences").Items() {
		when := c.Member("when")
		out.Consequences = append(out.Consequences, Consequence{
			AnyEqualsLevel: when.Member("anyEqualsLevel").Value.Text(),
			ForAssessment:  when.Member("forAssessment").Value.Text(),
			Guidance:       u.text(c.Member("effect").Member("guidance").Value.Text()),
		})
	}
}

// assessment finds a definition in the unit that names it. Artifacts name it by its
// id, so that a routine's keeps its own.
func (u *unit) assessment(ref problem.Place) {
	id := ref.Value.Text()
	var known []string
	for _, at := range u.src.Root.Member("assessments").Items() {
		name := at.Member("id").Value.Text()
		if known = append(known, name); name != id {
			continue
		}
		a := contract.Assessment{ID: id, Purpose: at.Member("purpose").Value.Text()}
		for _, d := range at.Member("dimensions").Items() {
			dimension := contract.Dimension{ID: d.Member("id").Value.Text(), Purpose: d.Member("purpose").Value.Text(),
				Required: !d.Has("required") || d.Member("required").Value.True()}
			for _, l := range d.Member("levels").Items() {
				dimension.Levels = append(dimension.Levels, l.Value.Text())
			}
			a.Dimensions = append(a.Dimensions, dimension)
		}
		if err := a.Validate(); err != nil {
			u.report.Error(at, "Correct the assessment.", "%s", err)
		}
		if other, twice := u.b.assessments[id]; twice && !same(other, a) {
			u.report.Error(ref, "Rename one of the two.",
				"assessment %q is defined in two ways in the workflow and its routines", id)
		}
		u.b.assessments[id] = a
		return
	}
	u.report.Error(ref, suggest(id, known), "there is no assessment %q", id)
}
