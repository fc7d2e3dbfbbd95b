package source

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkReached warns of what can never be shown or done. It says only what follows
// from the conditions alone.
func (r *stepRules) checkReached(step problem.Place) {
	never := func(at problem.Place, fix, format string, args ...any) {
		if c, ok := parsedSilently(at); ok && !c.IsZero() && c.Never() {
			r.report.Warn(at, fix, format, args...)
		}
	}
	if at := step.Member("runCondition"); step.Has("runCondition") {
		never(at, "Correct the condition, or remove the step.",
			"the condition contradicts itself, so that step %q is never run", step.Member("id").Value.Text())
	}
	for _, fragment := range step.Member("promptFragments").Items() {
		if fragment.Has("when") {
			never(fragment.Member("when"), "Correct the condition, or remove the fragment.",
				"the condition contradicts itself, so that the fragment is never shown")
		}
	}
	if at := step.Member("requireConfirmation"); at.Value.Kind() == canon.Object {
		if at.Has("kind") {
			at = at.Member("condition")
		}
		never(at, "Correct the condition.", "the condition contradicts itself, so that nobody is asked")
	}
	for _, delegation := range step.Member("parallelDelegations").Items() {
		if delegation.Has("runCondition") {
			never(delegation.Member("runCondition"), "Correct the condition, or remove the delegation.",
				"the condition contradicts itself, so that the delegation is never made")
		}
	}
}

// checkExit warns of loops that hardly end where they should: nobody is asked for
// the decision, or it hangs on context that nobody sets (R22).
func (r *stepRules) checkExit(loop problem.Place) {
	l, _ := r.src.LoopAt(loop)
	if l.Control == nil {
		return
	}
	where := loop.Member("loop").Member("conditionSource")
	switch {
	case loop.Has("while"):
		where = loop.Member("while")
	case !loop.Member("loop").Has("conditionSource"):
		where = loop.Member("loop").Member("condition")
	}
	body := bodyTexts{}
	for _, step := range r.bodyOf(loop) {
		r.gather(step, &body, limits.LoopDepthMax)
	}
	if l.Control.Kind == ByArtifact {
		if !body.decides && !body.template {
			r.report.Warn(where, fmt.Sprintf(`Add "outputContract": {"contractRef": %q} to the step that decides.`,
				LoopControlContract),
				"no step of the body asks for the decision, so that every iteration ends blocked")
		}
		return
	}
	r.checkContextExit(l, where, body)
}

// variablesMax bounds how many variables of one condition are looked for.
const variablesMax = 20

// checkContextExit is the half about context.
func (r *stepRules) checkContextExit(l Loop, where problem.Place, body bodyTexts) {
	c, ok := parsedSilently(l.Control.Condition)
	if !ok || c.IsZero() {
		return
	}
	better := `Let a step of the body decide: "conditionSource": {"kind": "artifact_contract", "contractRef": "` +
		LoopControlContract + `"}.`
	if l.Control.ConditionID != "" {
		better = fmt.Sprintf(`Let a step of the body decide: list %q with "kind": "loop_control".`,
			l.Control.ConditionID)
	}
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
			"the condition is the same in every context: the loop never goes on")
	case l.Kind == "while" && holds, l.Kind == "until" && c.Never():
		r.report.Warn(where, "Correct the condition.",
			"the condition is the same in every context: the loop never ends before maxIterations")
	case !mentioned && !body.template:
		r.report.Warn(where, "Tell a step of the body to set it. "+better,
			"nothing in the body mentions %s, on which the end of the loop depends", shownList(variables))
	case own < len(variables):
		r.report.Warn(where, better,
			"the loop ends by context (%s), which a step may forget to set; an artifact that is asked for is better",
			shownList(variables))
	}
}

// shownList names a few of many.
func shownList(all []string) string {
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:3], ", "), len(all)-3)
	}
	return strings.Join(all, ", ")
}

// bodyTexts is what a loop's body says, and whether it asks for the decision.
type bodyTexts struct {
	text     strings.Builder
	decides  bool
	template bool // what a template brings is not known here
}

// gather goes over a step of a body and what is in it.
func (r *stepRules) gather(step problem.Place, out *bodyTexts, depth int) {
	for _, contract := range []problem.Place{step.Member("outputContract"), step.Member("synthesis").
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
		for _, inner := range r.bodyOf(step) {
			r.gather(inner, out, depth-1)
		}
	}
}

// add collects the texts of a value, names of members included: outputs are named
// by them.
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

// Absolute paths, in the spelling of any system.
var absolutePath = pattern.New(`^(?:[/\\~]|[A-Za-z]:[/\\]|(?i:file:))`)

// checkReferences warns of documents that other people have elsewhere: what is not
// below the workspace or the package (locks section 9). It is no error, since a
// reference is shown and never read.
func checkReferences(list problem.Place, report problem.Report) {
	for _, at := range list.Items() {
		source := at.Member("source")
		path := strings.ReplaceAll(source.Value.Text(), `\`, "/")
		switch {
		case absolutePath.MatchString(source.Value.Text()):
			report.Warn(source, "Write the path from the root of the workspace, or of the package with resolveFrom.",
				"a reference is a path that holds for everyone, got the absolute path %s", shape.Got(source))
		case strings.Contains(path, "://"):
		default:
			depth, up := 0, false
			for name := range strings.SplitSeq(path, "/") {
				switch name {
				case "", ".":
				case "..":
					depth, up = depth-1, true
				default:
					depth++
				}
				if depth < 0 {
					report.Warn(source, "Write a path that stays below the root of the workspace or package.",
						"the reference leads out of its root, got %s", shape.Got(source))
					break
				}
			}
			if up && depth >= 0 {
				report.Warn(source, "Write the path without it.",
					"the reference goes up with .. and down again, got %s", shape.Got(source))
			}
		}
	}
}
