package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// everything returns a workflow with each construct that a document may contain.
func everything(t testing.TB) string {
	t.Helper()
	return string(compiled(t, `, "capabilities": {"required": ["delegation"]}, "features": ["wr.features.memory_context"],
		"conditions": [{"id": "c1", "kind": "loop_control"}, {"id": "c2", "kind": "context_variable", "condition": {"var": "v", "equals": 1}}],
		"extensionPoints": [{"slotId": "aa", "purpose": "p", "default": "d"}],
		"assessments": [{"id": "gate", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}]`,
		`{"id": "outer", "type": "loop", "title": "L", "maxIterations": 7, "while": {"kind": "condition_ref", "conditionId": "c1"}, "body": [
			`+step("b1", `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`)+`,
			{"id": "inner", "type": "loop", "title": "L", "loop": {"type": "forEach", "maxIterations": 6, "items": "list"}, "body": [`+step("b2", "")+`]}]},
		 {"id": "red", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 5, "condition": {"kind": "condition_ref", "conditionId": "c2"}}, "body": [`+step("b3", `, "guidance": ["set v"]`)+`]},
		 {"id": "times", "type": "loop", "title": "L", "loop": {"type": "for", "maxIterations": 4, "count": 3}, "body": [`+step("b4", "")+`]},
		 `+step("judge", `, "assessmentRefs": ["gate"], "assessmentConsequences": [{"when": {"anyEqualsLevel": "low", "forAssessment": "gate"}, "effect": {"kind": "require_followup", "guidance": "g"}}],
			"promptFragments": [{"id": "f", "text": "t", "when": {"var": "w", "equals": 2}}]`)).Bytes())
}

// TestDecodeRejectsForgedDocuments: Decode checks everything on which running relies. Each row
// is one change of a valid document.
func TestDecodeRejectsForgedDocuments(t *testing.T) {
	good := everything(t)
	if _, err := Decode([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ old, new, words string }{
		{`"stepId":"b2"`, `"stepId":"b1"`, "not valid or not unique"},
		{`"stepId":"b2"`, `"stepId":"judge"`, "not valid or not unique"},
		{`"stepId":"b2"`, `"stepId":"B2"`, "not an id"},
		{`"stepId":"inner"`, `"stepId":"other"`, "does not exist"},
		{`"stepId":"inner"`, `"stepId":"red"`, "not valid or not unique"},
		{`"loopId":"times"`, `"loopId":"times2"`, "does not exist"},
		{`"loopId":"red"`, `"loopId":"inner"`, "sorted"},
		{`"stepId":"times","title":"L","type":"loop"`, `"stepId":"times","title":"L"`, "3 are reached"},
		{`"stepId":"b2","title":"T"`, `"stepId":"b2","title":"T","type":"loop"`, "does not exist"},
		{`"stepId":"b2","title":"T"`, `"stepId":"b2","title":"T","type":"lop"`, "unknown type"},
		{`"prompt":"","provenance":{"source":"authored"},"requireConfirmation":{"kind":"never"},"stepId":"times"`,
			`"prompt":"x","provenance":{"source":"authored"},"requireConfirmation":{"kind":"never"},"stepId":"times"`,
			"a member that only other steps have"},
		{`"maxIterations":4`, `"maxIterations":0`, "maxIterations 0"},
		{`"maxIterations":4`, `"maxIterations":-1`, "maxIterations"},
		{`"kind":"for"`, `"kind":"fro"`, "unknown kind"},
		{`"kind":"for"`, `"kind":"while"`, "control"},
		{`"kind":"forEach"`, `"kind":"for"`, "count"},
		{`"count":3,`, ``, "count"},
		{`"count":3,`, `"count":1.5,`, "count"},
		{`"count":3,`, `"count":-1,`, "count"},
		{`"count":3,`, `"count":"",`, "count"},
		{`"count":3,`, `"count":[],`, "count"},
		{`"count":3,`, `"count":3,"items":"x",`, ""},
		{`"count":3,`, `"count":3,"itemVar":"x",`, "an item and an index"},
		{`"artifactKind":"wr.loop_control"`, `"artifactKind":""`, `contract "wr.contracts.loop_control"`},
		{`"items":"list",`, ``, "items"},
		{`"control":{"conditionId":"c1"`, `"control":{"conditionId":"c0"`, `condition "c0" does not exist`},
		{`"control":{"conditionId":"c1"`, `"control":{"conditionId":"c2"`, "another definition"},
		{`"control":{"condition":{"equals":1,"var":"v"},`, `"control":{"condition":{"equals":2,"var":"v"},`,
			"another definition"},
		{`"control":{"condition":{"equals":1,"var":"v"},`, `"control":{"condition":{"var":"v"},`, "another definition"},
		{`"control":{"condition":{"equals":1,"var":"v"},`, `"control":{"condition":{"equals":1},`, "needs var"},
		{`"conditionId":"c1","contractRef":"wr.contracts.loop_control","kind":"artifact_contract"}`,
			`"conditionId":"c1","contractRef":"wr.contracts.assessment","kind":"artifact_contract"}`,
			"cannot decide a loop"},
		{`"conditionId":"c1","contractRef":"wr.contracts.loop_control","kind":"artifact_contract"}`,
			`"conditionId":"c1","contractRef":"wr.contracts.loop_control","kind":"context_variable"}`,
			"but a contract is present"},
		{`"conditionId":"c1","contractRef":"wr.contracts.loop_control","kind":"artifact_contract"}`,
			`"conditionId":"c1","contractRef":"wr.contracts.loop_control","kind":"other"}`, "unknown control"},
		{`"conditions":[{"conditionId":"c1",`, `"conditions":[{"conditionId":"c3",`, "sorted"},
		{`"outputContract":{"contractRef":"wr.contracts.loop_control"`,
			`"outputContract":{"contractRef":"wr.contracts.x"`, "not embedded"},
		{`"contractRef":"wr.contracts.capability_observation","required":true`,
			`"contractRef":"wr.contracts.loop_control","required":true`, "does not require an observation"},
		{`"contractRef":"wr.contracts.capability_observation","required":true`,
			`"contractRef":"wr.contracts.capability_observation","required":false`, "does not require an observation"},
		{`"probe":"delegation"`, `"probe":"telepathy"`, ""},
		{`"required":["delegation"]`, `"required":["web_browsing"]`, "no step probes it"},
		{`"required":["delegation"]`, `"required":["telepathy"]`, "no step probes it"},
		{`"assessmentRefs":["gate"]`, `"assessmentRefs":["other"]`, "not embedded"},
		{`"assessmentRefs":["gate"],`, ``, "does not require"},
		{`"forAssessment":"gate"`, `"forAssessment":"other"`, "does not require"},
		{`"levels":["low","high"]`, `"levels":["low"]`, "levels"},
		{`"contractRef":"wr.contracts.loop_control","example":{`, `"contractRef":"wr.contracts.aaa","example":{`, ""},
		{`"when":{"equals":2,"var":"w"}`, `"when":{"equals":2}`, `fragment "f"`},
		{`"source":"default"`, `"source":"elsewhere"`, "unknown source"},
		{`"originId":"wr.templates.capability_probe","source":"template_injected"`, `"source":"template_injected"`,
			"provenance"},
		{`"provenance":{"source":"authored"}`, `"provenance":{"originId":"x","source":"authored"}`, "provenance"},
	} {
		bad := strings.Replace(good, row.old, row.new, 1)
		if bad == good {
			t.Fatalf("%s is not in %s", row.old, good)
		}
		_, err := Decode([]byte(bad))
		if fault.CodeOf(err) != fault.StoreCorrupt && !errors.Is(err, ErrLimits) ||
			!strings.Contains(err.Error(), row.words) {
			t.Errorf("%s for %s: got %v, want %q", row.new, row.old, err, row.words)
		}
	}
}

// TestDecodeRejectsLoopCycles: a loop that contains itself is not reached from the main
// sequence.
func TestDecodeRejectsLoopCycles(t *testing.T) {
	d := compiled(t, "", step("a", "")).Document
	marker := func(id string) Step {
		return Step{StepID: id, Title: "L", Type: LoopStep, RequireConfirmation: Confirmation{Kind: ConfirmNever},
			Provenance: Provenance{Source: Authored}}
	}
	loop := func(id string, body ...Step) Loop {
		return Loop{LoopID: id, Title: "L", Kind: For, MaxIterations: 1, Count: canon.OfInt(1), IterationVar: "i",
			Body: body}
	}
	for _, loops := range [][]Loop{
		{loop("l", marker("l"))},
		{loop("l", marker("m")), loop("m", marker("l"))},
		{loop("l")},
	} {
		d.Loops = loops
		for _, steps := range [][]Step{d.Steps, append(d.Steps[:1:1], marker("l"))} {
			d := d
			d.Steps = steps
			if _, err := Decode([]byte(jcs(t, d))); fault.CodeOf(err) != fault.StoreCorrupt {
				t.Errorf("%s: %v", jcs(t, loops), err)
			}
		}
	}
}

// TestDecodeCountsBodies: the limit applies to all steps, those in bodies included.
func TestDecodeCountsBodies(t *testing.T) {
	d := compiled(t, "", `{"id": "l", "type": "loop", "title": "L", "loop": {"type": "for", "maxIterations": 1, "count": 1}, "body": [`+step("b", "")+`]}`).Document
	one := d.Loops[0].Body[0]
	for _, n := range []int{limits.WorkflowStepsMax - 1, limits.WorkflowStepsMax} { // and the loop's own step
		d.Loops[0].Body = make([]Step, n)
		for i := range d.Loops[0].Body {
			d.Loops[0].Body[i] = one
			d.Loops[0].Body[i].StepID = fmt.Sprint("s", i)
		}
		if _, err := Decode([]byte(jcs(t, d))); (err == nil) != (n < limits.WorkflowStepsMax) {
			t.Errorf("%d steps in a body: %v", n, err)
		}
	}
}

// TestDecodeRequiresAssessmentContract: a document with assessments embeds their contract.
func TestDecodeRequiresAssessmentContract(t *testing.T) {
	c, err := Decode([]byte(everything(t)))
	if err != nil {
		t.Fatal(err)
	}
	d := c.Document
	d.Contracts = slices.DeleteFunc(slices.Clone(d.Contracts),
		func(p contract.Pack) bool { return p.ContractRef == assessmentContract })
	if _, err := Decode([]byte(jcs(t, d))); err == nil ||
		!strings.Contains(err.Error(), "or its contract is not embedded") {
		t.Errorf("got %v", err)
	}
}

// TestLookupsOfBodies: steps of bodies are found like those of the main sequence.
func TestLookupsOfBodies(t *testing.T) {
	c, err := Decode([]byte(everything(t)))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]StepPlace{"outer": {"", 1}, "b1": {"outer", 0}, "inner": {"outer", 1},
		"b2": {"inner", 0}, "judge": {"", 4}} {
		s, ok := c.Step(id)
		if at, _ := c.StepPlace(id); !ok || s.StepID != id || at != want {
			t.Errorf("%s is at %+v", id, at)
		}
	}
	if at, of, ok := c.Position("b2"); at != 1 || of != 5 || !ok {
		t.Errorf("b2 is %d of %d", at, of)
	}
	if l, _ := c.Loop("red"); l.Control.ParsedCondition().Eval(value(t, `{"v": 2}`)) || !l.Control.ParsedCondition().
		Eval(value(t, `{"v": 1}`)) {
		t.Error("the control has no parsed condition")
	}
	within := compiled(t, "", `{"id": "l", "type": "loop", "title": "L", "loop": {"type": "for", "maxIterations": 4, "count": 3}, "body": [`+step("b", `, "action": {"kind": "command", "argv": ["x"]}`)+`]}`)
	if !within.HasActions() || c.HasActions() {
		t.Error("HasActions ignores bodies")
	}
}
