package compile

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow"
)

// What the format offers and this version does not carry out. Each would change
// what a run does, so each is refused where it stands.
var (
	workflowKeysLater = []string{"assessments", "extensionPoints", "features"}
	stepKeysLater     = []string{"assessmentConsequences", "assessmentRefs", "outputContract", "promptFragments", "templateCall"}
)

// compileToken is reserved: no context key of a run may fill it.
var compileToken = pattern.New(`\{\{ *wr\.`)

const laterFix = "Leave it out, or run the workflow with a version that has it."

// refuseUnsupported works on the file as it was read, so that it also completes the
// list of problems of a file that does not validate.
func refuseUnsupported(src workflow.Source, report problem.Report) {
	for _, key := range workflowKeysLater {
		refuseKey(src.Root, key, report)
	}
	refuseKey(src.Root.Member("capabilities"), "required", report)
	refuseSteps(src.Root.Member("steps"), report)
	refuseTokens(src.Root, report)
}

// refuseKey refuses a key that asks for something.
func refuseKey(at problem.Place, key string, report problem.Report) {
	// An empty list asks for nothing.
	if member := at.Member(key); at.Has(key) && (member.Value.Kind() != canon.Array || member.Value.Len() > 0) {
		path := strings.ReplaceAll(strings.TrimPrefix(member.Pointer, "/"), "/", ".")
		if strings.HasPrefix(path, "steps.") {
			path = key
		}
		report.Error(member, laterFix, "%q is not supported by this version yet", path)
	}
}

// refuseSteps looks into loops as well: their steps are part of the list of what
// has to be changed.
func refuseSteps(steps problem.Place, report problem.Report) {
	for _, at := range steps.Items() {
		switch kind := at.Member("type"); kind.Value.Text() {
		case "loop", "parallel":
			report.Error(kind, laterFix, "a step of type %q is not supported by this version yet", kind.Value.Text())
			refuseSteps(at.Member("body"), report)
		}
		for _, key := range stepKeysLater {
			refuseKey(at, key, report)
		}
	}
}

// refuseTokens finds, in any text, what an author expects to be replaced when the
// workflow is compiled: references of prompt blocks, and {{wr.…}}.
func refuseTokens(at problem.Place, report problem.Report) {
	switch at.Value.Kind() {
	case canon.String:
		if compileToken.MatchString(at.Value.Text()) {
			report.Error(at, laterFix, "{{wr.…}} is replaced at compile time, which is not supported by this version yet")
		}
	case canon.Array:
		for _, item := range at.Items() {
			refuseTokens(item, report)
		}
	case canon.Object:
		if at.Member("kind").Value.Text() == "ref" && at.Has("refId") {
			report.Error(at.Member("refId"), laterFix, "a reference in a prompt is not supported by this version yet")
			return
		}
		for _, name := range at.Names() {
			refuseTokens(at.Member(name), report)
		}
	}
}
