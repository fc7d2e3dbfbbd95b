package openwop

import "github.com/waybill/waybill/durable/workflow/shape"

// runContracts are the payloads about a run as a whole, and of messages that are in no log.
var runContracts = []contract{
	{RunStarted, open, "the start of a run", fields{shape.Need("workflowId", someText), shape.May("inputs", anyObject),
		shape.May("transport", shape.OneOf("rest", "mcp", "a2a", "ui")), shape.May("engineVersion", anyText),
		shape.May("tags", texts), shape.May("metadata", anyObject)}},
	{RunCompleted, open, "the end of a run", fields{shape.May("outputs", anyObject), shape.May("durationMs", count)}},
	{RunFailed, open, "the end of a run", fields{shape.Need("error", errorObject), shape.May("failedNodeId", anyText),
		shape.May("durationMs", count)}},
	{RunCancelled, open, "the end of a run", fields{shape.May("reason", anyText), shape.May("cancelledBy", anyText),
		shape.May("durationMs", count), shape.May("parentRunId", someText)}},
	{RunPaused, open, "a pause of a run", fields{shape.May("reason", anyText)}},
	{RunResumed, open, "the end of a pause", fields{}},
	{VariableChanged, open, "a change of a variable", fields{shape.Need("name", someText),
		shape.May("previous", shape.Anything{}), shape.May("next", shape.Anything{}), shape.May("nodeId", anyText)}},
	{ArtifactCreated, open, "an artifact", fields{shape.Need("artifactId", someText),
		shape.Need("artifactType", someText), shape.May("nodeId", anyText), shape.May("version", anyText),
		shape.May("summary", anyText), shape.May("registered", boolean),
		shape.May("registrationSource", shape.OneOf("pack", "host"))}},
	{LoopbackLimit, open, "the end of a loop", fields{shape.Need("nodeId", anyText),
		shape.Need("iterations", atLeastOne), shape.May("limit", atLeastOne)}},
	{CapBreached, open, "a limit", fields{shape.Need("kind", limitKind), shape.Need("limit", shape.Amount{}),
		shape.Need("observed", shape.Amount{}), shape.May("nodeId", anyText)}},
	{ReplayDiverged, open, "a divergence", fields{shape.Need("sourceRunId", someText),
		shape.Need("atSequence", count), shape.May("originalEventId", anyText),
		shape.May("divergenceKind", shape.OneOf("output", "missing", "extra", "type-mismatch")),
		shape.May("divergencePoint", anyText)}},
	{"replay.divergedAtRefusal", closed, "a divergence", fields{shape.Need("sourceRunId", someText),
		shape.Need("atSequence", count), shape.May("originalEventId", anyText), shape.May("nodeId", someText),
		shape.Need("originalEnvelopeKind", envelopeState), shape.Need("replayEnvelopeKind", envelopeState),
		shape.May("refusalReason", anyText)}},
	{ProposalCreated, closed, "a proposal", fields{shape.Need("proposalId", someText), shape.Need("kind", proposalKind),
		shape.May("sourceRunIds", texts), shape.May("duplicateOf", textOrNull)}},
	{ProposalActivated, closed, "a proposal", fields{shape.Need("proposalId", someText),
		shape.Need("kind", proposalKind), shape.May("approvalId", textOrNull),
		shape.Need("installedArtifactRef", someText)}},
	{MessageChunk, closed, "a part of a message", fields{shape.Need("nodeId", someText), shape.Need("runId", someText),
		shape.Need("chunk", anyText), shape.Need("isLast", boolean), shape.May("meta", anyObject)}},
}

var (
	proposalKind  = shape.OneOf("agent-pack", "workflow-chain-pack", "prompt-template", "automation")
	envelopeState = shape.OneOf("valid", "refusal")
	limitKind     = shape.OneOf("clarification", "schema", "envelopes", "node-executions", "wasm-memory", "wasm-fuel",
		"wasm-execution-time", "run-duration", "loop-iterations", "budget-tokens", "budget-cost", "budget-tool-calls",
		"budget-retries")
)

// nodeContracts are the payloads about one node, and of what it waits for.
var nodeContracts = []contract{
	{NodeStarted, open, "the start of a node", fields{nodeID, shape.Need("typeId", someText),
		shape.May("attempt", count)}},
	{NodeCompleted, open, "the end of a node", fields{nodeID, shape.May("outputs", anyObject),
		shape.May("durationMs", count)}},
	{NodeFailed, open, "the failure of a node", fields{nodeID, shape.Need("error", errorObject),
		shape.May("attempts", atLeastOne)}},
	{NodeSuspended, open, "a suspended node", fields{nodeID, shape.Need("interruptId", someText),
		shape.May("kind", interruptKind), shape.May("key", someText)}},
	{NodeResumed, open, "a resumed node", fields{nodeID, shape.May("interruptId", anyText),
		shape.May("resumeValue", shape.Anything{})}},
	{NodeRetried, open, "a further try", fields{nodeID, shape.Need("attempt", atLeastOne), shape.May("delayMs", count),
		shape.May("lastError", errorObject)}},
	{NodeCancelled, open, "a cancelled node", fields{nodeID, shape.May("reason", anyText)}},
	{ApprovalRequested, open, "a requested approval", fields{shape.Need("nodeId", anyText),
		shape.May("interruptId", anyText), shape.Need("artifactId", anyText), shape.Need("artifactType", anyText),
		shape.May("title", anyText), shape.Need("actions", shape.List{Of: shape.OneOf("accept", "reject", "refine",
			"edit", "ask"), Min: 1}), shape.May("approversList", texts), shape.May("requiredApprovals", atLeastOne)}},
	{ApprovalReceived, open, "an approval", fields{shape.Need("nodeId", anyText),
		shape.Need("action", shape.OneOf("accept", "reject", "refine", "edit-accept", "timeout")),
		shape.May("decidedBy", anyText), shape.May("decidedAt", anyText), shape.May("comment", anyText),
		shape.May("feedback", anyText)}},
	{ApprovalGranted, closed, "a granted approval", fields{shape.Need("gateId", someText),
		shape.Need("principal", someText), shape.May("quorumProgress", shape.ObjectOf("a quorum",
			shape.May("granted", count), shape.May("required", atLeastOne)))}},
	{ClarificationRequested, open, "a clarification", fields{shape.Need("nodeId", anyText),
		shape.May("interruptId", anyText), shape.Need("questions", shape.List{Of: extensible("a question",
			shape.Need("id", anyText), shape.Need("question", anyText), shape.May("schema", anyObject))})}},
	{ClarificationResolved, open, "answers", fields{shape.Need("nodeId", anyText), shape.Need("answers", anyObject),
		shape.May("answeredBy", anyText)}},
	{InterruptResolved, open, "a resolution", fields{shape.Need("nodeId", anyText), shape.Need("interruptId", anyText),
		shape.May("kind", interruptKind), shape.May("resumeValue", shape.Anything{})}},
	{"node.dispatched", closed, "a dispatched run", fields{shape.Need("childRunId", someText),
		shape.Need("childWorkflowId", someText), shape.May("childStatus", anyText)}},
}
