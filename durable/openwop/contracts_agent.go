package openwop

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// agentContracts are the payloads about agents, orchestrators and conversations. Waybill sends none.
var agentContracts = []contract{
	{"agent.reasoned", open, "a thought", fields{shape.Need("agentId", agentID), shape.Need("reasoning", anyText),
		shape.May("verbosity", verbosity), host}},
	{"agent.reasoning.delta", open, "a part of a thought", fields{shape.Need("agentId", agentID),
		shape.Need("delta", anyText), shape.Need("sequence", count), shape.May("verbosity", verbosity)}},
	{"agent.toolCalled", open, "a call of a tool", fields{shape.Need("agentId", agentID),
		shape.Need("toolName", someText), shape.Need("callId", someText), shape.May("inputs", shape.Anything{}), host}},
	{"agent.toolReturned", open, "the result of a tool", fields{shape.Need("agentId", agentID),
		shape.Need("toolName", someText), shape.Need("callId", someText), shape.May("outcome", shape.Anything{}),
		shape.May("error", errorObject), host}},
	{"agent.handoff", open, "a hand-off", fields{shape.Need("fromAgentId", agentID), shape.Need("toAgentId", agentID),
		shape.May("reason", anyText), host}},
	{"agent.decided", open, "a decision", fields{shape.Need("agentId", agentID),
		shape.Need("decision", shape.Anything{}), shape.May("confidence", portion), host}},
	{"runOrchestrator.decided", closed, "a decision", fields{shape.Need("agentId", agentID),
		shape.Need("decision", orchestratorDecision), shape.May("iteration", atLeastOne), host}},
	{"core.workflowChain.event", closed, "a transition", fields{shape.Need("phase", phase),
		shape.Need("workerId", someText), shape.Need("parentRunId", someText), shape.May("childRunId", someText),
		shape.May("harvestedKeys", texts), shape.May("error", errorObject), host}},
	{"core.workflowChain.confidence-escalated", closed, "an escalation", fields{shape.Need("confidence", portion),
		shape.Need("floor", shape.Amount{Min: 0.5, Max: 1}),
		shape.Need("escalationKind", shape.OneOf("clarify", "escalate")), shape.May("workerId", someText),
		shape.Need("parentRunId", someText), shape.May("originalDecision", orchestratorDecision), host}},
	{"conversation.opened", open, "a conversation", fields{conversationID, shape.May("openedBy", anyText)}},
	{"conversation.exchanged", open, "a turn", fields{conversationID, shape.Need("turnIndex", count),
		shape.May("outcome", shape.Anything{})}},
	{"conversation.closed", open, "the end of a conversation", fields{conversationID, shape.May("reason", anyText),
		shape.May("turnCount", count)}},
}

var (
	phase = shape.OneOf("dispatch.began", "dispatch.succeeded", "dispatch.failed", "child.completed", "child.failed",
		"child.cancelled", "output.harvested")
	verbosity      = shape.OneOf("summary", "full", "off")
	conversationID = shape.Need("conversationId", shape.Text{Min: 1, Max: 256})

	// orchestratorDecision is what an orchestrator decides.
	orchestratorDecision = shape.ByTag{Key: "kind", Text: "a decision", Cases: map[string]shape.Shape{
		"next-worker": shape.ObjectOf("a decision", shape.Need("kind", anyText),
			shape.Need("nextWorkerIds", shape.List{Of: shape.Text{Min: 1, Max: 256}, Min: 1}),
			shape.May("confidence", portion)),
		"ask-user": shape.ObjectOf("a decision", shape.Need("kind", anyText), shape.Need("prompt", someText)),
		"terminate": shape.ObjectOf("a decision", shape.Need("kind", anyText), shape.May("reason", someText),
			shape.May("confidence", portion), shape.May("successCriteria", shape.List{Of: shape.ObjectOf("a criterion",
				shape.Need("key", someText), shape.Need("met", boolean))})),
	}}
)

// promptContracts are the payloads about prompts and the use of models. Waybill sends none.
var promptContracts = []contract{
	{"provider.usage", closed, "the use of a model", fields{shape.Need("provider", someText),
		shape.Need("model", someText), shape.Need("inputTokens", count), shape.Need("outputTokens", count),
		shape.May("totalTokens", count), shape.May("costEstimateUsd", shape.Amount{}),
		shape.May("currency", shape.Text{Pattern: pattern.New("^[A-Z]{3}$"), Like: "three capital letters"}),
		shape.May("cacheHit", boolean), shape.May("cacheReadTokens", count), shape.May("cacheWriteTokens", count),
		shape.May("nodeId", anyText), shape.May("traceId", anyText)}},
	{"prompt.composed", closed, "a prompt", fields{shape.Need("nodeId", anyText),
		shape.Need("refs", shape.List{Of: shape.Text{Pattern: promptRef, Like: "a reference to a prompt"}}),
		shape.Need("kind", shape.OneOf("system+user", "system-only", "user-only", "agent-reasoning")),
		shape.Need("hash", digestText), shape.May("composed", anyText), shape.May("systemPrompt", anyText),
		shape.May("userPrompt", anyText), shape.May("variableBindings", anyObject),
		shape.May("variableHashes", shape.Dictionary{Value: digestText}),
		shape.May("contentTrust", shape.OneOf("trusted", "untrusted")), host}},
	{"agent.promptResolved", closed, "a resolved prompt", fields{shape.Need("nodeId", anyText),
		shape.Need("kind", shape.OneOf("system", "user", "few-shot", "schema-hint")), shape.May("agentId", anyText),
		shape.Need("chain", shape.List{Of: shape.ObjectOf("a layer", shape.Need("layer", shape.OneOf("run-configurable",
			"node", "agent-intrinsic", "agent-overrides", "agent-library-default", "workflow-defaults", "host-defaults")),
			shape.May("source", anyText), shape.Need("applied", boolean), shape.May("reason", anyText))}),
		shape.Need("resolved", textOrNull), host}},
	{"model.capability.substituted", closed, "another model", fields{shape.Need("nodeId", anyText),
		shape.Need("originalProvider", anyText), shape.Need("originalModel", anyText),
		shape.Need("fallbackProvider", anyText), shape.Need("fallbackModel", anyText),
		shape.Need("missingCapabilities", shape.List{Of: anyText, Unique: true})}},
	{"model.capability.insufficient", closed, "a model that is refused", fields{shape.Need("nodeId", anyText),
		shape.Need("provider", anyText), shape.Need("model", anyText),
		shape.Need("missingCapabilities", shape.List{Of: anyText, Unique: true}),
		shape.May("fallbackAttempted", boolean)}},
	{"memory.compacted", open, "a compacted memory", fields{shape.Need("memoryRef", someText),
		shape.Need("outputId", someText), shape.May("sourceIds", shape.List{Of: someText}),
		shape.Need("sourceCount", atLeastOne),
		shape.Need("trigger", shape.OneOf("host-managed", "client-requested", "both")), shape.Need("byteSize", count)}},
}

// promptRef matches a reference to a prompt, with or without a version.
var promptRef = pattern.New(`^prompt:[a-z0-9][a-z0-9._-]{0,127}(@\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)?$`)

// envelopeContracts are the payloads about the envelopes that models answer with. Waybill sends none.
var envelopeContracts = []contract{
	{"envelope.retry.attempted", closed, "a further try", fields{shape.Need("nodeId", anyText),
		shape.Need("attempt", shape.Amount{Min: 1, Max: 16, Whole: true}), shape.Need("reason", envelopeReason),
		shape.May("previousError", textOrNull)}},
	{"envelope.retry.exhausted", closed, "the last try", fields{shape.Need("nodeId", anyText),
		shape.Need("totalAttempts", atLeastOne), shape.Need("finalReason", envelopeReason),
		shape.May("finalError", textOrNull)}},
	{"envelope.refusal", closed, "a refusal", fields{shape.Need("nodeId", anyText), shape.Need("provider", anyText),
		shape.Need("model", anyText), shape.May("refusalText", textOrNull), shape.May("safetyCategory", textOrNull)}},
	{"envelope.truncated", closed, "a truncated envelope", fields{shape.Need("nodeId", anyText),
		shape.Need("provider", anyText), shape.Need("model", anyText),
		shape.Need("stopReason", shape.OneOf("max_tokens", "length", "stop_sequence", "unknown")),
		shape.May("partialPayloadAvailable", boolean), shape.May("outputTokenCount", countOrNull)}},
	{"envelope.nlToFormat.engaged", closed, "a second call", fields{shape.Need("nodeId", anyText),
		shape.Need("originalEnvelopeType", anyText), shape.May("fallbackCalls", atLeastOne)}},
	{"envelope.recovery.applied", closed, "a recovered envelope", fields{shape.Need("nodeId", anyText),
		shape.Need("path", shape.OneOf("direct", "jsonrepair", "markdown-fence", "brace-walker", "custom")),
		shape.May("byteOffset", countOrNull)}},
}

var (
	countOrNull = shape.ByKind{canon.Null: shape.OneKind{Kind: canon.Null, Text: "null"}, canon.Number: count}
	// envelopeReason is a reason of the closed set, or one of a host.
	envelopeReason = shape.Text{Like: "a reason, or x-host-HOST-REASON", Pattern: pattern.New(
		"^(schema-violation|truncation|type-drift|type-mismatch|refusal|parse-error|unknown|" +
			"x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*)$")}
)
