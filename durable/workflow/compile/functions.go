package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/source"
)

// functionScopes holds the function definitions around a step, besides its own.
type functionScopes struct {
	workflow []source.Function
	loops    []source.Function // innermost first
}

// inside returns f with the definitions of one more loop. It does not modify f, which sibling
// steps share.
func (f functionScopes) inside(defined []source.Function) functionScopes {
	f.loops = slices.Concat(defined, f.loops)
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
	for _, scope := range []struct {
		of      Scope
		defined []source.Function
	}{{ScopeStep, s.FunctionDefinitions}, {ScopeLoop, around.loops}, {ScopeWorkflow, around.workflow}} {
		first := len(out)
		for _, f := range scope.defined {
			if !named[f.Name] {
				continue
			}
			delete(named, f.Name) // hides definitions in outer scopes
			fn := Function{Name: f.Name, Definition: u.text(f.Definition), Scope: scope.of, Parameters: f.Parameters}
			for _, call := range s.FunctionCalls {
				if call.Name == f.Name {
					fn.Calls = append(fn.Calls, call.Args)
				}
			}
			out = append(out, fn)
		}
		sorting.By(out[first:], func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}
