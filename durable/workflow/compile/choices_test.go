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

// TestChoicesFrom: an input with choices from a result has form 2, and fixed choices do not change
// the form. A document whose reference does not hold is refused.
func TestChoicesFrom(t *testing.T) {
	c := compiled(t, "", step("a", "")+","+choosing("b", "a"))
	if again, err := Decode(c.Bytes()); err != nil || !c.Form2() || again.Hash() != c.Hash() {
		t.Fatalf("form %d: %v", c.SchemaVersion, err)
	}
	fixed := compiled(t, "", step("a", `, "inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d", "choices": ["x", "y"]}]`))
	if fixed.Form2() {
		t.Error("fixed choices have form 2")
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
