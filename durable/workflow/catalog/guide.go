package catalog

import "strings"

// guidePages are the pages of docs/guide that explain a member of a workflow file.
var guidePages = map[string]string{
	"inputs": "values.md", "action": "values.md", "outputs": "values.md", "runCondition": "values.md",
	"loop": "loops.md", "body": "loops.md", "while": "loops.md", "conditions": "loops.md",
	"requireConfirmation": "approvals.md", "checks": "checks.md", "choicesFrom": "choose.md",
	"outputContract": "contracts.md", "assessments": "contracts.md", "assessmentRefs": "contracts.md",
	"assessmentConsequences": "contracts.md", "validationCriteria": "contracts.md",
	"templateCall": "routines.md", "features": "routines.md", "references": "routines.md",
	"promptBlocks": "routines.md", "promptFragments": "routines.md",
}

// GuidePage returns the path of the page of the guide that explains the place of a problem: that of the
// innermost member that has a page, else the first page, which explains a whole file.
func GuidePage(pointer string) string {
	page := "first-workflow.md"
	for member := range strings.SplitSeq(pointer, "/") {
		if of, ok := guidePages[member]; ok {
			page = of
		}
	}
	return "docs/guide/" + page
}
