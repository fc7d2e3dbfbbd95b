package attack

import "strings"

// Cases returns all bundles, those of large sizes last.
func Cases() []Case { return append(small(), large()...) }

// small returns the bundles with one wrong value.
func small() []Case {
	return []Case{
		{Name: `workflow id: reserved name`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"wr.evil"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"wr.evil"`},
		}},
		{Name: `workflow id: a path`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"../../etc/passwd"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"../../etc/passwd"`},
		}},
		{Name: `workflow id: a slash`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project/x"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project/x"`},
		}},
		{Name: `workflow id: dots`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project..x"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project..x"`},
		}},
		{Name: `workflow id: empty`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":""`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":""`},
		}},
		{Name: `workflow id: upper case`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"Project.attack"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"Project.attack"`},
		}},
		{Name: `workflow id: a line break`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.a\nb"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.a\nb"`},
		}},
		{Name: `workflow id: zero width`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.a\u200bb"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.a\u200bb"`},
		}},
		{Name: `workflow id: right to left`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.\u202ea"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.\u202ea"`},
		}},
		{Name: `workflow id: an escape`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.\u001b[2J"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.\u001b[2J"`},
		}},
		{Name: `workflow id: NUL`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.a\u0000"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.a\u0000"`},
		}},
		{Name: `workflow id: homoglyph`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.\u0430ttack"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.\u0430ttack"`},
		}},
		{Name: `workflow id: a token`, Changes: []Change{
			{Workflow, `"workflowId":"project.attack"`, `"workflowId":"project.ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.x"`},
			{Events, `"workflowId":"project.attack"`, `"workflowId":"project.ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.x"`},
		}},
		{Name: `step id: a path`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"../x"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"../x"`},
		}},
		{Name: `step id: a slash`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a/b"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a/b"`},
		}},
		{Name: `step id: a separator`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a::b"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a::b"`},
		}},
		{Name: `step id: an iteration`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a@1"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a@1"`},
		}},
		{Name: `step id: upper case`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"First"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"First"`},
		}},
		{Name: `step id: empty`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":""`},
			{Snapshot, `"stepId":"first"`, `"stepId":""`},
		}},
		{Name: `step id: zero width`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a\u200b"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a\u200b"`},
		}},
		{Name: `step id: a line break`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a\nb"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a\nb"`},
		}},
		{Name: `step id: an escape`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a\u001b[31m"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a\u001b[31m"`},
		}},
		{Name: `step id: NUL`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"a\u0000"`},
			{Snapshot, `"stepId":"first"`, `"stepId":"a\u0000"`},
		}},
		{Name: `argv: an empty program`, Changes: []Change{{Workflow, `"argv":["true","x"]`, `"argv":[""]`}}},
		{Name: `argv: no program`, Changes: []Change{{Workflow, `"argv":["true","x"]`, `"argv":[]`}}},
		{Name: `argv: NUL`, Changes: []Change{{Workflow, `"argv":["true","x"]`, `"argv":["true","a\u0000b"]`}}},
		{Name: `argv: NUL in the program`, Changes: []Change{
			{Workflow, `"argv":["true","x"]`, `"argv":["tr\u0000ue"]`},
		}},
		{Name: `env name: an equals sign`, Changes: []Change{
			{Workflow, `"env":{"MODE":"fast"}`, `"env":{"A=B":"fast"}`},
		}},
		{Name: `env name: empty`, Changes: []Change{{Workflow, `"env":{"MODE":"fast"}`, `"env":{"":"fast"}`}}},
		{Name: `env name: NUL`, Changes: []Change{{Workflow, `"env":{"MODE":"fast"}`, `"env":{"A\u0000":"fast"}`}}},
		{Name: `env name: a blank`, Changes: []Change{{Workflow, `"env":{"MODE":"fast"}`, `"env":{"A B":"fast"}`}}},
		{Name: `env name: a line break`, Changes: []Change{
			{Workflow, `"env":{"MODE":"fast"}`, `"env":{"A\nB":"fast"}`},
		}},
		{Name: `env name: reserved`, Changes: []Change{
			{Workflow, `"env":{"MODE":"fast"}`, `"env":{"WAYBILL_ATTEMPT_ID":"fast"}`},
		}},
		{Name: `env name: zero width`, Changes: []Change{
			{Workflow, `"env":{"MODE":"fast"}`, `"env":{"A\u200b":"fast"}`},
		}},
		{Name: `env value: NUL`, Changes: []Change{{Workflow, `"MODE":"fast"`, `"MODE":"a\u0000"`}}},
		{Name: `timeout -1`, Changes: []Change{{Workflow, `"timeoutSeconds":60`, `"timeoutSeconds":-1`}}},
		{Name: `timeout 1e15`, Changes: []Change{{Workflow, `"timeoutSeconds":60`, `"timeoutSeconds":1e15`}}},
		{Name: `timeout 0.5`, Changes: []Change{{Workflow, `"timeoutSeconds":60`, `"timeoutSeconds":0.5`}}},
		{Name: `timeout 604801`, Changes: []Change{{Workflow, `"timeoutSeconds":60`, `"timeoutSeconds":604801`}}},
		{Name: `maxAttempts -1`, Changes: []Change{{Workflow, `"maxAttempts":2`, `"maxAttempts":-1`}}},
		{Name: `maxAttempts 1e9`, Changes: []Change{{Workflow, `"maxAttempts":2`, `"maxAttempts":1e9`}}},
		{Name: `backoffSeconds -1`, Changes: []Change{{Workflow, `"backoffSeconds":1`, `"backoffSeconds":-1`}}},
		{Name: `backoffSeconds 1e9`, Changes: []Change{{Workflow, `"backoffSeconds":1`, `"backoffSeconds":1e9`}}},
		{Name: `maxIterations 0`, Changes: []Change{{Workflow, `"maxIterations":3`, `"maxIterations":0`}}},
		{Name: `maxIterations -1`, Changes: []Change{{Workflow, `"maxIterations":3`, `"maxIterations":-1`}}},
		{Name: `maxIterations 1e9`, Changes: []Change{{Workflow, `"maxIterations":3`, `"maxIterations":1e9`}}},
		{Name: `maxIterations 100001`, Changes: []Change{{Workflow, `"maxIterations":3`, `"maxIterations":100001`}}},
		{Name: `snapshot: a step that is missing`, Changes: []Change{
			{Snapshot, `"stepId":"first"`, `"stepId":"gone"`},
		}},
		{Name: `snapshot: a step that is of a missing loop`, Changes: []Change{
			{Snapshot, `"stepId":"first"`, `"stepId":"repeat2"`},
		}},
		{Name: `snapshot: a completed step that is missing`, Changes: []Change{
			{Snapshot, `"values":[]`, `"values":["gone"]`},
		}},
		{Name: `snapshot: an entered loop that is missing`, Changes: []Change{
			{Snapshot, `"loopStack":[]`, `"loopStack":[{"bodyIndex":0,"iteration":0,"loopId":"gone"}]`},
			{Snapshot, `"loopPath":[]`, `"loopPath":[{"iteration":0,"loopId":"gone"}]`},
		}},
		{Name: `snapshot: an id with a path`, Changes: []Change{{Snapshot, `"stepId":"first"`, `"stepId":"../x"`}}},
		{Name: `contract that is not known`, Changes: []Change{
			{Workflow, `"contractRef":"wr.contracts.loop_control","example"`, `"contractRef":"wr.contracts.a_evil","example"`},
			{Workflow, `"outputContract":{"contractRef":"wr.contracts.loop_control"`, `"outputContract":{"contractRef":"wr.contracts.a_evil"`},
		}},
		{Name: `contract that is not embedded`, Changes: []Change{
			{Workflow, `"outputContract":{"contractRef":"wr.contracts.loop_control"`, `"outputContract":{"contractRef":"wr.contracts.other"`},
		}},
		{Name: `input key: a line break`, Changes: []Change{
			{Workflow, `"contextKey":"big"`, `"contextKey":"big\nx"`},
		}},
		{Name: `input key: zero width`, Changes: []Change{
			{Workflow, `"contextKey":"big"`, `"contextKey":"b\u200big"`},
		}},
		{Name: `condition without a variable`, Changes: []Change{
			{Workflow, `{"equals":true,"var":"more"}`, `{"equals":true}`},
		}},
		{Name: `unknown step type`, Changes: []Change{
			{Workflow, `"stepId":"first"`, `"stepId":"first","type":"teleport"`},
		}},
		{Name: `unknown action`, Changes: []Change{{Workflow, `"kind":"command"`, `"kind":"commands"`}}},
		{Name: `schema version 0`, Changes: []Change{{Workflow, `"schemaVersion":1`, `"schemaVersion":0`}}},
		{Name: `schema version -1`, Changes: []Change{{Workflow, `"schemaVersion":1`, `"schemaVersion":-1`}}},
		{Name: `schema version 1.5`, Changes: []Change{{Workflow, `"schemaVersion":1`, `"schemaVersion":1.5`}}},
		{Name: `unknown confirmation`, Changes: []Change{
			{Workflow, `"requireConfirmation":{"kind":"never"}`, `"requireConfirmation":{"kind":"whenever"}`},
		}},
		{Name: `a member twice in another case`, Changes: []Change{
			{Workflow, `"name":"Base of the attacks"`, `"name":"Base of the attacks","namf":1`},
		}},
	}
}

// large returns the bundles whose sizes or counts are beyond any limit, and the one of gigabytes.
func large() []Case {
	const prompt, title = `"prompt":"Read {{big}}."`, `"title":"First step"`
	one := func(name string, part Part, old, with string) Case {
		return Case{Name: name, Changes: []Change{{part, old, with}}}
	}
	return []Case{
		one("a name of 1 MB", Workflow, `"name":"Base of the attacks"`, `"name":"`+strings.Repeat("n", 1_000_000)+`"`),
		one("10,000 line breaks in a name", Workflow, `"name":"Base of the attacks"`,
			`"name":"`+strings.Repeat(`\n`, 10_000)+`"`),
		one("a description of 1 MB", Workflow, `"description":"A workflow that imports and continues"`,
			`"description":"`+strings.Repeat("d", 1_000_000)+`"`),
		one("a title of 100 kB", Workflow, title, `"title":"`+strings.Repeat("t", 100_000)+`"`),
		one("a prompt of 400 kB", Workflow, prompt, `"prompt":"`+strings.Repeat("p", 400_000)+`"`),
		one("an argument of 1 MB", Workflow, `"argv":["true","x"]`,
			`"argv":["true","`+strings.Repeat("a", 1_000_000)+`"]`),
		one("a working directory of 10 kB", Workflow, `"argv":["true","x"]`,
			`"argv":["true","x"],"cwd":"`+strings.Repeat("a/", 5_000)+`"`),
		one("a step id of 1,000 bytes", Workflow, `"stepId":"second"`, `"stepId":"`+strings.Repeat("s", 1_000)+`"`),
		one("400,000 arguments", Workflow, `"argv":["true","x"]`, `"argv":["true"`+strings.Repeat(`,""`, 400_000)+`]`),
		one("3,000 steps", Workflow, `"steps":[`, `"steps":[`+steps(3_000)),
		one("1,001 inputs", Workflow, `"inputs":[`, `"inputs":[`+
			strings.Repeat(`{"contextKey":"k","description":"d","reason":"needs_user_artifact"},`, 1_001)),
		one("a condition of 200,000 parts", Workflow, `{"equals":true,"var":"more"}`,
			`{"or":[`+strings.Repeat(`{"equals":1,"var":"a"},`, 100_000)+`{"equals":true,"var":"more"}]}`),
		one("a context over budget", Events, `"big":"VALUE"`, `"big":"`+strings.Repeat("v", 300<<10)+`"`),
		one("a list of values", Workflow, `"description":"A value"`,
			`"choices":[`+strings.Repeat(`"",`, 200_000)+`""],"description":"A value"`),
		Gigabytes(), Lineage(), Runs(),
	}
}

// steps returns n steps of a main sequence, each with a comma.
func steps(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(`{"prompt":"p","provenance":{"source":"authored"},"requireConfirmation":{"kind":"never"},` +
			`"stepId":"s","title":"t"},`)
	}
	return b.String()
}

// Gigabytes is a bundle of 455 kB that keeps every limit of its parts, and whose prompt would have
// ten gigabytes: 40,000 placeholders of a value of 250,000 bytes.
func Gigabytes() Case {
	return Case{Name: "a prompt of ten gigabytes", Accepted: true, Changes: []Change{
		{Workflow, `"prompt":"Read {{big}}."`, `"prompt":"` + strings.Repeat("{{v}}", 40_000) + `"`},
		{Events, `"big":"VALUE"`, `"big":"x","v":"` + strings.Repeat("v", 250_000) + `"`},
	}}
}

// Lineage is a bundle of one run with 2,000 nodes, each the child of the one before and with notes
// of full size.
func Lineage() Case {
	return Case{Name: "a lineage of 2,000 nodes", Accepted: true, Grow: lineage(2_000)}
}

// Runs is a bundle of one session with 3,000 runs.
func Runs() Case { return Case{Name: "3,000 runs", Accepted: true, Grow: started(3_000)} }
