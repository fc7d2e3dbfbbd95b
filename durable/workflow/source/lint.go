package source

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkReachability warns of steps, fragments, confirmations and delegations whose
// condition is false in every context. It considers each condition alone, not what earlier
// steps may set, so it has no false positives.
func (r *stepRules) checkReachability(step problem.SourceValue) {
	// Absent and malformed conditions do not parse, so that nothing is reported for them.
	never := func(at problem.SourceValue, fix, format string, args ...any) {
		if c, ok := parseSilently(at); ok && !c.IsZero() && c.Never() {
			r.report.Warn(at, fix, format, args...)
		}
	}
	never(step.Member("runCondition"), "Correct the condition, or remove the step.",
		"the condition contradicts itself, so that step %q is never run", step.Member("id").Value.Text())
	for _, fragment := range step.Member("promptFragments").Items() {
		never(fragment.Member("when"), "Correct the condition, or remove the fragment.",
			"the condition contradicts itself, so that the fragment is never shown")
	}
	confirmation := step.Member("requireConfirmation")
	if confirmation.Has("kind") {
		confirmation = confirmation.Member("condition")
	}
	never(confirmation, "Correct the condition.",
		"the condition contradicts itself, so that no confirmation is requested")
	for _, delegation := range step.Member("parallelDelegations").Items() {
		never(delegation.Member("runCondition"), "Correct the condition, or remove the delegation.",
			"the condition contradicts itself, so that the delegation is never made")
	}
}

// checkExit warns of while and until loops that are unlikely to end as intended: no step
// of the body requires the artifact that decides, or the condition depends on context that
// the body never mentions (docs/design.md#loops).
func (r *stepRules) checkExit(loop problem.SourceValue) {
	l, _ := r.src.LoopAt(loop)
	if l.Control == nil {
		return
	}
	// Report at the member that defines the control.
	where := loop.Member("loop").Member("conditionSource")
	switch {
	case loop.Has("while"):
		where = loop.Member("while")
	case !loop.Member("loop").Has("conditionSource"):
		where = loop.Member("loop").Member("condition")
	}
	body := bodyTexts{}
	for _, step := range r.named.bodyOf(loop) {
		r.collectTexts(step, &body, limits.LoopDepthMax)
	}
	if l.Control.Kind == ByArtifact {
		if !body.decides && !body.template {
			r.report.Warn(where, fmt.Sprintf(`Add "outputContract": {"contractRef": %q} to the step that decides.`,
				LoopControlContract),
				"no step of the body requires the deciding artifact, so that every iteration ends blocked")
		}
		return
	}
	r.checkContextExit(l, where, body)
}

// variablesMax bounds how many variables of one condition are searched for in the body's
// texts. Above it the loop counts as mentioned, so that no warning is made up.
const variablesMax = 20

// checkContextExit warns of a loop that is controlled by a condition over the context:
// a condition that is constant, one whose variables the body never mentions, or one that
// depends on a step setting context, for which an artifact is more reliable.
func (r *stepRules) checkContextExit(l Loop, where problem.SourceValue, body bodyTexts) {
	c, ok := parseSilently(l.Control.Condition)
	if !ok || c.IsZero() {
		return
	}
	better := `Let a step of the body decide: "conditionSource": {"kind": "artifact_contract", "contractRef": "` +
		LoopControlContract + `"}.`
	if l.Control.ConditionID != "" {
		better = fmt.Sprintf(`Let a step of the body decide: list %q with "kind": "loop_control".`,
			l.Control.ConditionID)
	}
	// mentioned: a text contains the first name of a variable's path, or the loop sets it.
	// own counts the variables that the loop sets itself.
	variables := c.Variables()
	mentioned, own := len(variables) > variablesMax, 0
	for _, path := range variables[:min(len(variables), variablesMax)] {
		first, _, _ := strings.Cut(path, ".")
		mentioned = mentioned || strings.Contains(body.text.String(), first)
		for _, v := range l.variables() {
			if v.name == first { // the engine sets it
				mentioned, own = true, own+1
			}
		}
	}
	switch holds := c.Always(); {
	case l.Kind == "while" && c.Never(), l.Kind == "until" && holds:
		r.report.Warn(where, "Correct the condition.",
			"the condition is the same in every context: the loop never starts another iteration")
	case l.Kind == "while" && holds, l.Kind == "until" && c.Never():
		r.report.Warn(where, "Correct the condition.",
			"the condition is the same in every context: the loop never ends before maxIterations")
	case !mentioned && !body.template:
		r.report.Warn(where, "Make a step of the body set it. "+better,
			"nothing in the body mentions %s, on which the end of the loop depends", abbreviated(variables))
	case own < len(variables):
		r.report.Warn(where, better,
			"the loop ends by context (%s), which a step may forget to set; a required artifact is more reliable",
			abbreviated(variables))
	}
}

// abbreviated joins the first three names and counts the others.
func abbreviated(all []string) string {
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:3], ", "), len(all)-3)
	}
	return strings.Join(all, ", ")
}

// bodyTexts holds all texts of a loop's body, to search for variable names.
type bodyTexts struct {
	text     strings.Builder
	decides  bool // a step requires an artifact of LoopControlContract
	template bool // the body uses a template, whose texts are not known here
}

// collectTexts adds the texts of a step and of the bodies nested in it. runCondition is
// skipped: reading a variable there does not set it. depth bounds the recursion.
func (r *stepRules) collectTexts(step problem.SourceValue, out *bodyTexts, depth int) {
	for _, contract := range []problem.SourceValue{ContractAt(step), step.Member("synthesis").
		Member("outputContract")} {
		out.decides = out.decides || contract.Member("contractRef").Value.Text() == LoopControlContract
	}
	out.template = out.template || step.Has("templateCall") || step.Has("promptRef")
	for _, name := range step.Names() {
		if name != "body" && name != "runCondition" {
			out.add(step.Member(name).Value)
		}
	}
	if step.Member("type").Value.Text() == "loop" && depth > 0 {
		for _, inner := range r.named.bodyOf(step) {
			r.collectTexts(inner, out, depth-1)
		}
	}
}

// add appends all strings of a value, member names included: the members of
// outputRequired name outputs.
func (b *bodyTexts) add(v canon.Value) {
	b.text.WriteString(v.Text())
	b.text.WriteByte('\n')
	for i := range v.Len() {
		if v.Kind() == canon.Object {
			b.text.WriteString(v.Key(i))
			b.text.WriteByte('\n')
		}
		b.add(v.Item(i))
	}
}

// absolutePath matches absolute paths of Unix and Windows, home directories and file URLs.
var absolutePath = pattern.New(`^(?:[/\\~]|[A-Za-z]:[/\\]|(?i:file:))`)

// checkReferences warns of documents outside the workspace or the package, which other
// machines may not have at the same path (docs/design.md#authoring). It is not an error,
// since references are shown and never read.
func checkReferences(list problem.SourceValue, report problem.Report) {
	for _, at := range list.Items() {
		source := at.Member("source")
		location := strings.ReplaceAll(source.Value.Text(), `\`, "/")
		switch {
		case absolutePath.MatchString(source.Value.Text()):
			report.Warn(source, "Write the path from the root of the workspace, or of the package with resolveFrom.",
				"a reference must be valid on every machine, got the absolute path %s", shape.Got(source))
		case strings.Contains(location, "://"): // an address
		case strings.HasPrefix(path.Clean(location)+"/", "../"):
			report.Warn(source, "Write a path that stays below the root of the workspace or package.",
				"the reference leads out of its root, got %s", shape.Got(source))
		case slices.Contains(strings.Split(location, "/"), ".."):
			report.Warn(source, "Write the path without it.",
				"the reference goes up with .. and down again, got %s", shape.Got(source))
		}
	}
}
