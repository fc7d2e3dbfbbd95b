package prompt

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// requirements renders the section OUTPUT REQUIREMENTS (docs/design.md#output-requirements),
// after a rule so that it cannot be mistaken for part of the prompt. If a step has both a
// contract and criteria, only the contract is listed. Notes and criteria are limited to
// limits.RequirementsShownMax lines and a count; requirements on artifacts are never
// shortened, since they cannot be guessed. Packs and assessments bound their own lines. approval,
// where the step needs one, is the last line.
func requirements(c compile.Compiled, step compile.Step, f *filler, approval string) string {
	var words []string
	if step.NotesRequired {
		// The order is fixed: notes, criteria, contract, loop decision, assessments.
		words = append(words, "Notes are required")
	}
	if step.OutputContract == nil {
		words = append(words, step.Criteria().Requirements(f.vars)...)
	}
	var lines []string
	if more := len(words) - limits.RequirementsShownMax; more > 0 {
		lines = append(bullets(words[:limits.RequirementsShownMax]), fmt.Sprintf("…and %d more", more))
	} else {
		lines = bullets(words)
	}
	lines = append(lines, contractLines(c, step)...)
	lines = append(lines, decisionLines(c, step)...)
	lines = append(lines, assessmentLines(c, step, f)...)
	if approval != "" {
		lines = append(lines, approval)
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\n---\nOUTPUT REQUIREMENTS:\n" + strings.Join(lines, "\n")
}

// contractLines renders the requirements on the step's artifact, with an example.
func contractLines(c compile.Compiled, step compile.Step) []string {
	if step.OutputContract == nil {
		return nil
	}
	pack, _ := c.Contract(step.OutputContract.ContractRef)
	head := "An artifact is required:"
	if !step.OutputContract.Required {
		// An optional artifact still has to satisfy the contract if it is sent.
		head = "An artifact is not required; one that is sent must be:"
	}
	return group(head, pack.For(step.Probe).Requirements())
}

// preferred says of each preferred capability that is not known to be available what to do without it. The
// step that finds out about it says so itself.
func preferred(c compile.Compiled, step compile.Step, observed map[string]string) []string {
	var out []string
	for _, name := range c.Capabilities.Preferred {
		switch {
		case step.Probe == name || observed[name] == "available":
		case observed[name] == "unavailable":
			out = append(out, fmt.Sprintf("- The workflow prefers %s, and trying it failed in this run: work without it, and "+
				"say in the notes what that leaves out", name))
		default:
			out = append(out, fmt.Sprintf("- The workflow prefers %[1]s, and it was not tried in this run. If you try it, send "+
				`{"kind":"%[2]s","capability":"%[1]s","result":"success"} or "failure" as an artifact; otherwise work without it`,
				name, contract.CapabilityKind))
		}
	}
	return out
}

// decisionLines informs the last step of a loop's body which artifact decides the loop. The
// author may have requested it in another step or in none, and the run will require it here.
func decisionLines(c compile.Compiled, step compile.Step) []string {
	at, _ := c.StepPlace(step.StepID)
	loop, ok := c.Loop(at.LoopID)
	if !ok || loop.Control == nil || loop.Control.Kind != compile.ByArtifact {
		return nil
	}
	asked := step.OutputContract != nil && step.OutputContract.ContractRef == loop.Control.ContractRef
	id := loop.Control.LoopID
	switch {
	case asked && id != "":
		return []string{fmt.Sprintf("- In loop %q the loopId, where the artifact has one, is %q", loop.LoopID, id)}
	case asked || at.Index < len(loop.Body)-1:
		return nil
	}
	head := fmt.Sprintf("This step ends an iteration of loop %q: unless one was sent in it already, it needs an "+
		"artifact of %s", loop.LoopID, loop.Control.ContractRef)
	if id != "" {
		head += fmt.Sprintf(", whose loopId, where it has one, is %q", id)
	}
	pack, _ := c.Contract(loop.Control.ContractRef)
	// The contract comes from the compiled workflow, as it was when the run started.
	return group(head+":", pack.Requirements())
}

// assessmentLines renders the required assessments and the consequences of their levels, so
// that a follow-up is announced before it happens.
func assessmentLines(c compile.Compiled, step compile.Step, f *filler) []string {
	var out []string
	for _, id := range step.AssessmentRefs {
		a, _ := c.Assessment(id)
		out = append(out, group("An assessment is required:", a.Requirements())...)
	}
	for _, follows := range step.Consequences {
		of := "a dimension"
		if follows.ForAssessment != "" {
			of = "a dimension of " + follows.ForAssessment
		}
		out = append(out, fmt.Sprintf("- If %s has the level %q, the step stays pending: %s", of,
			follows.AnyEqualsLevel, f.fill(follows.Guidance)))
	}
	return out
}

// group renders a bullet with indented lines below it.
func group(head string, lines []string) []string {
	out := []string{"- " + head}
	for _, l := range lines {
		out = append(out, "  - "+l)
	}
	return out
}
