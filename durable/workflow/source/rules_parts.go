package source

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkInputs requires choiceKind for inputs whose reason is needs_user_choice, and
// forbids it for all others (docs/design.md#requirements-on-the-caller).
func checkInputs(inputs problem.SourceValue, report problem.Report) {
	for _, at := range inputs.Items() {
		why := at.Member("reason").Value.Text()
		isChoice := why == "needs_user_choice"
		switch {
		case isChoice && !at.Has("choiceKind"):
			report.Error(at, `Add "choiceKind": why the choice is the person's.`,
				"an input with reason needs_user_choice lacks choiceKind")
		case why != "" && !isChoice && at.Has("choiceKind"):
			report.Error(at.Member("choiceKind"), "Remove it, or set reason to needs_user_choice.",
				"choiceKind belongs to reason needs_user_choice only, got %s", why)
		}
		if at.Has("choices") && at.Has("choicesFrom") {
			report.Error(at.Member("choicesFrom"), "Keep one of the two.",
				"an input has choices or choicesFrom, not both: it would not be clear what is accepted")
		}
	}
}

// checkCapabilities reports a capability that is in more than one list.
func checkCapabilities(at problem.SourceValue, report problem.Report) {
	first := map[string]string{}
	for _, list := range []string{"required", "preferred", "disabled"} {
		for _, item := range at.Member(list).Items() {
			name := item.Value.Text()
			if other, ok := first[name]; ok && other != list {
				report.Error(item, "Keep it in one list.", "capability %q is both %s and %s", name, other, list)
				continue
			}
			first[name] = list
		}
	}
}

// scopes holds the names of the functions visible at a place, one set per scope, the
// nearest scope last.
type scopes []map[string]bool

// add returns s with one nearer scope. It does not modify s, which sibling steps share.
func (s scopes) add(names map[string]bool) scopes { return append(s[:len(s):len(s)], names) }

// functions returns the names that functionDefinitions of an object defines. where is the
// kind of object (workflow, loop or step); a scope member with another value is a warning,
// because it has no effect.
func functions(at problem.SourceValue, where string, report problem.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range at.Member("functionDefinitions").Items() {
		out[f.Member("name").Value.Text()] = true
		if scope := f.Member("scope"); scope.Value.Text() != "" && scope.Value.Text() != where {
			report.Warn(scope, "Move the definition, or remove scope.",
				"a function is visible where it is defined (%s); scope %q changes nothing", where, scope.Value.Text())
		}
	}
	return out
}

// resolve checks that every function that a step names is visible to it. An unresolved
// call is an error, since its arguments would be lost. An unresolved reference is a
// warning: existing files name functions that only their prompts explain, and the compiler
// then expands nothing.
func (s scopes) resolve(at problem.SourceValue, report problem.Report) {
	for _, ref := range at.Member("functionReferences").Items() {
		if name, ok := strings.CutSuffix(ref.Value.Text(), "()"); ok { // the shape check reports others
			s.require(ref, name, report.Warn)
		}
	}
	for _, call := range at.Member("functionCalls").Items() {
		name := call.Member("name")
		s.require(name, strings.TrimSuffix(name.Value.Text(), "()"), report.Error)
	}
}

// require calls report if no scope defines the name, with a similar visible name as the
// suggestion. The compiler selects the definition that applies.
func (s scopes) require(at problem.SourceValue, name string, report func(at problem.SourceValue, fix, format string,
	args ...any)) {
	defines := func(scope map[string]bool) bool { return scope[name] }
	if name == "" || slices.ContainsFunc(s, defines) {
		return
	}
	known := map[string]bool{}
	for _, scope := range s {
		maps.Copy(known, scope)
	}
	report(at, nearest.Suggest(name, shape.Names(known), "Did you mean %s?",
		"Define it under functionDefinitions, or remove it."), "function %q is not defined for this step", name)
}
