package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/workflow/source"
)

// functionScopes holds the function definitions around a step, besides its own.
type functionScopes struct {
	workflow []source.Function
	loops    [][]source.Function // outermost first
}

// inside returns f with the definitions of one more loop. It does not modify f, which sibling
// steps share.
func (f functionScopes) inside(defined []source.Function) functionScopes {
	f.loops = append(f.loops[:len(f.loops):len(f.loops)], defined)
	return f
}

// functions resolves the functions that a step names: the nearest definition of each name,
// once, sorted by scope, nearest first, and by name within a scope
// (docs/design.md#compilation). Nested loops count as one scope. Package source has reported
// names that do not resolve.
func (u *unit) functions(s source.Step, around functionScopes) []Function {
	named := map[string]bool{}
	for _, ref := range s.FunctionReferences {
		named[strings.TrimSuffix(ref, "()")] = true
	}
	for _, call := range s.FunctionCalls {
		named[call.Name] = true
	}
	var out []Function
	take := func(defined []source.Function, scope Scope) {
		for _, f := range defined {
			if !named[f.Name] {
				continue
			}
			delete(named, f.Name) // hides definitions in outer scopes
			fn := Function{Name: f.Name, Definition: u.text(f.Definition), Scope: scope, Parameters: f.Parameters}
			for _, call := range s.FunctionCalls {
				if call.Name == f.Name {
					fn.Calls = append(fn.Calls, call.Args)
				}
			}
			out = append(out, fn)
		}
	}
	// From the nearest scope to the farthest: take ignores names that are already resolved.
	take(s.FunctionDefinitions, ScopeStep)
	for i := len(around.loops) - 1; i >= 0; i-- {
		take(around.loops[i], ScopeLoop)
	}
	take(around.workflow, ScopeWorkflow)
	slices.SortStableFunc(out, func(a, b Function) int {
		if a.Scope != b.Scope {
			return slices.Index(scopes, a.Scope) - slices.Index(scopes, b.Scope)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// scopes lists the scopes, nearest first.
var scopes = []Scope{ScopeStep, ScopeLoop, ScopeWorkflow}
