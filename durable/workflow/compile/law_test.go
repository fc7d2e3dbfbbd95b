package compile

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/source"
)

// anySource draws a valid workflow file of up to six steps, with all constructs.
func anySource(t *rapid.T) string {
	pick := func(what string, options ...string) string { return rapid.SampledFrom(options).Draw(t, what) }
	steps := ""
	for i := range rapid.IntRange(1, 6).Draw(t, "steps") {
		if i > 0 {
			steps += ", "
		}
		steps += fmt.Sprintf(`{"id": "s%d", "title": "T"`, i)
		steps += pick("prompt", `, "prompt": "p {{x}}"`,
			`, "promptBlocks": {"goal": "g", "verify": ["v", [{"kind": "text", "text": "w"}]]}`,
			`, "action": {"kind": "command", "argv": ["a", "b"], "env": {"E": "v"}, "retry": {"maxAttempts": 2, "backoffSeconds": 1}}`)
		steps += pick("condition", ``, ``, `, "runCondition": {"var": "x", "equals": true}`,
			`, "runCondition": {"and": [{"not": {"var": "y", "gt": 1}}]}`)
		steps += pick("confirmation", ``, `, "requireConfirmation": true`,
			`, "requireConfirmation": {"kind": "coordinator_eval"}`,
			`, "requireConfirmation": {"var": "y", "lt": 3}`,
			`, "requireConfirmation": {"kind": "human_approval", "condition": {"var": "y", "in": [1]}}`)
		steps += pick("criteria", ``,
			`, "validationCriteria": [{"type": "contains", "value": "Finding", "message": "m"}, {"type": "length", "min": 3, "message": "m"}]`,
			`, "validationCriteria": {"not": {"type": "regex", "pattern": "a|b", "flags": "i", "message": "m", "condition": {"var": "x", "equals": 1}}}`)
		steps += pick("notes", ``, `, "notesRequired": true`, `, "notesOptional": true`)
		steps += pick("functions", ``, `, "functionReferences": ["f()"]`,
			`, "functionDefinitions": [{"name": "f", "definition": "near"}], "functionCalls": [{"name": "f", "args": {"n": 1}}]`)
		steps += pick("inputs", ``,
			`, "inputs": [{"contextKey": "k", "reason": "needs_user_choice", "choiceKind": "scope_boundary", "description": "d"}]`) + "}"
	}
	more := pick("capabilities", ``, `, "capabilities": {"preferred": ["web_browsing", "delegation"]}`) +
		pick("guidance", ``, `, "metaGuidance": ["b", "a"]`) + pick("role", ``, `, "agentRole": "You are careful."`) +
		`, "functionDefinitions": [{"name": "f", "definition": "far"}]`
	return string(sourceText(more, steps))
}

// TestDecodeRoundTrip: a compiled document decodes to the same bytes, hash and conditions.
func TestDecodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anySource(t)
		src, c, found := File("x.json", source.SourceProject, []byte(text))
		if source.HasErrors(found) {
			t.Fatalf("%s: %v", text, found)
		}
		again, err := Decode(c.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", c.Bytes(), err)
		}
		if again.Hash() != c.Hash() || !slices.Equal(again.Bytes(), c.Bytes()) {
			t.Fatal("the bytes change when they are decoded")
		}
		if len(c.Steps) != len(src.Steps) {
			t.Fatalf("%d steps became %d", len(src.Steps), len(c.Steps))
		}
		vars := canon.OfMembers(
			canon.Member{Name: "x", Value: canon.OfBool(rapid.Bool().Draw(t, "x"))},
			canon.Member{Name: "y", Value: canon.OfInt(rapid.Int64Range(0, 4).Draw(t, "y"))})
		for i, s := range c.Steps {
			if s.NeedsApproval(vars) && s.NeedsConfirmation(vars) {
				t.Fatalf("step %s requires both a confirmation and an approval", s.StepID)
			}
			if s.Condition().Eval(vars) != again.Steps[i].Condition().Eval(vars) {
				t.Fatalf("step %s has another gate in the decoded workflow", s.StepID)
			}
		}
	})
}

// TestCanonicalFormCompilesEqually: the canonical form of a file compiles to the same document.
func TestCanonicalFormCompilesEqually(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anySource(t)
		src, c, _ := File("x.json", source.SourceProject, []byte(text))
		for _, other := range [][]byte{src.Root.Value.JCS(), shuffled(t, src.Root.Value)} {
			for _, name := range []string{"x.json", "x.yaml"} {
				_, d, found := File(name, source.SourceUser, other)
				if source.HasErrors(found) || d.Hash() != c.Hash() {
					t.Fatalf("%s as %s: %v\n%s\n%s", other, name, found, c.Bytes(), d.Bytes())
				}
			}
		}
	})
}

// anyTree draws steps with nested loops, calls of a routine, and features: the constructs that
// change the place of a step or insert text into it.
func anyTree(t *rapid.T, ids *int, depth int) string {
	pick := func(what string, options ...string) string { return rapid.SampledFrom(options).Draw(t, what) }
	steps := ""
	for i := range rapid.IntRange(1, 3).Draw(t, "steps") {
		if i > 0 {
			steps += ", "
		}
		*ids++
		head := fmt.Sprintf(`{"id": "s%d", "title": "T"`, *ids)
		kind := pick("kind", "plain", "plain", "call", "parallel", "loop")
		if kind == "loop" && depth == 0 {
			kind = "plain"
		}
		switch kind {
		case "plain":
			steps += head + pick("prompt", `, "prompt": "p set v"`,
				`, "promptBlocks": {"goal": [{"kind": "ref", "refId": "wr.refs.notes_first_durability"}]}`) +
				pick("fragments", ``,
					`, "promptFragments": [{"id": "f", "text": "t", "when": {"or": [{"var": "x", "equals": 1}]}}]`) +
				pick("contract", ``, `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`) +
				pick("assessment", ``, `, "assessmentRefs": ["gate"]`) + "}"
		case "call":
			steps += head + pick("gate", ``, `, "runCondition": {"var": "x", "equals": 1}`,
				`, "requireConfirmation": true`) +
				`, "templateCall": {"templateId": "wr.templates.routine.r", "args": {"a": 1}}}`
		case "parallel":
			steps += head + `, "type": "parallel", "parallelDelegations": [{"workflowId": "w"}]}`
		case "loop":
			steps += head + `, "type": "loop", ` +
				pick("loop", `"loop": {"type": "for", "count": 2, "maxIterations": 2}`,
					`"loop": {"type": "forEach", "items": "l", "maxIterations": 2}`,
					`"loop": {"type": "until", "condition": {"kind": "condition_ref", "conditionId": "c2"}, "maxIterations": 2}`, `"while": {"kind": "condition_ref", "conditionId": "c1"}, "maxIterations": 2`) +
				`, "body": [` + anyTree(t, ids, depth-1) + `]}`
		}
	}
	return steps
}

// TestNestedDecodeRoundTrip: documents with nested and expanded steps decode to the same bytes,
// each step has one place, and the order of keys has no effect.
func TestNestedDecodeRoundTrip(t *testing.T) {
	replacement, _ := source.Parse("r.json", source.SourceBundled,
		[]byte(`{"id": "routine-r", "name": "R", "description": "d", "version": "1.0.0", "metaGuidance": ["g {a}"],
		"steps": [{"id": "one", "title": "T", "prompt": "{a}"}, {"id": "l", "type": "loop", "title": "L", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [{"id": "two", "title": "T", "prompt": "p"}]}]}`))
	options := optionsOf(map[string]source.Source{replacement.ID: replacement})
	more := `, "assessments": [{"id": "gate", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}], "conditions": [{"id": "c1", "kind": "loop_control"}, {"id": "c2", "kind": "context_variable", "condition": {"var": "v", "equals": 1}}]`
	rapid.Check(t, func(t *rapid.T) {
		ids := 0
		text := sourceText(more+
			rapid.SampledFrom([]string{``, `, "features": ["wr.features.memory_context"]`,
				`, "capabilities": {"required": ["delegation"]}`}).Draw(t, "more"), anyTree(t, &ids, 3))
		src, c, found := FileWith("x.json", source.SourceProject, text, options)
		if source.HasErrors(found) {
			t.Fatalf("%s: %v", text, found)
		}
		again, err := Decode(c.Bytes())
		if err != nil || again.Hash() != c.Hash() {
			t.Fatalf("%s: %v", c.Bytes(), err)
		}
		placed := len(c.Steps)
		for _, l := range c.Loops {
			placed += len(l.Body)
		}
		if placed != len(c.index) {
			t.Fatalf("%d steps have %d places", placed, len(c.index))
		}
		for id, at := range again.index {
			if s, ok := again.Step(id); !ok || again.Sequence(at.LoopID)[at.Index].StepID != id || s.StepID != id {
				t.Fatalf("%s is not at its place: %+v", id, at)
			}
			if _, _, ok := again.Position(id); !ok {
				t.Fatalf("%s has no position", id)
			}
		}
		if _, d, _ := FileWith("x.yaml", source.SourceUser, shuffled(t, src.Root.Value),
			options); d.Hash() != c.Hash() {
			t.Fatalf("in another order it compiles to\n%s\n%s", c.Bytes(), d.Bytes())
		}
	})
}
