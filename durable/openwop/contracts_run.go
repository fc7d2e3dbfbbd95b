package openwop

import "github.com/waybill/waybill/durable/workflow/shape"

// runContracts are the payloads about a run as a whole, and of messages that are in no log.
var runContracts = []contract{
	{RunStarted, open, "the start of a run", fields{{"workflowId", someText, required}, {"inputs", anyObject, optional},
		{"transport", shape.Words{"rest", "mcp", "a2a", "ui"}, optional}, {"engineVersion", anyText, optional},
		{"tags", texts, optional}, {"metadata", anyObject, optional}}},
	{RunCompleted, open, "the end of a run", fields{{"outputs", anyObject, optional}, {"durationMs", count, optional}}},
	{RunFailed, open, "the end of a run", fields{{"error", errorObject, required}, {"failedNodeId", anyText, optional},
		{"durationMs", count, optional}}},
	{RunCancelled, open, "the end of a run", fields{{"reason", anyText, optional}, {"cancelledBy", anyText, optional},
		{"durationMs", count, optional}, {"parentRunId", someText, optional}}},
	{RunPaused, open, "a pause of a run", fields{{"reason", anyText, optional}}},
	{RunResumed, open, "the end of a pause", fields{}},
	{VariableChanged, open, "a change of a variable", fields{{"name", someText, required},
		{"previous", shape.Anything{}, optional}, {"next", shape.Anything{}, optional}, {"nodeId", anyText, optional}}},
	{ArtifactCreated, open, "an artifact", fields{{"artifactId", someText, required},
		{"artifactType", someText, required}, {"nodeId", anyText, optional}, {"version", anyText, optional},
		{"summary", anyText, optional}, {"registered", boolean, optional},
		{"registrationSource", shape.Words{"pack", "host"}, optional}}},
	{LoopbackLimit, open, "the end of a loop", fields{{"nodeId", anyText, required},
		{"iterations", atLeastOne, required}, {"limit", atLeastOne, optional}}},
	{CapBreached, open, "a limit", fields{{"kind", limitKind, required}, {"limit", shape.Amount{}, required},
		{"observed", shape.Amount{}, required}, {"nodeId", anyText, optional}}},
	{ReplayDiverged, open, "a divergence", fields{{"sourceRunId", someText, required},
		{"atSequence", count, required}, {"originalEventId", anyText, optional},
		{"divergenceKind", shape.Words{"output", "missing", "extra", "type-mismatch"}, optional},
		{"divergencePoint", anyText, optional}}},
	{"replay.divergedAtRefusal", closed, "a divergence", fields{{"sourceRunId", someText, required},
		{"atSequence", count, required}, {"originalEventId", anyText, optional}, {"nodeId", someText, optional},
		{"originalEnvelopeKind", envelopeState, required}, {"replayEnvelopeKind", envelopeState, required},
		{"refusalReason", anyText, optional}}},
	{ProposalCreated, closed, "a proposal", fields{{"proposalId", someText, required}, {"kind", proposalKind, required},
		{"sourceRunIds", texts, optional}, {"duplicateOf", textOrNull, optional}}},
	{ProposalActivated, closed, "a proposal", fields{{"proposalId", someText, required},
		{"kind", proposalKind, required}, {"approvalId", textOrNull, optional},
		{"installedArtifactRef", someText, required}}},
	{MessageChunk, closed, "a part of a message", fields{{"nodeId", someText, required}, {"runId", someText, required},
		{"chunk", anyText, required}, {"isLast", boolean, required}, {"meta", anyObject, optional}}},
}

var (
	proposalKind  = shape.Words{"agent-pack", "workflow-chain-pack", "prompt-template", "automation"}
	envelopeState = shape.Words{"valid", "refusal"}
	limitKind     = shape.Words{"clarification", "schema", "envelopes", "node-executions", "wasm-memory", "wasm-fuel",
		"wasm-execution-time", "run-duration", "loop-iterations", "budget-tokens", "budget-cost", "budget-tool-calls",
		"budget-retries"}
)

// nodeContracts are the payloads about one node, and of what it waits for.
var nodeContracts = []contract{
	{NodeStarted, open, "the start of a node", fields{nodeID, {"typeId", someText, required},
		{"attempt", count, optional}}},
	{NodeCompleted, open, "the end of a node", fields{nodeID, {"outputs", anyObject, optional},
		{"durationMs", count, optional}}},
	{NodeFailed, open, "the failure of a node", fields{nodeID, {"error", errorObject, required},
		{"attempts", atLeastOne, optional}}},
	{NodeSuspended, open, "a suspended node", fields{nodeID, {"interruptId", someText, required},
		{"kind", interruptKind, optional}, {"key", someText, optional}}},
	{NodeResumed, open, "a resumed node", fields{nodeID, {"interruptId", anyText, optional},
		{"resumeValue", shape.Anything{}, optional}}},
	{NodeRetried, open, "a further try", fields{nodeID, {"attempt", atLeastOne, required}, {"delayMs", count, optional},
		{"lastError", errorObject, optional}}},
	{NodeCancelled, open, "a cancelled node", fields{nodeID, {"reason", anyText, optional}}},
	{ApprovalRequested, open, "a requested approval", fields{{"nodeId", anyText, required},
		{"interruptId", anyText, optional}, {"artifactId", anyText, required}, {"artifactType", anyText, required},
		{"title", anyText, optional}, {"actions", shape.List{Of: shape.Words{"accept", "reject", "refine",
			"edit", "ask"}, Min: 1}, required}, {"approversList", texts, optional}, {"requiredApprovals", atLeastOne, optional}}},
	{ApprovalReceived, open, "an approval", fields{{"nodeId", anyText, required},
		{"action", shape.Words{"accept", "reject", "refine", "edit-accept", "timeout"}, required},
		{"decidedBy", anyText, optional}, {"decidedAt", anyText, optional}, {"comment", anyText, optional},
		{"feedback", anyText, optional}}},
	{ApprovalGranted, closed, "a granted approval", fields{{"gateId", someText, required},
		{"principal", someText, required}, {"quorumProgress", shape.Object{What: "a quorum", Fields: []shape.Field{
			{"granted", count, optional}, {"required", atLeastOne, optional}}}, optional}}},
	{ClarificationRequested, open, "a clarification", fields{{"nodeId", anyText, required},
		{"interruptId", anyText, optional}, {"questions", shape.List{Of: extensible("a question",
			shape.Field{"id", anyText, required}, shape.Field{"question", anyText, required}, shape.Field{"schema", anyObject, optional})}, required}}},
	{ClarificationResolved, open, "answers", fields{{"nodeId", anyText, required}, {"answers", anyObject, required},
		{"answeredBy", anyText, optional}}},
	{InterruptResolved, open, "a resolution", fields{{"nodeId", anyText, required}, {"interruptId", anyText, required},
		{"kind", interruptKind, optional}, {"resumeValue", shape.Anything{}, optional}}},
	{"node.dispatched", closed, "a dispatched run", fields{{"childRunId", someText, required},
		{"childWorkflowId", someText, required}, {"childStatus", anyText, optional}}},
}
