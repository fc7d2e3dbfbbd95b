package compile

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestUnknownNames: each unknown name is an error at its place, with a suggestion.
func TestUnknownNames(t *testing.T) {
	assessed := `, "assessments": [{"id": "gate", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}]`
	for _, row := range []struct {
		more, steps string
		words       []string
	}{
		{"", step("a", `, "outputContract": {"contractRef": "wr.contracts.loop_controll"}`),
			[]string{"/steps/0/outputContract/contractRef", "Did you mean wr.contracts.loop_control?"}},
		{"", step("a", `, "outputContract": {"contractRef": "wr.contracts.x"}`),
			[]string{"/steps/0/outputContract/contractRef", `contract "wr.contracts.x" does not exist`,
				"Known are wr.contracts.assessment"}},
		{`, "features": ["wr.features.memory_contex"]`, step("a", ""),
			[]string{"/features/0", "Did you mean wr.features.memory_context?"}},
		{"", `{"id": "a", "title": "T", "promptBlocks": {"goal": "g", "constraints": ["x", [{"kind": "ref", "refId": "wr.refs.notes_first_durabilty"}]]}}`, []string{"/steps/0/promptBlocks/constraints/1/0/refId", "Did you mean wr.refs.notes_first_durability?"}},
		{"", `{"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.capability_prob"}}`,
			[]string{"/steps/0/templateCall/templateId", "Did you mean wr.templates.capability_probe?"}},
		{"", `{"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.routine.sketsh"}}`,
			[]string{"/steps/0/templateCall/templateId", `routine "sketsh" does not exist`,
				"Did you mean wr.templates.routine.sketch?"}},
		{"", `{"id": "a", "title": "T", "templateCall": {"templateId": "other"}}`,
			[]string{`template "other" does not exist`,
				"Known are wr.templates.capability_probe, wr.templates.routine.doubt, wr.templates.routine.sketch"}},
		{"", `{"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.capability_probe", "args": {"capability": "delegatoin"}}}`, []string{"/steps/0/templateCall/args/capability", "Did you mean delegation?"}},
		{"", `{"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.capability_probe"}}`,
			[]string{"/steps/0/templateCall/args/capability", "got null", "Known are delegation, web_browsing."}},
		{assessed, step("a", `, "assessmentRefs": ["gat"]`),
			[]string{"/steps/0/assessmentRefs/0", `Did you mean "gate"?`}},
		{"", step("a", `, "guidance": ["see {{wr.bindings.x}}"]`), []string{"/steps/0/guidance/0"}},
		{"", `{"id": "a", "title": "T", "prompt": "see {{wr.bindings.x}}"}`,
			[]string{"/steps/0/prompt", "no extension point"}},
	} {
		wantProblem(t, withRoutines(t, constructs+"/routines"), row.more, row.steps, row.words...)
	}
}

// TestMembersLostByCall: a member that a template call drops is a warning at its place.
func TestMembersLostByCall(t *testing.T) {
	_, c, found := FileWith("x.json", source.SourceProject,
		sourceText("", `{"id": "a", "title": "T", "guidance": ["lost"], "notesOptional": true, "templateCall": {"templateId": "wr.templates.routine.doubt"}}`), withRoutines(t, constructs+"/routines"))
	if len(c.Steps) != 1 || len(found) != 1 ||
		!strings.Contains(problems(found)[0], `warning /steps/0/guidance: "guidance" next to templateCall is lost`) {
		t.Errorf("got %v, %v", shape(c, c.Steps), found)
	}
}

func TestContracts(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/contract.yaml")
	var refs []string
	for _, p := range c.Contracts {
		refs = append(refs, p.ContractRef)
	}
	if strings.Join(refs, " ") != "wr.contracts.review_verdict wr.contracts.shaping_handoff" {
		t.Errorf("embedded are %q", refs)
	}
	if got := jcs(t, []any{c.Steps[0].OutputContract,
		c.Steps[1].OutputContract}); got != `[{"contractRef":"wr.contracts.shaping_handoff","required":true},{"contractRef":"wr.contracts.review_verdict","required":false}]` {
		t.Errorf("the steps require %s", got)
	}
	if p, ok := c.Contract("wr.contracts.shaping_handoff"); !ok || len(p.Check(p.Example)) > 0 {
		t.Error("the embedded contract rejects its own example")
	}
}

func TestAssessments(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/assessment.yaml")
	const want = `[{"dimensions":[{"id":"confidence","levels":["low","high"],"purpose":"How sure are you?","required":true},{"id":"reach","levels":["few","many"],"purpose":"Who notices?","required":false}],"id":"readiness","purpose":"Is it ready?"},` +
		`{"dimensions":[{"id":"size","levels":["small","large"],"purpose":"How big?","required":true}],"id":"scope","purpose":"Is it small?"}]`
	if got := jcs(t, c.Assessments); got != want {
		t.Errorf("got %s", got)
	}
	if _, ok := c.Contract(assessmentContract); !ok {
		t.Error("the contract of assessments is not embedded")
	}
	if s := c.Steps[0]; strings.Join(s.AssessmentRefs, " ") != "scope readiness" || jcs(t, s.Consequences) !=
		`[{"anyEqualsLevel":"low","forAssessment":"readiness","guidance":"Look again at {{subject}}."},{"anyEqualsLevel":"large","guidance":"Cut it down."}]` {
		t.Errorf("the step requires %q, with %s", s.AssessmentRefs, jcs(t, s.Consequences))
	}
}

// TestReferences: the text is embedded in the document, and the step records its origin.
func TestReferences(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/references.yaml")
	s := c.Steps[0]
	notes, _ := builtin.Ref("wr.refs.notes_first_durability")
	synthesis, _ := builtin.Ref("wr.refs.synthesis_under_disagreement")
	if s.PromptBlocks.Goal != "Go. "+notes || s.PromptBlocks.Constraints[0] != synthesis ||
		s.PromptBlocks.Verify[0] != "Again: "+notes {
		t.Errorf("blocks are %+v", s.PromptBlocks)
	}
	if !strings.Contains(s.Prompt, synthesis) {
		t.Errorf("the prompt is %s", s.Prompt)
	}
	want := []Injection{injection("wr.refs.notes_first_durability", notes),
		injection("wr.refs.synthesis_under_disagreement", synthesis),
		injection("wr.refs.notes_first_durability", notes)}
	if jcs(t, s.Injected) != jcs(t, want) || s.Injected[0].ContentHash != canon.Sum([]byte(notes)) ||
		s.Injected[0].Bytes != len(notes) {
		t.Errorf("injected are %s", jcs(t, s.Injected))
	}
}

// TestInjectedLimit: inserted texts above the limit are an error and are not cut.
func TestInjectedLimit(t *testing.T) {
	text, _ := builtin.Ref("wr.refs.notes_first_durability")
	most := limits.InjectedBytesPerStepMax / len(text)
	blocks := func(n int) string {
		parts := strings.TrimSuffix(strings.Repeat(`{"kind": "ref", "refId": "wr.refs.notes_first_durability"},`, n),
			",")
		return `{"id": "a", "title": "T", "promptBlocks": {"goal": [` + parts + `]}}`
	}
	if c := compiled(t, "", blocks(most)); len(c.Steps[0].Injected) != most {
		t.Errorf("%d references are injected", len(c.Steps[0].Injected))
	}
	wantProblem(t, Library{}, "", blocks(most+1), "/steps/0", "at most 16384 are allowed")
}

func TestFeatures(t *testing.T) {
	memory, _ := builtin.Feature("wr.features.memory_context")
	helpers, _ := builtin.Feature("wr.features.subagent_guidance")
	c, _ := compileConstruct(t, constructs+"/features.yaml")
	if len(c.Features) != 2 || c.Features[0].FeatureID != memory.ID || c.Features[1].FeatureID != helpers.ID {
		t.Errorf("features are %s", jcs(t, c.Features))
	}
	got := strings.Join(c.Steps[0].PromptBlocks.Constraints, "\n")
	if got != strings.Join(append(append([]string{"Be quick."}, memory.Constraints...), helpers.Constraints...), "\n") {
		t.Errorf("constraints are %s", got)
	}
	// The texts may change, so only their places are checked.
	p := PromptBlocks{Procedure: []string{"own"}}
	u := unit{features: []builtin.FeatureDef{{ID: "f", Summary: "s", Constraints: []string{"c"},
		Procedure: []string{"p"}, Verify: []string{"v"}}, {ID: "g", Summary: "only this"}}}
	if from := u.applyFeatures(&p); jcs(t, p) != `{"constraints":["c"],"procedure":["own","p"],"verify":["v"]}` ||
		len(from) != 1 || from[0].Bytes != len("c\np\nv") {
		t.Errorf("blocks are %s, injected %s", jcs(t, p), jcs(t, from))
	}
	for _, s := range c.Steps {
		if jcs(t, s.Injected) != jcs(t, []Injection{injection(memory.ID, featureText(memory)),
			injection(helpers.ID, featureText(helpers))}) {
			t.Errorf("%s: injected are %s", s.StepID, jcs(t, s.Injected))
		}
	}
	if len(c.MetaGuidance) != 0 {
		t.Errorf("the guidance is %q, and every step has blocks", c.MetaGuidance)
	}
	raw, _ := compileConstruct(t, constructs+"/features-beside-prompts.yaml")
	if strings.Join(raw.MetaGuidance, "|") != "Be kind.|"+memory.Summary || raw.Steps[0].Prompt != "Do it." ||
		len(raw.Steps[0].Injected) != 0 || len(raw.Steps[1].Injected) != 1 {
		t.Errorf("the guidance is %q, the steps %s", raw.MetaGuidance, jcs(t, raw.Steps))
	}
}

func TestFragments(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/fragments.yaml")
	again, err := Decode(c.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for vars, want := range map[string]string{`{}`: "always", `{"pages": 11}`: "always long",
		`{"secret": true, "pages": 10}`: "always secret"} {
		var shown []string
		for _, f := range again.Steps[0].PromptFragments {
			if f.Holds(value(t, vars)) {
				shown = append(shown, f.ID)
			}
		}
		if strings.Join(shown, " ") != want {
			t.Errorf("over %s: shown are %q", vars, shown)
		}
	}
}

func TestBindings(t *testing.T) {
	name := constructs + "/bindings.yaml"
	for project, want := range map[string]string{
		"":                 "Run routine-ideation, then routine-design-review. [default default]",
		"ideas=my.own":     "Run my.own, then routine-design-review. [project default]",
		"unknown=anything": "Run routine-ideation, then routine-design-review. [default default]",
	} {
		o := Library{Bindings: map[string]map[string]string{"constructs.bindings": {}}}
		if slot, id, ok := strings.Cut(project, "="); ok {
			o.Bindings["constructs.bindings"][slot] = id
		}
		_, c, _ := FileWith("bindings.yaml", source.SourceProject, readFile(t, name), o)
		if got := c.Steps[0].Prompt + " [" + c.Bindings[0].Source + " " + c.Bindings[1].Source + "]"; got != want {
			t.Errorf("with %q: got %s", project, got)
		}
	}
}

func TestProbes(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/capabilities.yaml")
	if got := shape(c, c.Steps); got != "wr_probe_delegation wr_probe_web_browsing work" {
		t.Errorf("got %s", got)
	}
	s := c.Steps[0]
	if s.Probe != "delegation" || *s.OutputContract != (OutputContract{capabilityContract, true}) ||
		s.Provenance != (Provenance{TemplateInjected, "wr.templates.capability_probe"}) || s.Prompt == "" {
		t.Errorf("the probe is %s", jcs(t, s))
	}
	c, _ = compileConstruct(t, constructs+"/capability-called.yaml")
	// A call that may be skipped does not replace the probe.
	if got := shape(c, c.Steps); got != "wr_probe_delegation work ask_wr_probe_delegation" ||
		c.Steps[2].Probe != "delegation" || c.Steps[2].RunCondition.IsZero() {
		t.Errorf("got %s: %s", got, jcs(t, c.Steps[2]))
	}
	certain := strings.Replace(string(readFile(t, constructs+"/capability-called.yaml")),
		"runCondition: {var: big, equals: true}, ", "", 1)
	_, c, _ = File("called.yaml", source.SourceProject, []byte(certain))
	if got := shape(c, c.Steps); got != "work ask_wr_probe_delegation" {
		t.Errorf("called unconditionally: got %s", got)
	}
	if got := jcs(t, c.Capabilities); got != `{"disabled":[],"preferred":["web_browsing"],"required":["delegation"]}` {
		t.Errorf("got %s", got)
	}
	wantProblem(t, Library{}, `, "capabilities": {"required": ["delegation"]}`, step("wr_probe_delegation", ""),
		"/capabilities/required", "is already used by the workflow")
}

func TestParallel(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/parallel.yaml")
	s := c.Steps[0]
	for _, want := range []string{
		"Hand the 2 tasks below", "all of them together", "Do not start workflows",
		"## Task 1: routine-context-gathering\n\nFind out how {{area}} works.\n\n",
		"- depth: 2\n- focus: COMPLETENESS\n- hand over the context key candidateFiles as files\n" +
			"- with these tools only: Read, Grep\n",
		"## Task 2: routine-ideation\n\n" +
			"- only when this holds over the context: {\"equals\":\"high\",\"var\":\"rigor\"}",
		"## Afterwards\n\nSay which files matter and why.",
	} {
		if !strings.Contains(strings.ReplaceAll(s.Prompt, "Start all of them together", "all of them together"), want) {
			t.Errorf("%q is not in\n%s", want, s.Prompt)
		}
	}
	if s.Type != ParallelStep || s.OutputContract.ContractRef != "wr.contracts.review_verdict" ||
		s.RunCondition.IsZero() {
		t.Errorf("got %s", jcs(t, s))
	}
	if one := c.Steps[1].Prompt; !strings.HasPrefix(one, "Hand the task below") || strings.Contains(one, "Afterwards") {
		t.Errorf("got\n%s", one)
	}
}
