// Package keyhints holds the keys that authors of workflow files write for others: names of other
// formats, and keys at the wrong place. Each table belongs to one object of the format; package source
// reports an unknown key with its correction.
//
// The package knows neither the format nor the nearest name of a misspelt key: package shape suggests
// that for all other keys.
package keyhints

import (
	"maps"

	"github.com/waybill/waybill/durable/workflow/shape"
)

// Short names for the type of hints and its constructor.
type (
	hint  = shape.Hint
	hints = map[string]hint
)

var meant = shape.Meant

// as returns the hints of several keys that mean the same.
func as(h hint, keys ...string) hints {
	out := hints{}
	for _, key := range keys {
		out[key] = h
	}
	return out
}

// hintsOf joins hints of different keys.
func hintsOf(all ...hints) hints {
	out := hints{}
	for _, some := range all {
		maps.Copy(out, some)
	}
	return out
}

// use returns a hint with a correction only: the value that the author wrote belongs elsewhere, or
// has another form there.
func use(fix string) hint { return hint{Fix: fix} }

// Corrections that several tables use.
var (
	useCommand = use(`Write "action": {"kind": "command", "argv": ["program", "argument"]}; "argv" is ` +
		`passed without a shell.`)
	inAction   = use(`Move it into "action", beside "argv".`)
	useWait    = use(`Write "action": {"kind": "wait", "for": "1h30m"}.`)
	useForEach = use(`Write "type": "loop" and "loop": {"type": "forEach", "items": "key", "maxIterations": 10}; ` +
		`"body" has the steps.`)
	useWhile = use(`Write "type": "loop" and "loop": {"type": "while", "condition": {"var": "key"}, "maxIterations": 10}; ` +
		`"body" has the steps.`)
	useApproval = use(`Write "requireConfirmation": {"kind": "human_approval"}.`)
	useConfirm  = use(`Write "requireConfirmation": true.`)
	useCriteria = use(`Write "validationCriteria" for what the notes must have, or "checks" for ` +
		`commands that must pass.`)
	useCall     = use(`Write "templateCall": {"templateId": "wr.templates.routine.NAME"}.`)
	useContract = use(`Write "outputContract": {"contractRef": "wr.contracts.NAME"}; 'waybill ` +
		`workflows builtins' lists them.`)
	useBlocks   = use(`Move it into "promptBlocks".`)
	useParallel = use(`Write "type": "parallel" and "parallelDelegations": [{"workflowId": "NAME"}].`)
	inLoop      = use(`Move it into "loop".`)
	inOrder     = use(`Remove it: "steps" run in their order, and a "runCondition" passes a step over.`)
	useInputs   = use(`Write "inputs": [{"contextKey": "key", "reason": "needs_user_artifact", ` +
		`"description": "what"}].`)
	useRefPart = use(`Write a part {"kind": "ref", "refId": "wr.refs.NAME"} in "promptBlocks".`)
)

// Step are the keys that authors write in a plain step.
var Step = hintsOf(
	as(useCommand, "run", "command", "cmd", "script", "shell", "exec", "argv"),
	as(inAction, "cwd", "workdir", "env", "timeout", "timeoutseconds", "retry", "retries"),
	as(useWait, "wait", "sleep", "delay", "waitfor", "waituntil"),
	as(meant("title"), "name"),
	as(meant("id"), "stepid", "key"),
	as(meant("prompt"), "description", "instructions", "instruction", "text", "task", "message", "do"),
	as(meant("runCondition"), "if", "when", "condition", "onlyif", "runif"),
	as(useApproval,
		"requireapproval", "requiresapproval", "approval", "approve", "humanapproval", "needsapproval",
		"approvers", "reviewers"),
	as(useConfirm, "confirm", "confirmation", "requiresconfirmation", "pause"),
	as(useForEach, "foreach", "for", "over", "items", "withitems"),
	as(useWhile, "while", "until", "loop", "repeat", "maxiterations", "body", "steps"),
	as(useCall, "template", "templateid", "routine", "uses", "call", "with", "args"),
	as(useContract, "contract", "contractref", "artifact", "artifacts", "outputschema", "schema"),
	as(useBlocks, "goal", "constraints", "procedure", "verify", "outputrequired"),
	as(useCriteria, "validation", "validate", "criteria", "assert", "tests", "acceptancecriteria"),
	as(useParallel, "parallel", "delegations", "delegate", "paralleldelegations", "agents"),
	as(inOrder, "next", "goto", "dependson", "after", "before", "needs"),
	as(useInputs, "requires", "input", "params", "parameters"),
	as(use(`Write "notesRequired": true.`), "notes"),
	as(meant("functionDefinitions"), "functions"),
	as(meant("agentRole"), "role"),
	as(meant("modelTier"), "model"),
	as(useRefPart, "refs", "references"),
	as(meant("assessmentRefs"), "assessments"),
	as(use(`Write "outputs": {"key": "stdout"} beside "action".`), "set"),
	as(use(`Move it to the workflow: "conditions" is beside "steps"; a step has a "runCondition".`),
		"conditions"),
)

// Loop are the keys that authors write in a step of type loop.
var Loop = hintsOf(
	as(meant("body"), "steps", "do", "repeat", "children"),
	as(use(`Write "loop": {"type": "forEach", "items": "key", "maxIterations": 10}: "items" `+
		`is the context path of the list.`),
		"over"),
	as(use(`Move it into "loop": {"type": "forEach", "items": "key", "maxIterations": 10}.`), "items"),
	as(use(`Write "loop": {"type": "forEach", "items": "key", "maxIterations": 10}.`), "foreach", "in"),
	as(use(`Write "loop": {"type": "for", "count": 3, "maxIterations": 3}.`), "for", "count", "times"),
	as(use(`Write "loop": {"type": "until", "condition": {"var": "key"}, "maxIterations": 10}.`), "until"),
	as(use(`Move it into "loop"; a "runCondition" decides whether the loop is entered.`), "condition"),
	as(inLoop, "conditionsource", "itemvar", "indexvar", "iterationvar"),
	as(use(`Write "itemVar" in "loop".`), "as"),
	as(meant("maxIterations"), "max", "limit", "maxloops"),
	as(meant("runCondition"), "if", "when", "onlyif"),
	as(meant("title"), "name"),
	as(useApproval, "requireapproval", "approval"),
	as(useConfirm, "confirm"),
	as(use(`Move it into a step of the "body".`), "prompt", "action"),
	as(use(`Move it to the step of the "body" that decides.`), "outputcontract"),
)

// LoopConfig are the keys that authors write in the loop object.
var LoopConfig = hintsOf(
	as(meant("items"), "over", "list", "in", "foreach"),
	as(meant("type"), "kind"),
	as(meant("maxIterations"), "max", "limit"),
	as(meant("count"), "times"),
	as(meant("condition"), "while", "until", "if", "when"),
	as(meant("itemVar"), "as", "item", "var"),
	as(meant("indexVar"), "index"),
	as(use(`Move it beside "loop", as "body".`), "steps"),
	as(use(`Move it beside "loop".`), "body"),
	as(use(`Remove it: the id of the loop is that of its step; "conditionSource" may name `+
		`it as "loopId".`),
		"id", "loopid"),
	as(use(`Write "conditionSource": {"kind": "artifact_contract", "contractRef": `+
		`"wr.contracts.loop_control"}.`),
		"contract"),
)

// Workflow are the keys that authors write in the root of a file.
var Workflow = hintsOf(
	as(meant("id"), "workflowid"),
	as(meant("name"), "title"),
	as(meant("description"), "summary"),
	as(meant("steps"), "stages", "tasks", "jobs", "body"),
	as(meant("agentRole"), "role"),
	as(useInputs, "input", "params", "parameters", "variables", "context"),
	as(meant("functionDefinitions"), "functions"),
	as(meant("metaGuidance"), "guidance", "rules"),
	as(meant("preconditions"), "requires", "prerequisites"),
	as(meant("clarificationPrompts"), "questions"),
	as(meant("extensionPoints"), "slots"),
	as(use(`Declare slots under "extensionPoints"; a project binds them in .waybill/bindings.json.`),
		"bindings"),
	as(use(`Write "recommendedPreferences": {"recommendedAutonomy": "guided"}.`),
		"preferences", "autonomy"),
	as(use(`Write "recommendedPreferences": {"recommendedRiskPolicy": "balanced"}.`), "riskpolicy"),
	as(use(`Remove it: contracts are built in; a step names one in "outputContract".`),
		"contracts", "schemas"),
	as(meant("references"), "docs"),
	as(meant("about"), "documentation", "readme"),
	as(meant("metricsProfile"), "metrics"),
	as(meant("modelTier"), "model"),
	as(use(`Remove it; "version" is that of the file.`), "schemaversion"),
	as(use(`Write a step of "type": "loop" in "steps".`), "loops"),
	as(use(`Move it into the "action" of a step in "steps".`), "env"),
	as(use(`Move them into a file NAME.test.yaml; a step in "steps" has "checks".`), "tests"),
)

// The hints of smaller objects.
var (
	// Command: an action of kind command.
	Command = hintsOf(
		as(use(`Write "argv": ["program", "argument"], passed without a shell.`), "command", "cmd", "run"),
		as(use(`Write the arguments behind the program, in "argv".`), "args"),
		as(use(`Write "argv": ["sh", "-c", "the script"].`), "script", "shell"),
		as(use(`Write it first in "argv".`), "program"),
		as(meant("cwd"), "workdir", "dir", "workingdirectory"),
		as(meant("env"), "environment"),
		as(meant("timeoutSeconds"), "timeout"),
		as(use(`Write "timeoutSeconds", in seconds.`), "timeoutms"),
		as(use(`Write "retry": {"maxAttempts": 3}.`), "retries"),
		as(meant("kind"), "type"),
		as(meant("literal"), "raw"),
		as(use(`Move it beside "action" (not in "argv" or "env").`), "outputs"),
	)
	// Check: a check.
	Check = hintsOf(
		as(use(`Write "argv": ["program", "argument"], passed without a shell.`), "command", "run"),
		as(meant("id"), "name"),
		as(meant("timeoutSeconds"), "timeout"),
		as(meant("pins"), "files"),
		as(meant("cwd"), "dir"),
		as(use(`Write "expect": {"exit": 0}.`), "exit"),
		as(use(`Write "expect": {"stdout": {"pointer": "/version"}}.`), "stdout"),
		as(use(`Write "expect": {"tests": {"min": 1}}.`), "tests"),
		as(use(`Remove it: a check is always a command, "argv".`), "kind"),
	)
	// Retry: the retry of a command.
	Retry = hintsOf(
		as(meant("maxAttempts"), "attempts", "max", "count"),
		as(meant("backoffSeconds"), "backoff", "delay", "delayseconds"),
	)
	// Wait: an action of kind wait.
	Wait = hintsOf(
		as(meant("for"), "duration"),
		as(use(`Write "for": "90s".`), "seconds"),
		as(meant("until"), "at", "date"),
		as(meant("kind"), "type"),
	)
	// Approval: requireConfirmation.
	Approval = hintsOf(
		as(meant("approvers"), "roles", "by"),
		as(meant("count"), "min", "needed", "quorum"),
		as(meant("expiresAfter"), "expires", "timeout"),
		as(meant("condition"), "if", "when"),
		as(meant("kind"), "type"),
	)
	// Input: a declared input.
	Input = hintsOf(
		as(meant("contextKey"), "key", "name", "id"),
		as(meant("reason"), "why"),
		as(meant("description"), "prompt"),
		as(meant("choices"), "options", "enum"),
		as(use(`Remove it: an input is always required; leave out "contextKey" and all for an `+
			`optional one.`),
			"required"),
		as(use(`Remove it: the caller sets "contextKey" with --set.`), "default"),
		as(use(`Remove it: "choices" restrict the value.`), "type"),
	)
	// PromptBlocks: promptBlocks.
	PromptBlocks = hintsOf(
		as(meant("goal"), "task", "objective"),
		as(meant("constraints"), "rules"),
		as(meant("procedure"), "steps"),
		as(meant("outputRequired"), "output", "outputs"),
		as(meant("verify"), "verification", "checks"),
	)
	// Fragment: a prompt fragment.
	Fragment = hintsOf(
		as(meant("when"), "if", "condition", "runcondition"),
		as(meant("text"), "prompt"),
	)
	// Contract: outputContract.
	Contract = hintsOf(
		as(meant("contractRef"), "ref", "contract", "id", "kind"),
		as(use(`Write "required": false.`), "optional"),
		as(use(`Remove it: contracts are built in; name one as "contractRef".`), "schema"),
	)
	// TemplateCall: templateCall.
	TemplateCall = hintsOf(
		as(meant("templateId"), "template", "id", "routine"),
		as(meant("args"), "arguments", "params", "with", "inputs"),
	)
	// TemplateCallStep: a step of type template_call.
	TemplateCallStep = hintsOf(
		as(use(`Move it into "templateCall".`), "templateid", "template", "args", "with"),
		as(meant("runCondition"), "if", "when", "condition"),
		as(meant("title"), "name"),
		as(useApproval, "requireapproval", "approval"),
		as(use(`Write it into the routine, or into a step beside the "templateCall".`),
			"prompt", "inputs", "notesrequired", "output", "outputcontract", "validationcriteria"),
	)
	// Function: a function definition.
	Function = hintsOf(
		as(meant("definition"), "body", "text", "description"),
		as(meant("parameters"), "params"),
		as(meant("name"), "id"),
	)
	// Reference: a reference of the workflow.
	Reference = hintsOf(
		as(meant("source"), "path", "url", "file"),
		as(meant("title"), "name"),
		as(meant("purpose"), "description"),
	)
	// ExtensionPoint: an extension point.
	ExtensionPoint = hintsOf(
		as(meant("slotId"), "id", "slot", "name"),
		as(meant("purpose"), "description"),
		as(meant("default"), "routine"),
		as(meant("acceptedKinds"), "kinds"),
	)
	// Delegation: a task of a parallel step.
	Delegation = hintsOf(
		as(meant("workflowId"), "workflow", "routine", "agent"),
		as(meant("goal"), "prompt", "task"),
		as(meant("allowedTools"), "tools"),
		as(meant("contextMapping"), "context"),
		as(meant("runCondition"), "when", "if"),
	)
	// Parallel: a step of type parallel.
	Parallel = hintsOf(
		as(meant("parallelDelegations"), "delegations", "tasks", "agents"),
		as(meant("title"), "name"),
		as(meant("runCondition"), "if", "when"),
		as(use(`Write "synthesis": {"prompt": "…"} for what follows; each task has its "goal" `+
			`in "parallelDelegations".`),
			"prompt"),
		as(use(`Write "parallelDelegations": each task names a routine; the steps of a loop are `+
			`its "body".`),
			"steps"),
		as(use(`Move it into "synthesis".`), "outputcontract"),
	)
	// Recommended: recommendedPreferences.
	Recommended = hintsOf(
		as(meant("recommendedAutonomy"), "autonomy"),
		as(meant("recommendedRiskPolicy"), "riskpolicy", "risk"),
	)
	// Consequence: an assessment consequence.
	Consequence = hintsOf(
		as(meant("when"), "if"),
		as(meant("effect"), "then"),
		as(use(`Move it into "when".`), "anyequalslevel"),
		as(use(`Move it into "effect".`), "guidance"),
	)
	// Assessment: an assessment.
	Assessment = hintsOf(
		as(meant("id"), "name"),
		as(meant("purpose"), "description"),
		as(meant("dimensions"), "criteria"),
	)
	// Dimension: a dimension of an assessment.
	Dimension = hintsOf(
		as(meant("id"), "name"),
		as(meant("purpose"), "description"),
		as(meant("levels"), "values", "scale"),
	)
)
