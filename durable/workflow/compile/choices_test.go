package compile

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/source"
)

// choosing is a step that takes the choices of k from the result of another step.
func choosing(id, from string) string {
	return step(id, `, "inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d",
		"choicesFrom": {"step": "`+from+`", "pointer": "/list"}}]`)
}

// TestChoicesForm: an input with choices has form 2, and one without keeps form 1, wherever it is declared. A
// document of form 1 with choices, as earlier versions wrote it, is read and stays in form 1.
func TestChoicesForm(t *testing.T) {
	const free = `{"contextKey": "k", "reason": "needs_user_artifact", "description": "d"}`
	fixed := strings.Replace(free, `}`, `, "choices": ["x", "y"]}`, 1)
	inputs := func(in string) string { return `, "inputs": [` + in + `]` }
	loop := func(in string) string {
		return `{"id": "l", "title": "L", "type": "loop", "loop": {"type": "while", "maxIterations": 1, "conditionSource": {"kind": "artifact_contract",
			"contractRef": "wr.contracts.loop_control", "loopId": "l"}}, "body": [` + step("a", inputs(in)) + `]}`
	}
	for in, form := range map[string]int64{free: Form1, fixed: Form2} {
		for _, c := range []Compiled{compiled(t, "", step("a", inputs(in))), compiled(t, inputs(in), step("a", "")), compiled(t, "", loop(in))} {
			if again, err := Decode(c.Bytes()); err != nil || int64(c.SchemaVersion) != form || again.Hash() != c.Hash() {
				t.Errorf("%s: form %d: %v", c.Bytes(), c.SchemaVersion, err)
			}
		}
	}
	c := compiled(t, "", step("a", inputs(fixed)))
	if old, err := Decode([]byte(strings.Replace(string(c.Bytes()), `"schemaVersion":2`, `"schemaVersion":1`, 1))); err != nil || old.Form2() {
		t.Errorf("form 1 with choices: %v", err)
	}
}

// TestChoicesFrom: an input with choices from a result has form 2. A document whose reference does not hold is refused.
func TestChoicesFrom(t *testing.T) {
	c := compiled(t, "", step("a", "")+","+choosing("b", "a"))
	if again, err := Decode(c.Bytes()); err != nil || !c.Form2() || again.Hash() != c.Hash() {
		t.Fatalf("form %d: %v", c.SchemaVersion, err)
	}
	good := string(c.Bytes())
	const from = `"choicesFrom":{"pointer":"/list","step":"a"}`
	for _, row := range []struct {
		old, new, words string
		limits          bool
	}{
		{`"schemaVersion":2`, `"schemaVersion":1`, "in a form that has none", false},
		{from, `"choices":["x","y"],` + from, "beside other choices", false},
		{from, `"choicesFrom":{"pointer":"/list","step":"b"}`, "no step with a result before", false},
		{from, `"choicesFrom":{"pointer":"/list","step":"c"}`, "no step with a result before", false},
		{from, `"choicesFrom":{"pointer":"list","step":"a"}`, `the pointer "list"`, true},
		{from, `"choicesFrom":{"pointer":"/` + strings.Repeat("x", 512) + `","step":"a"}`, "the pointer", true},
		{from, `"choicesFrom":{"pointer":"","step":"A B"}`, `the step "A B"`, true},
		{from, `"choicesFrom":{"step":"a"}`, "form of version 2", false},
		{`"loops":[]`, `"inputs":[{` + from + `,"contextKey":"z","description":"d","reason":"needs_user_artifact"}],"loops":[]`, "of the workflow takes its choices", false},
		{`"loops":[]`, `"inputs":[{"contextKey":"k","description":"d","reason":"needs_user_artifact"}],"loops":[]`, "beside an input of the workflow", false},
		{`"stepId":"a","title":"T"`, `"stepId":"a","title":"T","wait":{"for":"1h"}`, "no step with a result before", false},
	} {
		forged := strings.Replace(good, row.old, row.new, 1)
		_, err := Decode([]byte(forged))
		if forged == good || err == nil || errors.Is(err, ErrLimits) != row.limits || !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s: %v", row.new, err)
		}
	}
}

// TestChoicesFromPrecedes: the step with the result is in the same sequence or in one around it.
func TestChoicesFromPrecedes(t *testing.T) {
	c := compiled(t, "", step("a", "")+`, {"id": "l", "title": "L", "type": "loop",
		"loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [`+step("b", "")+","+step("c", "")+`]},`+step("d", ""))
	for pair, want := range map[string]bool{"a b": true, "b c": true, "a d": true, "b d": false, "c b": false, "d b": false,
		"d a": false, "a a": false, "l b": false, "b b": false} {
		first, second, _ := strings.Cut(pair, " ")
		if c.precedes(first, second) != want {
			t.Errorf("%s: %v", pair, !want)
		}
	}
}

// TestChoicesFromOfRoutine: in a routine the reference is to the routine's own step, and the key is
// none that the workflow asks for before.
func TestChoicesFromOfRoutine(t *testing.T) {
	routine := `{"id": "demo.routine-r", "name": "R", "description": "d", "version": "1.0.0", "steps": [` +
		step("a", "") + "," + choosing("b", "a") + `]}`
	src, found := source.Parse("r.json", source.SourceProject, []byte(routine))
	if !src.Valid {
		t.Fatal(found)
	}
	for more, words := range map[string]string{"": "",
		`, "inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d"}]`: `asks for "k" before its first step`} {
		_, c, found := FileWith("x.json", source.SourceProject, sourceText(more, `{"id": "c", "title": "T",
			"templateCall": {"templateId": "wr.templates.routine.r"}}`),
			Library{Routines: []Routines{{"demo.routine-r": src, "routine-r": src}}})
		if words != "" {
			if len(found) != 1 || !strings.Contains(found[0].Message, words) {
				t.Errorf("%s: %v", more, found)
			}
			continue
		}
		if s, _ := c.Step("c_b"); len(found) > 0 || s.Inputs[0].ChoicesFrom.Step != "c_a" {
			t.Errorf("%+v, %v", s.Inputs, found)
		}
	}
	if from := src.Steps[1].Inputs[0].ChoicesFrom; from.Step != "a" {
		t.Errorf("the source of the routine names %q", from.Step)
	}
}
