package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/workflow"
)

// expandFunctions resolves what a step names, nearest scope first and by name
// within a scope, each once (locks section 5, function definitions). That every
// name resolves was checked with the source.
func expandFunctions(shared []workflow.Function, s workflow.Step) []Function {
	named := map[string]bool{}
	for _, ref := range s.FunctionReferences {
		named[strings.TrimSuffix(ref, "()")] = true
	}
	for _, call := range s.FunctionCalls {
		named[call.Name] = true
	}
	var out []Function
	take := func(defined []workflow.Function, scope Scope) {
		byName := slices.SortedFunc(slices.Values(defined), func(a, b workflow.Function) int {
			return strings.Compare(a.Name, b.Name)
		})
		for _, f := range byName {
			if !named[f.Name] {
				continue
			}
			delete(named, f.Name) // what is defined farther away is hidden
			fn := Function{Name: f.Name, Definition: f.Definition, Scope: scope, Parameters: f.Parameters}
			for _, call := range s.FunctionCalls {
				if call.Name == f.Name {
					fn.Calls = append(fn.Calls, call.Args)
				}
			}
			out = append(out, fn)
		}
	}
	take(s.FunctionDefinitions, ScopeStep)
	take(shared, ScopeWorkflow)
	return out
}
