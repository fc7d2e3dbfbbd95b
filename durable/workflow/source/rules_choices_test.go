package source

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
)

// asks is an input with the choices of an earlier result.
func asks(from string) string {
	return `"inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d", ` + from + `}]`
}

// choosing is a step that takes its choices from the step and the pointer.
func choosing(id, step, pointer string) string {
	return `{"id": "` + id + `", "title": "T", "prompt": "p", ` +
		asks(`"choicesFrom": {"step": "`+step+`", "pointer": "`+pointer+`"}`) + `}`
}

// TestChoicesFromRules: the step with the result precedes the one that asks, in its sequence or in
// one around it, and can have a result.
func TestChoicesFromRules(t *testing.T) {
	const at = "/inputs/0/choicesFrom"
	checkRows(t, problem.Error, []row{
		{", " + asks(`"choicesFrom": {"step": "only", "pointer": ""}`), "", "/inputs/0/choicesFrom", "before its first step", "at the step that needs it"},
		{"", ", " + choosing("a", "a", ""), "/steps/1" + at + "/step", "no step before this one", "Name a step before"},
		{"", ", " + choosing("a", "onli", ""), "/steps/1" + at + "/step", "no step before this one", `Did you mean "only"?`},
		{"", ", " + choosing("a", "b", "") + `, {"id": "b", "title": "B", "prompt": "p"}`, "/steps/1" + at + "/step", "no step before", "Name"},
		{"", ", " + choosing("a", "only", "targets"), "/steps/1" + at + "/pointer", "a JSON pointer", "Write"},
		{"", ", " + choosing("a", "only", "/"+strings.Repeat("x", 600)), "/steps/1" + at + "/pointer", "got 601 characters", ""},
		{"", `, {"id": "a", "title": "T", "prompt": "p", ` + asks(`"choicesFrom": {"step": "only", "pointer": ""}, "choices": ["x", "y"]`) + `}`,
			"/steps/1" + at, "not both", "Keep one"},
		{"", `, {"id": "a", "title": "T", "prompt": "p", ` + asks(`"choicesFrom": {"step": "only"}`) + `}`, "/steps/1" + at, `lacks "pointer"`, "Add"},
		{"", `, {"id": "w", "title": "W", "action": {"kind": "wait", "for": "1h"}}, ` + choosing("a", "w", ""), "/steps/2" + at + "/step", "it waits", "Name a step that hands in"},
		{"", `, {"id": "c", "title": "C", "templateCall": {"templateId": "t"}}, ` + choosing("a", "c", ""), "/steps/2" + at + "/step", "a template", "Name a step"},
		{"", `, {"id": "l", "title": "L", "type": "loop", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [{"id": "b", "title": "B", "prompt": "p"}]}, ` +
			choosing("a", "l", ""), "/steps/2" + at + "/step", "it is a loop", "Name a step"},
		{"", `, {"id": "l", "title": "L", "type": "loop", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [{"id": "b", "title": "B", "prompt": "p"}]}, ` +
			choosing("a", "b", ""), "/steps/2" + at + "/step", "no step before this one in the same or an enclosing sequence", "Name a step"},
	})
	for _, steps := range []string{", " + choosing("a", "only", ""), ", " + choosing("a", "only", "/a~1b/0"),
		`, {"id": "l", "title": "L", "type": "loop", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [{"id": "b", "title": "B", "prompt": "p"}, ` +
			choosing("c", "b", "") + `, ` + choosing("d", "only", "") + `]}`} {
		if src, found := parse(file("", steps)); !src.Valid || len(found) > 0 {
			t.Errorf("%s: %v", steps, found)
		}
	}
}
