package compile

import (
	"strings"
	"testing"
)

// TestHostStepsCompile: a host step is a member of the compiled step and no command, so that a workflow of host steps needs no trust;
// a document with one that cannot be performed is refused.
func TestHostStepsCompile(t *testing.T) {
	c := compiled(t, "", `{"id": "n", "title": "N", "action": {"kind": "host", "typeId": "core.noop", "config": {}}},
		{"id": "d", "title": "D", "action": {"kind": "host", "typeId": "core.delay", "config": {"delayMs": 5}}}`)
	n, _ := c.Step("n")
	d, _ := c.Step("d")
	if c.HasActions() || !c.Form2() || n.Action != nil || n.Host == nil || !n.Automatic() || !n.Host.Config.IsNull() ||
		d.Host.TypeID != "core.delay" {
		t.Fatalf("%+v, %+v, commands %v, form %d", n.Host, d.Host, c.HasActions(), c.SchemaVersion)
	}
	good := string(c.Bytes())
	if again, err := Decode([]byte(good)); err != nil || again.Hash() != c.Hash() {
		t.Fatal(err)
	}
	const noop = `"host":{"typeId":"core.noop"}`
	for _, row := range []struct{ old, new, words string }{
		{noop, `"host":{}`, "typeId"},
		{noop, `"host":{"typeId":""}`, "not known"},
		{noop, `"host":{"typeId":"core.shell"}`, "not known"},
		{noop, `"host":{"config":{"a":1},"typeId":"core.noop"}`, "config"},
		{noop, `"host":{"config":7,"typeId":"core.noop"}`, "config"},
		{noop, `"host":{"argv":["x"],"typeId":"core.noop"}`, "argv"},
		{`"delayMs":5`, `"delayMs":60001`, "60000"},
		{`"schemaVersion":2`, `"schemaVersion":1`, "in a form that has none"},
		{noop, noop + `,"notesRequired":true`, "a host step beside"},
		{noop, `"action":{"argv":["x"],"kind":"command"},` + noop, "a host step beside"},
		{`"provenance":{"source":"authored"}`, `"provenance":{"source":"authored"},"wait":{"for":"1h"}`, ""},
		{noop, noop + `,"outputs":{"a":"stdout"}`, "a host step beside"},
		{noop, `"checks":[{"argv":["true"],"id":"c"}],` + noop, "a host step beside"},
	} {
		forged := strings.Replace(good, row.old, row.new, 1)
		if forged == good {
			t.Fatalf("%s changes nothing in %s", row.new, good)
		}
		if _, err := Decode([]byte(forged)); err == nil || !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s: %v", row.new, err)
		}
	}
}

// TestOneHostStepMakesForm2: of two workflows that differ in a host step only the one with it is in form 2.
func TestOneHostStepMakesForm2(t *testing.T) {
	if plain := compiled(t, "", step("a", "")); plain.Form2() {
		t.Error("a workflow without a host step is in form 2")
	}
	body := `{"id": "l", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 2, "conditionSource":
		{"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "l"}}, "body": [
		{"id": "h", "title": "H", "action": {"kind": "host", "typeId": "core.noop"}},
		{"id": "x", "title": "T", "prompt": "p", "outputContract": {"contractRef": "wr.contracts.loop_control"}}]}`
	if inLoop := compiled(t, "", body); !inLoop.Form2() {
		t.Error("a workflow with a host step in a loop is in form 1")
	}
}
