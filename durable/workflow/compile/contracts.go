package compile

import (
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// The contracts that the compiler adds, besides source.LoopControlContract.
const (
	assessmentContract = "wr.contracts.assessment"
	capabilityContract = "wr.contracts.capability_observation"
)

// embed adds a contract pack to the document, so that a run is checked by the pack with
// which it was started (docs/design.md#authoring).
func (u *unit) embed(ref string, at problem.SourceValue) {
	p, ok := contract.Builtin(ref)
	if !ok {
		u.report.Error(at, Suggest(ref, contract.Refs()), "contract %q does not exist", ref)
		return
	}
	u.b.contracts[ref] = p
}

// outputContract returns the output contract of a step and embeds its pack; nil if the step
// has none. The artifact is required by default.
func (u *unit) outputContract(at problem.SourceValue) *OutputContract {
	ref := at.Member("contractRef")
	if !at.Has("contractRef") {
		return nil
	}
	u.embed(ref.Value.Text(), ref)
	return &OutputContract{ContractRef: ref.Value.Text(), Required: !at.Has("required") ||
		at.Member("required").Value.True()}
}

// assess sets the assessments that a step requires and their consequences, and embeds the
// definitions.
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

// assessment embeds a definition, which must be in the unit that refers to it. Artifacts
// refer to assessments by id, so the id gets no prefix in a routine, and two units must not
// define one id differently.
func (u *unit) assessment(ref problem.SourceValue) {
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
		// Equal definitions may be embedded by several steps and routines.
		if other, twice := u.b.assessments[id]; twice && !same(other, a) {
			u.report.Error(ref, "Rename one of the two.",
				"assessment %q is defined in two ways in the workflow and its routines", id)
		}
		u.b.assessments[id] = a
		return
	}
	u.report.Error(ref, Suggest(id, known), "assessment %q does not exist", id)
}
