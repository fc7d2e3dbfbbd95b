package compile

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestForm: form 2 is written for conditions, in every place that may have one, and for loops
// that count; every other workflow keeps form 1.
func TestForm(t *testing.T) {
	loop := func(config string) string {
		return `{"id": "l", "title": "T", "type": "loop", "loop": ` + config + `, "body": [` + step("b", "") + `]}`
	}
	const rule = `{"type": "contains", "value": "x", "message": "m"`
	for steps, want := range map[string]int{
		step("a", ""): Form1,
		step("a", `, "requireConfirmation": true`):                           Form1,
		step("a", `, "requireConfirmation": {"kind": "human_approval"}`):     Form1,
		step("a", `, "promptFragments": [{"id": "f", "text": "t"}]`):         Form1,
		step("a", `, "validationCriteria": `+rule+`}`):                       Form1,
		step("a", `, "validationCriteria": [`+rule+`}, {"not": `+rule+`}}]`): Form1,
		loop(`{"type": "while", "conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "l"}, "maxIterations": 2}`): Form1,
		step("a", `, "action": {"kind": "command", "argv": ["x", "{{wr.y}}", "{y}"]}`):                                                                             Form1,
		step("a", `, "action": {"kind": "command", "argv": ["x", "{{y}}"], "literal": true}`):                                                                      Form1,
		step("a", `, "action": {"kind": "command", "argv": ["x"]}, "outputs": {}`):                                                                                 Form1,
		step("a", `, "guidance": ["{{y}}"], "action": {"kind": "command", "argv": ["x"], "env": {"A": "1"}, "cwd": "z"}`):                                          Form1,

		step("a", `, "action": {"kind": "command", "argv": ["x", "a{{y}}"]}`):                        Form2,
		step("a", `, "action": {"kind": "command", "argv": ["x"], "cwd": "{{y}}"}`):                  Form2,
		step("a", `, "action": {"kind": "command", "argv": ["x"], "env": {"A": "1", "B": "{{y}}"}}`): Form2,
		step("a", `, "action": {"kind": "command", "argv": ["x"]}, "outputs": {"y": "stdout"}`):      Form2,
		`{"id": "l", "title": "T", "type": "loop", "loop": {"type": "while", "conditionSource": {"kind": "artifact_contract",
			"contractRef": "wr.contracts.loop_control", "loopId": "l"}, "maxIterations": 2},
			"body": [` + step("c", `, "action": {"kind": "command", "argv": ["x", "{{y}}"]}`) + `]}`: Form2,

		step("a", `, "action": {"kind": "wait", "for": "1h"}`):                                                               Form2,
		step("a", `, "runCondition": {"var": "x"}`):                                                                          Form2,
		step("a", `, "requireConfirmation": {"var": "x"}`):                                                                   Form2,
		step("a", `, "requireConfirmation": {"kind": "human_approval", "condition": {"var": "x"}}`):                          Form2,
		step("a", `, "requireConfirmation": {"kind": "coordinator_eval", "condition": {"var": "x"}}`):                        Form2,
		step("a", `, "promptFragments": [{"id": "f", "text": "t"}, {"id": "g", "text": "t", "when": {"var": "x"}}]`):         Form2,
		step("a", `, "validationCriteria": `+rule+`, "condition": {"var": "x"}}`):                                            Form2,
		step("a", `, "validationCriteria": [`+rule+`}, {"or": [`+rule+`}, {"not": `+rule+`, "condition": {"var": "x"}}}]}]`): Form2,
		loop(`{"type": "while", "condition": {"var": "x"}, "maxIterations": 2}`):                                             Form2,
		loop(`{"type": "until", "condition": {"var": "x"}, "maxIterations": 2}`):                                             Form2,
		loop(`{"type": "for", "count": 2, "maxIterations": 2}`):                                                              Form2,
		loop(`{"type": "forEach", "items": "list", "maxIterations": 2}`):                                                     Form2,
		`{"id": "l", "title": "T", "type": "loop", "loop": {"type": "while", "conditionSource": {"kind": "artifact_contract",
			"contractRef": "wr.contracts.loop_control", "loopId": "l"}, "maxIterations": 2},
			"body": [` + step("b", `, "runCondition": {"var": "x"}`) + `]}`: Form2,
	} {
		c := compiled(t, "", steps)
		version, _ := canon.OfMembers().Get("x")
		if v, err := canon.Parse(c.Bytes()); err == nil {
			version, _ = v.Get("schemaVersion")
		}
		if c.SchemaVersion != want || c.Form2() != (want == Form2) || version.Float() != float64(want) {
			t.Errorf("%s: form %d, written as %s", steps, c.SchemaVersion, version.JCS())
		}
	}
}

// TestFormOfRoutine: a condition of a call, or of a routine's step, is one of the workflow.
func TestFormOfRoutine(t *testing.T) {
	routine := `{"id": "demo.routine-r", "name": "R", "description": "d", "version": "1.0.0", "steps": [%]}`
	for _, row := range []struct {
		call, step string
		want       int
	}{{``, ``, Form1}, {`, "runCondition": {"var": "x"}`, ``, Form2}, {``, `, "runCondition": {"var": "x"}`, Form2}} {
		src, found := source.Parse("r.json", source.SourceProject,
			[]byte(strings.Replace(routine, "%", step("s", row.step), 1)))
		if !src.Valid {
			t.Fatal(found)
		}
		_, c, found := FileWith("x.json", source.SourceProject, sourceText("", `{"id": "call", "title": "T",
			"templateCall": {"templateId": "wr.templates.routine.r"}`+row.call+`}`),
			Library{Routines: []Routines{{"demo.routine-r": src, "routine-r": src}}})
		if source.HasErrors(found) || c.SchemaVersion != row.want {
			t.Errorf("call %q, step %q: form %d, %v", row.call, row.step, c.SchemaVersion, found)
		}
	}
}

// TestDecodeForm1: a document in form 1 with conditions, as the first version wrote them, is
// read, keeps its bytes and hash, and is not a document in form 2.
func TestDecodeForm1(t *testing.T) {
	now := compiled(t, "", step("a", `, "runCondition": {"var": "x", "equals": 1}`))
	old := strings.Replace(string(now.Bytes()), `"schemaVersion":2`, `"schemaVersion":1`, 1)
	c, err := Decode([]byte(old))
	if err != nil || c.Form2() || string(c.Bytes()) != old || c.Hash() == now.Hash() {
		t.Errorf("form 2 %v, hash %s: %v", c.Form2(), c.Hash(), err)
	}
}

// TestFormMovesNoOtherHash: literal and an empty list of outputs are absent from a document that
// does not have them, so that its hash is that of earlier versions.
func TestFormMovesNoOtherHash(t *testing.T) {
	plain := compiled(t, "", step("a", `, "action": {"kind": "command", "argv": ["x"]}`))
	same := compiled(t, "", step("a", `, "action": {"kind": "command", "argv": ["x"], "literal": false}, "outputs": {}`))
	if plain.Hash() != same.Hash() || strings.Contains(string(plain.Bytes()), "outputs") {
		t.Errorf("%s and %s", plain.Bytes(), same.Bytes())
	}
	set := compiled(t, "", step("a", `, "action": {"kind": "command", "argv": ["x"]}, "outputs": {"k": "json:/v"}`))
	s, _ := set.Step("a")
	if again, err := Decode(set.Bytes()); err != nil || again.Hash() != set.Hash() || s.Outputs["k"] != "json:/v" {
		t.Errorf("%v, %v", s.Outputs, err)
	}
}

// TestDecodeChecksOutputs: a stored or imported document has outputs beside a command only, in
// form 2, with keys and places of the grammar.
func TestDecodeChecksOutputs(t *testing.T) {
	good := string(compiled(t, "", step("a", `, "action": {"kind": "command", "argv": ["x"]}, "outputs": {"k": "stdout"}`)).Bytes())
	for _, row := range []struct {
		old, new, words string
		limits          bool
	}{
		{`"action":{"argv":["x"],"kind":"command"},`, ``, "outputs without a command", false},
		{`"schemaVersion":2`, `"schemaVersion":1`, "outputs without a command, or in a form", false},
		{`{"k":"stdout"}`, `{"k k":"stdout"}`, `the output "k k"`, true},
		{`{"k":"stdout"}`, `{"k":"stderr"}`, `place "stderr"`, true},
		{`{"k":"stdout"}`, `{"k":"json:x"}`, `place "json:x"`, true},
		{`{"k":"stdout"}`, `{"k":1}`, "form of version 2", false},
		{`{"k":"stdout"}`, `{"` + strings.Repeat("k", 200) + `":"stdout"}`, "no context key", true},
	} {
		bad := strings.Replace(good, row.old, row.new, 1)
		_, err := Decode([]byte(bad))
		if bad == good || err == nil || errors.Is(err, ErrLimits) != row.limits || !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s: %v", row.new, err)
		}
	}
}
