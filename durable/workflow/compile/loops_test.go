package compile

import (
	"strings"
	"testing"
)

// loopOf compiles a loop with a body of one step and more workflow keys, and returns its JCS
// form without the body.
func loopOf(t *testing.T, more, keys string) string {
	t.Helper()
	c := compiled(t, more, `{"id": "l", "type": "loop", "title": "L"`+keys+`, "body": [`+
		step("b", `, "outputContract": {"contractRef": "wr.contracts.loop_control", "required": false}, "guidance": ["set v"]`)+`]}`)
	l, _ := c.Loop("l")
	l.Body = nil
	return strings.TrimSuffix(strings.ReplaceAll(jcs(t, l), `"body":[],`, ""), `,"loopId":"l","title":"L"}`)
}

func TestLoops(t *testing.T) {
	const byArtifact = `"control":{"contractRef":"wr.contracts.loop_control","kind":"artifact_contract"`
	const byContext = `"control":{"condition":{"equals":1,"var":"v"},"kind":"context_variable"}`
	const iteration = `"iterationVar":"currentIteration"`
	for _, row := range []struct{ more, keys, want string }{
		{"", `"loop": {"type": "while", "maxIterations": 3, "condition": {"and": [{"var": "v", "equals": 1}]}}`,
			byContext + `,` + iteration + `,"kind":"while","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "until", "maxIterations": 3, "condition": {"var": "v", "equals": 1}, "iterationVar": "n"}`, byContext + `,"iterationVar":"n","kind":"until","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "while", "maxIterations": 3, "conditionSource": {"kind": "context_variable", "condition": {"var": "v", "equals": 1}}}`, byContext + `,` + iteration + `,"kind":"while","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "until", "maxIterations": 3, "conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "x"}}`, byArtifact + `,"loopId":"x"},` + iteration + `,"kind":"until","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "for", "maxIterations": 3, "count": 2.0}`, `"count":2,` + iteration +
			`,"kind":"for","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "for", "maxIterations": 3, "count": "a.b", "iterationVar": "n"}`,
			`"count":"a.b","iterationVar":"n","kind":"for","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "forEach", "maxIterations": 3, "items": "a.b"}`,
			`"indexVar":"currentIndex","itemVar":"currentItem","items":"a.b",` + iteration +
				`,"kind":"forEach","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "forEach", "maxIterations": 3, "items": "a", "iterationVar": "currentIndex"}`,
			`"itemVar":"currentItem","items":"a","iterationVar":"currentIndex","kind":"forEach","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "while", "maxIterations": 3, "condition": {"var": "v"}}`,
			`"control":{"condition":{"var":"v"},"kind":"context_variable"},` + iteration +
				`,"kind":"while","loopId":"l","maxIterations":3`},
		{"", `"loop": {"type": "forEach", "maxIterations": 3, "items": "a", "itemVar": "i", "indexVar": "j", "iterationVar": "k"}`, `"indexVar":"j","itemVar":"i","items":"a","iterationVar":"k","kind":"forEach","loopId":"l","maxIterations":3`},
		{`, "conditions": [{"id": "c", "kind": "loop_control", "loopId": "l"}]`,
			`"maxIterations": 3, "while": {"kind": "condition_ref", "conditionId": "c"}`,
			`"control":{"conditionId":"c","contractRef":"wr.contracts.loop_control","kind":"artifact_contract","loopId":"l"},` + iteration + `,"kind":"while","loopId":"l","maxIterations":3`},
		{`, "conditions": [{"id": "c", "kind": "context_variable", "condition": {"var": "v", "equals": 1}}]`,
			`"loop": {"type": "until", "maxIterations": 3, "condition": {"kind": "condition_ref", "conditionId": "c"}}`,
			`"control":{"condition":{"equals":1,"var":"v"},"conditionId":"c","kind":"context_variable"},` + iteration +
				`,"kind":"until","loopId":"l","maxIterations":3`},
	} {
		want := `{` + row.want + `,"title":"L"}`
		if got := loopOf(t, row.more, ", "+row.keys); got != want && got+`,"loopId":"l","title":"L"}` != want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.keys, got, want)
		}
	}
}

func TestLoopStepOrder(t *testing.T) {
	loop := func(id, body string) string {
		return `{"id": "` + id +
			`", "type": "loop", "title": "L", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": ` +
			body + `}`
	}
	for steps, want := range map[string]string{
		loop("l", `[`+step("a", "")+`,`+step("b", "")+`]`):                                          "l(a b)",
		step("a", "") + "," + loop("l", `"b"`) + "," + step("b", "") + "," + step("c", ""):          "a l(b) c",
		step("b", "") + "," + step("a", "") + "," + loop("l", `"b"`):                                "a l(b)",
		loop("o", `[`+step("a", "")+`,`+loop("i", `[`+step("b", "")+`]`)+`]`) + "," + step("c", ""): "o(a i(b)) c",
		loop("o", `[`+loop("i", `"b"`)+`]`) + "," + step("b", ""):                                   "o(i(b))",
		loop("o", `"i"`) + "," + loop("i", `"b"`) + "," + step("b", "") + "," + step("z", ""):       "o(i(b)) z",
		loop("z", `[`+step("a", "")+`]`) + "," +
			loop("m", `[`+loop("a-1", `[`+step("b", "")+`]`)+`]`): "z(a) m(a-1(b))",
	} {
		c := compiled(t, "", steps)
		if got := shape(c, c.Steps); got != want {
			t.Errorf("%s:\ngot %s, want %s", steps, got, want)
		}
		for i := 1; i < len(c.Loops); i++ {
			if c.Loops[i-1].LoopID >= c.Loops[i].LoopID {
				t.Errorf("%s: loops are not sorted", want)
			}
		}
		if _, err := Decode(c.Bytes()); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestLoopStep: runCondition and requireConfirmation of a loop belong to its loop step.
func TestLoopStep(t *testing.T) {
	c := compiled(t, "", `{"id": "l", "type": "loop", "title": "L", "runCondition": {"var": "x", "equals": 1}, "requireConfirmation": {"kind": "human_approval"}, "notesOptional": true,
		"loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [`+step("a", "")+`]}`)
	const want = `{"prompt":"","provenance":{"source":"authored"},"requireConfirmation":{"kind":"human_approval"},"runCondition":{"equals":1,"var":"x"},"stepId":"l","title":"L","type":"loop"}`
	if got := jcs(t, c.Steps[0]); got != want {
		t.Errorf("got %s", got)
	}
	if !c.Steps[0].NeedsApproval(value(t, `{}`)) || c.Steps[0].Condition().Eval(value(t, `{"x": 2}`)) {
		t.Error("the loop step has no parsed condition")
	}
}

func TestConditionBesideSource(t *testing.T) {
	c := compiled(t, "", `{"id": "l", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 1, "condition": {"var": "v", "equals": 1},
		"conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}}, "body": [`+
		step("a", `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`)+`]}`)
	if got := jcs(t, c.CompiledWarnings); got != `[{"code":"condition_beside_source","stepId":"l"}]` {
		t.Errorf("got %s", got)
	}
	if l, _ := c.Loop("l"); l.Control.Kind != ByArtifact {
		t.Errorf("decided by %+v", l.Control)
	}
}

func TestFunctionsOfLoops(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/loop-nested.yaml")
	names := func(id string) string {
		s, _ := c.Step(id)
		var out []string
		for _, f := range s.Functions {
			out = append(out, string(f.Scope)+" "+f.Name+" "+f.Definition)
		}
		return strings.Join(out, "; ")
	}
	for id, want := range map[string]string{
		"before": "loop check Look from the outside.",
		"cell": "step own Only here.; loop check Look from the inside.; loop zoom Go closer.; workflow note Write " +
			"it down.",
		"after": "",
	} {
		if got := names(id); got != want {
			t.Errorf("%s: got %s", id, got)
		}
	}
}
