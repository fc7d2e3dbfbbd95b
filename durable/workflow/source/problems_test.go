package source

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
)

// row is one mistake and the only problem that it must cause.
type row struct{ more, steps, pointer, message, fix string }

func checkRows(t *testing.T, severity problem.Severity, rows []row) {
	t.Helper()
	for _, r := range rows {
		src, found := parse(file(r.more, r.steps))
		if len(found) != 1 {
			t.Errorf("%s%s: want one problem, found %+v", r.more, r.steps, found)
			continue
		}
		p := found[0]
		if p.Pointer != r.pointer || p.Severity != severity || !strings.Contains(p.Message, r.message) ||
			!strings.Contains(p.Fix, r.fix) {
			t.Errorf("%s%s: found %+v", r.more, r.steps, p)
		}
		if src.Valid != (severity == problem.Warning) {
			t.Errorf("%s%s: valid is %v", r.more, r.steps, src.Valid)
		}
	}
}

func TestWorkflowKeys(t *testing.T) {
	checkRows(t, problem.Error, []row{
		{`, "stepz": []`, "", "/stepz", `a workflow has no key "stepz"`, `Did you mean "steps"?`},
		{`, "zzz": []`, "", "/zzz", `a workflow has no key "zzz"`, "Remove it."},
		{`, "about": 1`, "", "/about", "expected a string of 1 to 4096 characters, got number", "Write"},
		{`, "about": ""`, "", "/about", "got 0 characters", "1 to 4096"},
		{`, "about": null`, "", "/about", "got null", "1 to 4096"},
		{`, "agentRole": "short"`, "", "/agentRole", "10 to 1024 characters, got 5", "Write"},
		{`, "metaGuidance": "x"`, "", "/metaGuidance", "expected a list, got \"x\"", "Write"},
		{`, "metaGuidance": ["a", "b", "a"]`, "", "/metaGuidance/2", "item 3 repeats item 1", "Remove or rename"},
		{`, "metaGuidance": ["` + strings.Repeat("é", 257) + `"]`, "", "/metaGuidance/0", "got 257 characters",
			"1 to 256"},
		{`, "examples": []`, "", "/examples", "at least 1 items, got 0", "leave the key out"},
		{`, "examples": ["too short"]`, "", "/examples/0", "10 to 120 characters", "Write"},
		{`, "modelTier": "heavyy"`, "", "/modelTier", `"lightweight", "mid" or "heavy", got "heavyy"`,
			`Did you mean "heavy"?`},
		{`, "modelTier": true`, "", "/modelTier", "got boolean", `Write "lightweight"`},
		{`, "validatedAgainstSpecVersion": 1.5`, "", "/validatedAgainstSpecVersion", "a whole number from 1, got 1.5",
			"Write"},
		{`, "validatedAgainstSpecVersion": "1"`, "", "/validatedAgainstSpecVersion", `got "1"`, "whole number"},
		{`, "recommendedPreferences": {"recommendedAutonomy": "auto"}`, "",
			"/recommendedPreferences/recommendedAutonomy", `"guided"`, "Write"},
		{`, "recommendedPreferences": {"autonomy": "guided"}`, "", "/recommendedPreferences/autonomy", "no key",
			`Write "recommendedAutonomy".`},
		{`, "references": [{"id": "r", "title": "T", "source": "s", "purpose": "p", "authoritative": true}]`, "",
			"/references/0/id", "2 to 64", "lowercase"},
		{`, "references": [{"id": "re", "title": "T", "source": "s", "purpose": "p"}]`, "", "/references/0",
			`a reference lacks "authoritative"`, `Add "authoritative": true or false.`},
		{`, "capabilities": {"preferred": ["delegation", "delegation"]}`, "", "/capabilities/preferred/1",
			"item 2 repeats item 1", "Remove"},
		{`, "capabilities": {"required": ["browsing"]}`, "", "/capabilities/required/0",
			`"delegation" or "web_browsing"`, "Write"},
		{`, "capabilities": {"required": ["delegation"], "disabled": ["delegation"]}`, "", "/capabilities/disabled/0",
			"both required and disabled", "one list"},
		{`, "functionDefinitions": [{"name": "f-1", "definition": "d"}]`, "", "/functionDefinitions/0/name",
			"letters, digits and _", "Write"},
		{`, "functionDefinitions": [{"name": "f", "definition": "d"}, {"name": "f", "definition": "e"}]`, "",
			"/functionDefinitions/1", "item 2 repeats item 1", "rename"},
		{`, "functionDefinitions": [{"name": "f", "definition": "d", "parameters": [{"name": "p", "type": "int"}]}]`,
			"", "/functionDefinitions/0/parameters/0/type", "string", "Write"},
		{`, "functionDefinitions": [{"name": "f", "definition": "d", "parameters": [{"name": "p", "type": "string", "enum": [null]}]}]`, "", "/functionDefinitions/0/parameters/0/enum/0", "true or false or a number or a string, got null", "Write"},
		{`, "extensionPoints": [{"slotId": "a", "purpose": "p", "default": "d"}]`, "", "/extensionPoints/0/slotId",
			"2 to 64", "Write"},
		{`, "assessments": [{"id": "a", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low"]}]}]`, "", "/assessments/0/dimensions/0/levels", "at least 2 items", "Add"},
		{`, "inputs": [{"contextKey": "a b", "reason": "needs_user_artifact", "description": "d"}]`, "",
			"/inputs/0/contextKey", "context key", "Write"},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_arttifact", "description": "d"}]`, "",
			"/inputs/0/reason", "got \"needs_user_arttifact\"", `Did you mean "needs_user_artifact"?`},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_choice", "description": "d"}]`, "", "/inputs/0",
			"lacks choiceKind", "choiceKind"},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_artifact", "choiceKind": "scope_boundary", "description": "d"}]`, "", "/inputs/0/choiceKind", "belongs to reason needs_user_choice", "Remove it"},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_choice", "choiceKind": "taste", "description": "d"}]`,
			"", "/inputs/0/choiceKind", "preference_tradeoff", "Write"},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_choice", "choiceKind": "scope_boundary", "choices": ["one"], "description": "d"}]`, "", "/inputs/0/choices", "at least 2", "Add"},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_choice", "choiceKind": "scope_boundary", "choices": ["one", "two", "one"], "description": "d"}]`, "", "/inputs/0/choices/2", "repeats item 1", "Remove"},
		{`, "inputs": [{"contextKey": "a", "reason": "needs_user_artifact", "description": "d"}, {"contextKey": "a", "reason": "needs_user_artifact", "description": "e"}]`, "", "/inputs/1", "repeats item 1", "rename"},
	})
}

// TestSpellingsOfOthers: the keys of the two spellings are checked, and are not mixed.
func TestSpellingsOfOthers(t *testing.T) {
	const step = `, {"id": "a", "title": "A", `
	checkRows(t, problem.Error, []row{
		{"", step + `"prompt": "p", "output": {"contractRef": "wr.contracts.loop_control"}, "outputContract": {"contractRef": "wr.contracts.loop_control"}}`,
			"/steps/1/output", "mean the same", "Keep one"},
		{"", step + `"prompt": "p", "output": {"contract": "wr.contracts.loop_control", "contractRef": "wr.contracts.loop_control"}}`,
			"/steps/1/output/contract", "an output contract has no key", `"contractRef"`},
		{"", step + `"type": "template_call", "templateCall": {"templateId": "t"}, "prompt": "p"}`, "/steps/1/prompt",
			`a template call step has no key "prompt"`, "into the routine"},
		{"", step + `"type": "template_call", "templateCall": {"templateId": "t"}, "args": {}}`, "/steps/1/args",
			"a template call step has no key", `Move it into "templateCall".`},
		{"", step + `"type": "template_call"}`, "/steps/1", `a template call step lacks "templateCall"`, `Add "templateCall"`},
		{"", step + `"action": {"kind": "wait", "for": "1h"}, "output": {"contractRef": "wr.contracts.loop_control"}}`,
			"/steps/1/output", "has no output", "Move it"},
	})
}

// gate is an assessment with the levels low and high.
const gate = `{"id": "gate", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}`

func TestStepKeys(t *testing.T) {
	checkRows(t, problem.Error, []row{
		{"", `, 7`, "/steps/1", "an object that describes a step, got number", "Write"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "type": "step"}`, "/steps/1/type",
			`"loop", "parallel" or "template_call" or no type`, "Remove it"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "type": ""}`, "/steps/1/type", `"loop", "parallel" or "template_call"`,
			"Remove it"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "agentRoles": "x"}`, "/steps/1/agentRoles",
			`a step has no key`, `"agentRole"`},
		{"", `, {"id": "a", "prompt": "p"}`, "/steps/1", `a step lacks "title"`,
			`Add "title": a string of 1 to 128 characters.`},
		{"", `, {"title": "A", "prompt": "p"}`, "/steps/1", `a step lacks "id"`, `Add "id"`},
		{"", `, {"id": "A B", "title": "A", "prompt": "p"}`, "/steps/1/id", "lowercase letters", `Write "a-b".`},
		{"", `, {"id": "Only", "title": "A", "prompt": "p"}`, "/steps/1/id", "lowercase letters", `Write "only-2".`},
		{"", `, {"id": "only", "title": "A", "prompt": "p"}`, "/steps/1/id", `"only" is already used on line 1`,
			`Write "only-2".`},
		{"", `, {"id": "a", "title": "A"}`, "/steps/1", "needs a prompt", `Add "prompt"`},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "promptBlocks": {"goal": "g"}}`, "/steps/1/promptBlocks",
			"not both", "Keep one"},
		{"", `, {"id": "a", "title": "A", "promptBlocks": {}}`, "/steps/1/promptBlocks", "is empty", `"goal"`},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "promptRef": "prompt:a"}`, "/steps/1/promptRef",
			"a prompt or promptRef, not both", "Keep one"},
		{"", `, {"id": "a", "title": "A", "promptBlocks": {"goal": "g"}, "promptRef": "prompt:a"}`,
			"/steps/1/promptRef", "a promptBlocks or promptRef, not both", "Keep one"},
		{"", `, {"id": "a", "title": "A", "promptRef": "prompt:a", "templateCall": {"templateId": "t"}}`,
			"/steps/1/promptRef", "its promptRef would not be shown", "Remove"},
		{"", `, {"id": "a", "title": "A", "promptRef": "a@1.0.0"}`, "/steps/1/promptRef",
			"expected a reference such as", "prompt:review@1.0.0"},
		{"", `, {"id": "a", "title": "A", "promptRef": ["prompt:a"]}`, "/steps/1/promptRef",
			"or an object that describes a prompt reference, got array", "Write"},
		{"", `, {"id": "a", "title": "A", "promptRef": {"templateId": "a", "variableOverride": {}}}`,
			"/steps/1/promptRef/variableOverride", `a prompt reference has no key "variableOverride"`,
			`Did you mean "variableOverrides"?`},
		{"", `, {"id": "a", "title": "A", "promptRef": {"templateId": "a", "version": "1"}}`,
			"/steps/1/promptRef/version", `a semantic version such as "1.0.0", got "1"`, "Write"},
		{"", `, {"id": "a", "title": "A", "promptRef": {"templateId": "a", "variableOverrides": {"x": "{{wr.bindings.none}}"}}}`, "/steps/1/promptRef/variableOverrides/x", "names no extension point", "Declare"},
		{"", `, {"id": "a", "title": "A", "promptBlocks": {"goal": 1}}`, "/steps/1/promptBlocks/goal",
			"a string or a list, got number", "Write"},
		{"", `, {"id": "a", "title": "A", "promptBlocks": {"verify": [[{"kind": "txt", "text": "x"}]]}}`,
			"/steps/1/promptBlocks/verify/0/0/kind", `"ref" or "text"`, `Did you mean "text"?`},
		{"", `, {"id": "a", "title": "A", "promptBlocks": {"verify": [[{"text": "x"}]]}}`,
			"/steps/1/promptBlocks/verify/0/0/kind", `got null`, "text"},
		{"", `, {"id": "a", "title": "A", "promptBlocks": {"outputRequired": {"x": 1}}}`,
			"/steps/1/promptBlocks/outputRequired/x", "a string, got number", "Write"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "notesRequired": true, "notesOptional": true}`,
			"/steps/1/notesOptional", "both required and optional", "Remove one"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "notesRequired": "yes"}`, "/steps/1/notesRequired",
			"true or false", "Write"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "requireConfirmation": "yes"}`, "/steps/1/requireConfirmation",
			"true or false or a condition", "Write"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "requireConfirmation": {"kind": "human"}}`,
			"/steps/1/requireConfirmation/kind", "human_approval", "Did you mean"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "requireConfirmation": {"kind": "human_approval", "when": {"var": "a"}}}`,
			"/steps/1/requireConfirmation/when", "no key", `Write "condition".`},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "requireConfirmation": {"var": " "}}`,
			"/steps/1/requireConfirmation/var", "path of names", "riskLevel"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "runCondition": true}`, "/steps/1/runCondition",
			"must be an object", "var"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "functionReferences": ["f"]}`, "/steps/1/functionReferences/0",
			"with ()", "Write"},
		{`, "functionDefinitions": [{"name": "review", "definition": "d"}]`,
			`, {"id": "a", "title": "A", "prompt": "p", "functionCalls": [{"name": "reveiw", "args": {}}]}`,
			"/steps/1/functionCalls/0/name", "not defined", "Did you mean review?"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "outputContract": {}}`, "/steps/1/outputContract",
			`lacks "contractRef"`, "Add"},
		{"", `, {"id": "a", "title": "A", "templateCall": {"args": {}}}`, "/steps/1/templateCall", `lacks "templateId"`,
			"Add"},
		{"", `, {"id": "a", "title": "A", "promptFragments": [{"id": "f", "text": "t", "when": {}}]}`,
			"/steps/1/promptFragments/0/when", "needs var", "var"},
		{`, "assessments": [` + gate + `]`,
			`, {"id": "a", "title": "A", "prompt": "p", "assessmentRefs": ["gate"], "assessmentConsequences": [{"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "stop", "guidance": "g"}}]}`, "/steps/1/assessmentConsequences/0/effect/kind", `"require_followup", got "stop"`, "Write"},
	})
}

func TestActions(t *testing.T) {
	action := func(rest string) string {
		return `, {"id": "a", "title": "A", "action": {"kind": "command"` + rest + `}}`
	}
	const at = "/steps/1/action"
	checkRows(t, problem.Error, []row{
		{"", action(""), at, `a command lacks "argv"`, "Add"},
		{"", action(`, "argv": []`), at + "/argv", "at least 1", "Add"},
		{"", action(`, "argv": "ls -l"`), at + "/argv", "a list that is not empty", "Write"},
		{"", action(`, "argv": ["", "x"]`), at + "/argv/0", "names the program", "program"},
		{"", action(`, "argv": ["a\u0000b"]`), at + "/argv/0", "without NUL", "Write"},
		{"", action(`, "argv": ["a"], "cwd": ""`), at + "/cwd", "1 to 512", "Write"},
		{"", action(`, "argv": ["a"], "env": ["A=b"]`), at + "/env", "an object", "Write"},
		{"", action(`, "argv": ["a"], "env": {"A": 1}`), at + "/env/A", "without NUL, got number", "Write"},
		{"", action(`, "argv": ["a"], "env": {"A=B": "x"}`), at + "/env/A=B", "environment variable", "Write"},
		{"", action(`, "argv": ["a"], "env": {"WAYBILL_ATTEMPT_ID": "x"}`), at + "/env/WAYBILL_ATTEMPT_ID",
			"set by Waybill", "another name"},
		{"", action(`, "argv": ["a"], "timeoutSeconds": 0`), at + "/timeoutSeconds", "from 1 to 604800", "Write"},
		{"", action(`, "argv": ["a"], "timeoutSeconds": 604801`), at + "/timeoutSeconds", "from 1 to 604800", "Write"},
		{"", action(`, "argv": ["a"], "timeoutSeconds": 1.5`), at + "/timeoutSeconds", "whole number", "Write"},
		{"", action(`, "argv": ["a"], "retry": {"maxAttempts": 101}`), at + "/retry/maxAttempts", "from 1 to 100",
			"Write"},
		{"", action(`, "argv": ["a"], "retry": {"backoffSeconds": 1}`), at + "/retry", `lacks "maxAttempts"`, "Add"},
		{"", action(`, "argv": ["a"], "retry": {"maxAttempts": 1, "backoffSeconds": 86401}`),
			at + "/retry/backoffSeconds", "from 0 to 86400", "Write"},
		{"", action(`, "argv": ["a"], "shell": true`), at + "/shell", "a command has no key", `"argv"`},
		{"", `, {"id": "a", "title": "A", "action": {"kind": "comand", "argv": ["a"]}}`, at + "/kind",
			`"command", "host" or "wait", got "comand"`, `Did you mean "command"?`},
		{"", `, {"id": "a", "title": "A", "action": {"argv": ["a"]}}`, at + "/kind", `"command", "host" or "wait", got null`, "Write"},
		{"", `, {"id": "a", "title": "A", "action": "ls"}`, at, "an action", "Write"},
	})
}

func TestLoopsAndParallels(t *testing.T) {
	loop := func(config, body string) string {
		return `, {"id": "l", "type": "loop", "title": "L", "loop": {` + config + `}, "body": ` + body + `}`
	}
	const inner, max = `[{"id": "in", "title": "In", "prompt": "p"}]`, `"maxIterations": 3`
	checkRows(t, problem.Error, []row{
		{"", loop(`"type": "while", `+max, inner), "/steps/1/loop", `a while loop lacks "condition"`, "Add"},
		{"", loop(`"type": "until", `+max, inner), "/steps/1/loop", `until loop lacks "condition"`, "Add"},
		{"", loop(`"type": "for", `+max, inner), "/steps/1/loop", `a for loop lacks "count"`, "Add"},
		{"", loop(`"type": "forEach", `+max, inner), "/steps/1/loop", `a forEach loop lacks "items"`, "Add"},
		{"", loop(`"type": "for", "count": 3`, inner), "/steps/1/loop", `lacks "maxIterations"`, "from 1 to 100000"},
		{"", loop(`"type": "for", "count": 100001, `+max, inner), "/steps/1/loop/count", "from 0 to 100000", "Write"},
		{"", loop(`"type": "for", "count": true, `+max, inner), "/steps/1/loop/count", "a whole number", "Write"},
		{"", loop(`"type": "while", "conditionSource": {"kind": "artifact", "contractRef": "wr.contracts.loop_control"}, `+max, inner),
			"/steps/1/loop/conditionSource/kind", "artifact_contract", "Did you mean"},
		{"", loop(`"type": "while", "condition": {"equals": 1}, `+max, inner), "/steps/1/loop/condition", "needs var",
			"leave it out"},
		{"", loop(`"type": "forEach", "items": "x", "itemVar": "currentIndex", "indexVar": "currentIndex", `+max,
			inner), "/steps/1/loop/itemVar", `indexVar and itemVar are both "currentIndex"`, "another name"},
		{"", loop(`"type": "forEach", "items": "x", "itemVar": "n", "iterationVar": "n", `+max, inner),
			"/steps/1/loop/itemVar", `iterationVar and itemVar are both "n"`, "another name"},
		{"", loop(`"type": "for", "count": 1, `+max, "[]"), "/steps/1/body", "at least 1", "Add"},
		{"", loop(`"type": "for", "count": 1, `+max, "3"), "/steps/1/body", "or a list that is not empty, got number",
			"Write"},
		{"", loop(`"type": "for", "count": 1, `+max, `[{"id": "only", "title": "In", "prompt": "p"}]`),
			"/steps/1/body/0/id", `"only" is already used on line 1`, `"only-2"`},
		{"", loop(`"type": "for", "count": 1, `+max, `[{"id": "in", "title": "In"}]`), "/steps/1/body/0",
			"needs a prompt", "prompt"},
		{"", loop(`"type": "for", "count": 1, `+max, `[{"id": "in", "title": "In", "type": "zzz", "prompt": "p"}]`),
			"/steps/1/body/0/type", `"loop", "parallel" or "template_call" or no type, got "zzz"`, `write "loop"`},
		{"", `, {"id": "p", "type": "parallel", "title": "P", "parallelDelegations": []}`,
			"/steps/1/parallelDelegations", "at least 1", "Add"},
		{"", `, {"id": "p", "type": "parallel", "title": "P", "parallelDelegations": [{"goal": "g"}]}`,
			"/steps/1/parallelDelegations/0", `lacks "workflowId"`, "Add"},
		{"", `, {"id": "p", "type": "parallel", "title": "P", "parallelDelegations": [{"workflowId": "w", "args": {"a": 1}}]}`, "/steps/1/parallelDelegations/0/args/a", "a string", "Write"},
	})
	// A function of a loop is visible in its body, and a valid loop has no problem here.
	withFunction := strings.Replace(loop(`"type": "for", "count": "n", `+max,
		`[{"id": "in", "title": "In", "prompt": "p", "functionReferences": ["f()"]}]`),
		`"title": "L"`, `"title": "L", "functionDefinitions": [{"name": "f", "definition": "d"}]`, 1)
	if src, found := parse(file("", withFunction)); len(found) > 0 || !src.Valid {
		t.Errorf("a loop with a function: %v", found)
	}
}

// reference is the key of a workflow with one reference.
func reference(source string) string {
	return `, "references": [{"id": "re", "title": "T", "source": "` + source +
		`", "purpose": "p", "authoritative": true}]`
}

func TestWarnings(t *testing.T) {
	checkRows(t, problem.Warning, []row{
		{"", `, {"id": "a", "title": "A", "prompt": "p", "validationCriteria": {"type": "contains", "value": "done = true", "message": "m"}}`, "/steps/1/validationCriteria", "completion flag", "evidence"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "audit": {"rubric": ["r"]}}`, "/steps/1/audit",
			"no step is added", "separate step"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "verification": {"command": "make"}}`, "/steps/1/verification",
			"no step is added", "separate step"},
		{`, "functionDefinitions": [{"name": "f", "definition": "d", "scope": "step"}]`, "",
			"/functionDefinitions/0/scope", "visible where it is defined (workflow)", "Move"},
		// Mistakes of existing files that do not make the meaning of a run ambiguous.
		{"", `, {"id": "a", "title": "A", "prompt": "p", "validationCriteria": []}`, "/steps/1/validationCriteria",
			"nothing is checked", "leave it out"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "functionReferences": ["f()"]}`,
			"/steps/1/functionReferences/0", `"f" is not defined`, "functionDefinitions"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "functionDefinitions": [{"name": "f", "definition": "d"}]}, {"id": "b", "title": "B", "prompt": "p", "functionReferences": ["f()"]}`, "/steps/2/functionReferences/0", "not defined for this step", "Define"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "validationCriteria": [{"type": "contains", "value": "Findings", "min": 3, "message": ""}]}`, "/steps/1/validationCriteria/0/min", "has no effect in a rule of type contains", "reads value"},
		{"", `, {"id": "a", "title": "A", "prompt": "p", "validationCriteria": [{"type": "regex", "pattern": "\\u00e9t\\u00e9+", "flags": "g", "message": "m"}]}`, "/steps/1/validationCriteria/0/flags", "flag 'g' has no effect", "Remove"},
		{reference("/etc/hosts"), "", "/references/0/source", "the absolute path", "root of the workspace"},
		{reference(`C:\\a.md`), "", "/references/0/source", "the absolute path", "root of the workspace"},
		{reference("../a.md"), "", "/references/0/source", "leads out of its root", "stays below"},
		{reference("a/../../b.md"), "", "/references/0/source", "leads out of its root", "stays below"},
		{`, "about": "Explains {{wr.bindings.slot}}."`, "", "/about", "shown unchanged", "{{wr.bindings.slot}}"},
		{`, "metaGuidance": ["Tokens are {{wr.*}}."]`, "", "/metaGuidance/0", "shown unchanged", "extension point"},
		{"", `, {"id": "a", "title": "On {{wr.bindings.x}}", "prompt": "p"}`, "/steps/1/title", "shown unchanged",
			"{{wr.bindings.x}}"},
	})
}
