// Package keyhints holds the keys that authors of workflow files write for others: names of other
// formats, and keys at the wrong place. Each table belongs to one object of the format; package source
// reports an unknown key with its correction.
//
// The package knows neither the format nor the nearest name of a misspelt key: package shape suggests
// that for all other keys.
package keyhints

import "github.com/waybill/waybill/durable/workflow/shape"

// meant is shape.Meant. A variable would make code of the tables, which are data of the binary.
func meant(key string) shape.Hint { return shape.Meant(key) }

// use returns a hint with a correction only: the value that the author wrote belongs elsewhere, or
// has another form there.
func use(fix string) shape.Hint { return shape.Hint{Fix: fix} }

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
var Step = shape.Hints{
	{useCommand, "run command cmd script shell exec argv"},
	{inAction, "cwd workdir env timeout timeoutseconds retry retries"},
	{useWait, "wait sleep delay waitfor waituntil"},
	{meant("title"), "name"},
	{meant("id"), "stepid key"},
	{meant("prompt"), "description instructions instruction text task message do"},
	{meant("runCondition"), "if when condition onlyif runif"},
	{useApproval,
		"requireapproval requiresapproval approval approve humanapproval needsapproval approvers reviewers"},
	{useConfirm, "confirm confirmation requiresconfirmation pause"},
	{useForEach, "foreach for over items withitems"},
	{useWhile, "while until loop repeat maxiterations body steps"},
	{useCall, "template templateid routine uses call with args"},
	{useContract, "contract contractref artifact artifacts outputschema schema"},
	{useBlocks, "goal constraints procedure verify outputrequired"},
	{useCriteria, "validation validate criteria assert tests acceptancecriteria"},
	{useParallel, "parallel delegations delegate paralleldelegations agents"},
	{inOrder, "next goto dependson after before needs"},
	{useInputs, "requires input params parameters"},
	{use(`Write "notesRequired": true.`), "notes"},
	{meant("functionDefinitions"), "functions"},
	{meant("agentRole"), "role"},
	{meant("modelTier"), "model"},
	{useRefPart, "refs references"},
	{meant("assessmentRefs"), "assessments"},
	{use(`Write "outputs": {"key": "stdout"} beside "action".`), "set"},
	{use(`Move it to the workflow: "conditions" is beside "steps"; a step has a "runCondition".`), "conditions"},
}

// Loop are the keys that authors write in a step of type loop.
var Loop = shape.Hints{
	{meant("body"), "steps do repeat children"},
	{use(`Write "loop": {"type": "forEach", "items": "key", "maxIterations": 10}: "items" ` +
		`is the context path of the list.`),
		"over"},
	{use(`Move it into "loop": {"type": "forEach", "items": "key", "maxIterations": 10}.`), "items"},
	{use(`Write "loop": {"type": "forEach", "items": "key", "maxIterations": 10}.`), "foreach in"},
	{use(`Write "loop": {"type": "for", "count": 3, "maxIterations": 3}.`), "for count times"},
	{use(`Write "loop": {"type": "until", "condition": {"var": "key"}, "maxIterations": 10}.`), "until"},
	{use(`Move it into "loop"; a "runCondition" decides whether the loop is entered.`), "condition"},
	{inLoop, "conditionsource itemvar indexvar iterationvar"},
	{use(`Write "itemVar" in "loop".`), "as"},
	{meant("maxIterations"), "max limit maxloops"},
	{meant("runCondition"), "if when onlyif"},
	{meant("title"), "name"},
	{useApproval, "requireapproval approval"},
	{useConfirm, "confirm"},
	{use(`Move it into a step of the "body".`), "prompt action"},
	{use(`Move it to the step of the "body" that decides.`), "outputcontract"},
}

// LoopConfig are the keys that authors write in the loop object.
var LoopConfig = shape.Hints{
	{meant("items"), "over list in foreach"},
	{meant("type"), "kind"},
	{meant("maxIterations"), "max limit"},
	{meant("count"), "times"},
	{meant("condition"), "while until if when"},
	{meant("itemVar"), "as item var"},
	{meant("indexVar"), "index"},
	{use(`Move it beside "loop", as "body".`), "steps"},
	{use(`Move it beside "loop".`), "body"},
	{use(`Remove it: the id of the loop is that of its step; "conditionSource" may name ` +
		`it as "loopId".`),
		"id loopid"},
	{use(`Write "conditionSource": {"kind": "artifact_contract", "contractRef": ` +
		`"wr.contracts.loop_control"}.`),
		"contract"},
}

// Workflow are the keys that authors write in the root of a file.
var Workflow = shape.Hints{
	{meant("id"), "workflowid"},
	{meant("name"), "title"},
	{meant("description"), "summary"},
	{meant("steps"), "stages tasks jobs body"},
	{meant("agentRole"), "role"},
	{useInputs, "input params parameters variables context"},
	{meant("functionDefinitions"), "functions"},
	{meant("metaGuidance"), "guidance rules"},
	{meant("preconditions"), "requires prerequisites"},
	{meant("clarificationPrompts"), "questions"},
	{meant("extensionPoints"), "slots"},
	{use(`Declare slots under "extensionPoints"; a project binds them in .waybill/bindings.json.`), "bindings"},
	{use(`Write "recommendedPreferences": {"recommendedAutonomy": "guided"}.`), "preferences autonomy"},
	{use(`Write "recommendedPreferences": {"recommendedRiskPolicy": "balanced"}.`), "riskpolicy"},
	{use(`Remove it: contracts are built in; a step names one in "outputContract".`), "contracts schemas"},
	{meant("references"), "docs"},
	{meant("about"), "documentation readme"},
	{meant("metricsProfile"), "metrics"},
	{meant("modelTier"), "model"},
	{use(`Remove it; "version" is that of the file.`), "schemaversion"},
	{use(`Write a step of "type": "loop" in "steps".`), "loops"},
	{use(`Move it into the "action" of a step in "steps".`), "env"},
	{use(`Move them into a file NAME.test.yaml; a step in "steps" has "checks".`), "tests"},
}

// The hints of smaller objects.
var (
	// Command: an action of kind command.
	Command = shape.Hints{
		{use(`Write "argv": ["program", "argument"], passed without a shell.`), "command cmd run"},
		{use(`Write the arguments behind the program, in "argv".`), "args"},
		{use(`Write "argv": ["sh", "-c", "the script"].`), "script shell"},
		{use(`Write it first in "argv".`), "program"},
		{meant("cwd"), "workdir dir workingdirectory"},
		{meant("env"), "environment"},
		{meant("timeoutSeconds"), "timeout"},
		{use(`Write "timeoutSeconds", in seconds.`), "timeoutms"},
		{use(`Write "retry": {"maxAttempts": 3}.`), "retries"},
		{meant("kind"), "type"},
		{meant("literal"), "raw"},
		{use(`Move it beside "action" (not in "argv" or "env").`), "outputs"},
	}
	// Check: a check.
	Check = shape.Hints{
		{use(`Write "argv": ["program", "argument"], passed without a shell.`), "command run"},
		{meant("id"), "name"},
		{meant("timeoutSeconds"), "timeout"},
		{meant("pins"), "files"},
		{meant("cwd"), "dir"},
		{use(`Write "expect": {"exit": 0}.`), "exit"},
		{use(`Write "expect": {"stdout": {"pointer": "/version"}}.`), "stdout"},
		{use(`Write "expect": {"tests": {"min": 1}}.`), "tests"},
		{use(`Remove it: a check is always a command, "argv".`), "kind"},
	}
	// Retry: the retry of a command.
	Retry = shape.Hints{
		{meant("maxAttempts"), "attempts max count"},
		{meant("backoffSeconds"), "backoff delay delayseconds"},
	}
	// Wait: an action of kind wait.
	Wait = shape.Hints{
		{meant("for"), "duration"},
		{use(`Write "for": "90s".`), "seconds"},
		{meant("until"), "at date"},
		{meant("kind"), "type"},
	}
	// Approval: requireConfirmation.
	Approval = shape.Hints{
		{meant("approvers"), "roles by"},
		{meant("count"), "min needed quorum"},
		{meant("expiresAfter"), "expires timeout"},
		{meant("condition"), "if when"},
		{meant("kind"), "type"},
	}
	// Input: a declared input.
	Input = shape.Hints{
		{meant("contextKey"), "key name id"},
		{meant("reason"), "why"},
		{meant("description"), "prompt"},
		{meant("choices"), "options enum"},
		{use(`Remove it: an input is always required; leave out "contextKey" and all for an ` +
			`optional one.`),
			"required"},
		{use(`Remove it: the caller sets "contextKey" with --set.`), "default"},
		{use(`Remove it: "choices" restrict the value.`), "type"},
	}
	// PromptBlocks: promptBlocks.
	PromptBlocks = shape.Hints{
		{meant("goal"), "task objective"},
		{meant("constraints"), "rules"},
		{meant("procedure"), "steps"},
		{meant("outputRequired"), "output outputs"},
		{meant("verify"), "verification checks"},
	}
	// Fragment: a prompt fragment.
	Fragment = shape.Hints{
		{meant("when"), "if condition runcondition"},
		{meant("text"), "prompt"},
	}
	// Contract: outputContract.
	Contract = shape.Hints{
		{meant("contractRef"), "ref contract id kind"},
		{use(`Write "required": false.`), "optional"},
		{use(`Remove it: contracts are built in; name one as "contractRef".`), "schema"},
	}
	// TemplateCall: templateCall.
	TemplateCall = shape.Hints{
		{meant("templateId"), "template id routine"},
		{meant("args"), "arguments params with inputs"},
	}
	// TemplateCallStep: a step of type template_call.
	TemplateCallStep = shape.Hints{
		{use(`Move it into "templateCall".`), "templateid template args with"},
		{meant("runCondition"), "if when condition"},
		{meant("title"), "name"},
		{useApproval, "requireapproval approval"},
		{use(`Write it into the routine, or into a step beside the "templateCall".`),
			"prompt inputs notesrequired output outputcontract validationcriteria"},
	}
	// Function: a function definition.
	Function = shape.Hints{
		{meant("definition"), "body text description"},
		{meant("parameters"), "params"},
		{meant("name"), "id"},
	}
	// Reference: a reference of the workflow.
	Reference = shape.Hints{
		{meant("source"), "path url file"},
		{meant("title"), "name"},
		{meant("purpose"), "description"},
	}
	// ExtensionPoint: an extension point.
	ExtensionPoint = shape.Hints{
		{meant("slotId"), "id slot name"},
		{meant("purpose"), "description"},
		{meant("default"), "routine"},
		{meant("acceptedKinds"), "kinds"},
	}
	// Delegation: a task of a parallel step.
	Delegation = shape.Hints{
		{meant("workflowId"), "workflow routine agent"},
		{meant("goal"), "prompt task"},
		{meant("allowedTools"), "tools"},
		{meant("contextMapping"), "context"},
		{meant("runCondition"), "when if"},
	}
	// Parallel: a step of type parallel.
	Parallel = shape.Hints{
		{meant("parallelDelegations"), "delegations tasks agents"},
		{meant("title"), "name"},
		{meant("runCondition"), "if when"},
		{use(`Write "synthesis": {"prompt": "…"} for what follows; each task has its "goal" ` +
			`in "parallelDelegations".`),
			"prompt"},
		{use(`Write "parallelDelegations": each task names a routine; the steps of a loop are ` +
			`its "body".`),
			"steps"},
		{use(`Move it into "synthesis".`), "outputcontract"},
	}
	// Recommended: recommendedPreferences.
	Recommended = shape.Hints{
		{meant("recommendedAutonomy"), "autonomy"},
		{meant("recommendedRiskPolicy"), "riskpolicy risk"},
	}
	// Consequence: an assessment consequence.
	Consequence = shape.Hints{
		{meant("when"), "if"},
		{meant("effect"), "then"},
		{use(`Move it into "when".`), "anyequalslevel"},
		{use(`Move it into "effect".`), "guidance"},
	}
	// Assessment: an assessment.
	Assessment = shape.Hints{
		{meant("id"), "name"},
		{meant("purpose"), "description"},
		{meant("dimensions"), "criteria"},
	}
	// Dimension: a dimension of an assessment.
	Dimension = shape.Hints{
		{meant("id"), "name"},
		{meant("purpose"), "description"},
		{meant("levels"), "values scale"},
	}
)
