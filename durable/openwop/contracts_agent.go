package openwop

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// agentContracts are the payloads about agents, orchestrators and conversations. Waybill sends none.
var agentContracts = []contract{
	{"agent.reasoned", open, "a thought", fields{{"agentId", agentID, required}, {"reasoning", anyText, required},
		{"verbosity", verbosity, optional}, host}},
	{"agent.reasoning.delta", open, "a part of a thought", fields{{"agentId", agentID, required},
		{"delta", anyText, required}, {"sequence", count, required}, {"verbosity", verbosity, optional}}},
	{"agent.toolCalled", open, "a call of a tool", fields{{"agentId", agentID, required},
		{"toolName", someText, required}, {"callId", someText, required}, {"inputs", shape.Anything{}, optional}, host}},
	{"agent.toolReturned", open, "the result of a tool", fields{{"agentId", agentID, required},
		{"toolName", someText, required}, {"callId", someText, required}, {"outcome", shape.Anything{}, optional},
		{"error", errorObject, optional}, host}},
	{"agent.handoff", open, "a hand-off", fields{{"fromAgentId", agentID, required}, {"toAgentId", agentID, required},
		{"reason", anyText, optional}, host}},
	{"agent.decided", open, "a decision", fields{{"agentId", agentID, required},
		{"decision", shape.Anything{}, required}, {"confidence", portion, optional}, host}},
	{"runOrchestrator.decided", closed, "a decision", fields{{"agentId", agentID, required},
		{"decision", orchestratorDecision, required}, {"iteration", atLeastOne, optional}, host}},
	{"core.workflowChain.event", closed, "a transition", fields{{"phase", phase, required},
		{"workerId", someText, required}, {"parentRunId", someText, required}, {"childRunId", someText, optional},
		{"harvestedKeys", texts, optional}, {"error", errorObject, optional}, host}},
	{"core.workflowChain.confidence-escalated", closed, "an escalation", fields{{"confidence", portion, required},
		{"floor", shape.Amount{Min: 0.5, Max: 1}, required},
		{"escalationKind", shape.Words{"clarify", "escalate"}, required}, {"workerId", someText, optional},
		{"parentRunId", someText, required}, {"originalDecision", orchestratorDecision, optional}, host}},
	{"conversation.opened", open, "a conversation", fields{conversationID, {"openedBy", anyText, optional}}},
	{"conversation.exchanged", open, "a turn", fields{conversationID, {"turnIndex", count, required},
		{"outcome", shape.Anything{}, optional}}},
	{"conversation.closed", open, "the end of a conversation", fields{conversationID, {"reason", anyText, optional},
		{"turnCount", count, optional}}},
}

var (
	phase = shape.Words{"dispatch.began", "dispatch.succeeded", "dispatch.failed", "child.completed", "child.failed",
		"child.cancelled", "output.harvested"}
	verbosity      = shape.Words{"summary", "full", "off"}
	conversationID = shape.Field{"conversationId", shape.Text{Min: 1, Max: 256}, required}

	// orchestratorDecision is what an orchestrator decides.
	orchestratorDecision = shape.ByTag{Key: "kind", Text: "a decision", Cases: map[string]shape.Shape{
		"next-worker": shape.Object{What: "a decision", Fields: []shape.Field{{"kind", anyText, required},
			{"nextWorkerIds", shape.List{Of: shape.Text{Min: 1, Max: 256}, Min: 1}, required},
			{"confidence", portion, optional}}},
		"ask-user": shape.Object{What: "a decision", Fields: []shape.Field{{"kind", anyText, required}, {"prompt", someText, required}}},
		"terminate": shape.Object{What: "a decision", Fields: []shape.Field{{"kind", anyText, required}, {"reason", someText, optional},
			{"confidence", portion, optional}, {"successCriteria", shape.List{Of: shape.Object{What: "a criterion", Fields: []shape.Field{
				{"key", someText, required}, {"met", boolean, required}}}}, optional}}},
	}}
)

// promptContracts are the payloads about prompts and the use of models. Waybill sends none.
var promptContracts = []contract{
	{"provider.usage", closed, "the use of a model", fields{{"provider", someText, required},
		{"model", someText, required}, {"inputTokens", count, required}, {"outputTokens", count, required},
		{"totalTokens", count, optional}, {"costEstimateUsd", shape.Amount{}, optional},
		{"currency", shape.Text{Pattern: pattern.New("^[A-Z]{3}$"), Like: "three capital letters"}, optional},
		{"cacheHit", boolean, optional}, {"cacheReadTokens", count, optional}, {"cacheWriteTokens", count, optional},
		{"nodeId", anyText, optional}, {"traceId", anyText, optional}}},
	{"prompt.composed", closed, "a prompt", fields{{"nodeId", anyText, required},
		{"refs", shape.List{Of: shape.Text{Pattern: promptRef, Like: "a reference to a prompt"}}, required},
		{"kind", shape.Words{"system+user", "system-only", "user-only", "agent-reasoning"}, required},
		{"hash", digestText, required}, {"composed", anyText, optional}, {"systemPrompt", anyText, optional},
		{"userPrompt", anyText, optional}, {"variableBindings", anyObject, optional},
		{"variableHashes", shape.Dictionary{Value: digestText}, optional},
		{"contentTrust", shape.Words{"trusted", "untrusted"}, optional}, host}},
	{"agent.promptResolved", closed, "a resolved prompt", fields{{"nodeId", anyText, required},
		{"kind", shape.Words{"system", "user", "few-shot", "schema-hint"}, required}, {"agentId", anyText, optional},
		{"chain", shape.List{Of: shape.Object{What: "a layer", Fields: []shape.Field{{"layer", shape.Words{"run-configurable",
			"node", "agent-intrinsic", "agent-overrides", "agent-library-default", "workflow-defaults", "host-defaults"}, required},
			{"source", anyText, optional}, {"applied", boolean, required}, {"reason", anyText, optional}}}}, required},
		{"resolved", textOrNull, required}, host}},
	{"model.capability.substituted", closed, "another model", fields{{"nodeId", anyText, required},
		{"originalProvider", anyText, required}, {"originalModel", anyText, required},
		{"fallbackProvider", anyText, required}, {"fallbackModel", anyText, required},
		{"missingCapabilities", shape.List{Of: anyText, Unique: true}, required}}},
	{"model.capability.insufficient", closed, "a model that is refused", fields{{"nodeId", anyText, required},
		{"provider", anyText, required}, {"model", anyText, required},
		{"missingCapabilities", shape.List{Of: anyText, Unique: true}, required},
		{"fallbackAttempted", boolean, optional}}},
	{"memory.compacted", open, "a compacted memory", fields{{"memoryRef", someText, required},
		{"outputId", someText, required}, {"sourceIds", shape.List{Of: someText}, optional},
		{"sourceCount", atLeastOne, required},
		{"trigger", shape.Words{"host-managed", "client-requested", "both"}, required}, {"byteSize", count, required}}},
}

// promptRef matches a reference to a prompt, with or without a version.
var promptRef = pattern.New(`^prompt:[a-z0-9][a-z0-9._-]{0,127}(@\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)?$`)

// envelopeContracts are the payloads about the envelopes that models answer with. Waybill sends none.
var envelopeContracts = []contract{
	{"envelope.retry.attempted", closed, "a further try", fields{{"nodeId", anyText, required},
		{"attempt", shape.Amount{Min: 1, Max: 16, Whole: true}, required}, {"reason", envelopeReason, required},
		{"previousError", textOrNull, optional}}},
	{"envelope.retry.exhausted", closed, "the last try", fields{{"nodeId", anyText, required},
		{"totalAttempts", atLeastOne, required}, {"finalReason", envelopeReason, required},
		{"finalError", textOrNull, optional}}},
	{"envelope.refusal", closed, "a refusal", fields{{"nodeId", anyText, required}, {"provider", anyText, required},
		{"model", anyText, required}, {"refusalText", textOrNull, optional}, {"safetyCategory", textOrNull, optional}}},
	{"envelope.truncated", closed, "a truncated envelope", fields{{"nodeId", anyText, required},
		{"provider", anyText, required}, {"model", anyText, required},
		{"stopReason", shape.Words{"max_tokens", "length", "stop_sequence", "unknown"}, required},
		{"partialPayloadAvailable", boolean, optional}, {"outputTokenCount", countOrNull, optional}}},
	{"envelope.nlToFormat.engaged", closed, "a second call", fields{{"nodeId", anyText, required},
		{"originalEnvelopeType", anyText, required}, {"fallbackCalls", atLeastOne, optional}}},
	{"envelope.recovery.applied", closed, "a recovered envelope", fields{{"nodeId", anyText, required},
		{"path", shape.Words{"direct", "jsonrepair", "markdown-fence", "brace-walker", "custom"}, required},
		{"byteOffset", countOrNull, optional}}},
}

var (
	countOrNull = shape.ByKind{canon.Null: shape.OneKind{Kind: canon.Null, Text: "null"}, canon.Number: count}
	// envelopeReason is a reason of the closed set, or one of a host.
	envelopeReason = shape.Text{Like: "a reason, or x-host-HOST-REASON", Pattern: pattern.New(
		"^(schema-violation|truncation|type-drift|type-mismatch|refusal|parse-error|unknown|" +
			"x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*)$")}
)
