package compile

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/source"
)

// References are what a workflow file refers to outside of itself.
type References struct {
	// Routines are the names that follow wr.templates.routine. in the file's template calls.
	Routines []string
	// Bound reports that the file has extension points, whose defaults name workflows.
	Bound bool
	// Prompts reports that a step takes its prompt from an installed template.
	Prompts bool
}

// ReferencesOf returns the references of a file, valid or not, so that a caller opens no other file
// for a workflow without any. A reference in a part of the file that is not read counts too.
func ReferencesOf(src source.Source) References {
	var out References
	seen := map[string]bool{}
	var visit func(canon.Value)
	visit = func(v canon.Value) {
		call, _ := v.Get("templateCall")
		id, _ := call.Get("templateId")
		if name, ok := strings.CutPrefix(id.Text(), RoutineTemplatePrefix); ok && !seen[name] {
			seen[name] = true
			out.Routines = append(out.Routines, name)
		}
		_, prompt := v.Get("promptRef")
		out.Prompts = out.Prompts || prompt
		for i := range v.Len() {
			visit(v.Item(i))
		}
	}
	visit(src.Root.Value)
	out.Bound = len(src.Root.Member("extensionPoints").Items()) > 0
	return out
}
