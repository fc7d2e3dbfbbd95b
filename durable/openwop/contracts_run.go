package openwop

import "github.com/waybill/waybill/durable/workflow/shape"

// runContracts are the payloads about a run as a whole, and of messages that are in no log.
var runContracts = map[EventType]shape.Shape{
	RunStarted: open("the start of a run", shape.Need("workflowId", someText), shape.May("inputs", shape.AnyObject),
		shape.May("transport", shape.OneOf("rest", "mcp", "a2a", "ui")), shape.May("engineVersion", anyText),
		shape.May("tags", texts), shape.May("metadata", shape.AnyObject)),
	RunCompleted: open("the end of a run", shape.May("outputs", shape.AnyObject), shape.May("durationMs", count)),
	RunFailed: open("the end of a run", shape.Need("error", errorObject), shape.May("failedNodeId", anyText),
		shape.May("durationMs", count)),
	RunCancelled: open("the end of a run", shape.May("reason", anyText), shape.May("cancelledBy", anyText),
		shape.May("durationMs", count), shape.May("parentRunId", someText)),
	VariableChanged: open("a change of a variable", shape.Need("name", someText), shape.May("previous", shape.Anything{}),
		shape.May("next", shape.Anything{}), shape.May("nodeId", anyText)),
	ArtifactCreated: open("an artifact", shape.Need("artifactId", someText), shape.Need("artifactType", someText),
		shape.May("nodeId", anyText), shape.May("version", anyText), shape.May("summary", anyText),
		shape.May("registered", shape.Boolean), shape.May("registrationSource", shape.OneOf("pack", "host"))),
	LoopbackLimit: open("the end of a loop", shape.Need("nodeId", anyText), shape.Need("iterations", atLeastOne),
		shape.May("limit", atLeastOne)),
	"cap.breached": open("a limit", shape.Need("kind", shape.OneOf("clarification", "schema", "envelopes", "node-executions",
		"wasm-memory", "wasm-fuel", "wasm-execution-time", "run-duration", "loop-iterations", "budget-tokens", "budget-cost",
		"budget-tool-calls", "budget-retries")), shape.Need("limit", shape.Amount{}), shape.Need("observed", shape.Amount{}),
		shape.May("nodeId", anyText)),
	"replay.diverged": open("a divergence", shape.Need("sourceRunId", someText), shape.Need("atSequence", count),
		shape.May("originalEventId", anyText),
		shape.May("divergenceKind", shape.OneOf("output", "missing", "extra", "type-mismatch")),
		shape.May("divergencePoint", anyText)),
	"replay.divergedAtRefusal": shape.ObjectOf("a divergence", shape.Need("sourceRunId", someText),
		shape.Need("atSequence", count), shape.May("originalEventId", anyText), shape.May("nodeId", someText),
		shape.Need("originalEnvelopeKind", envelopeState), shape.Need("replayEnvelopeKind", envelopeState),
		shape.May("refusalReason", anyText)),
	ProposalCreated: shape.ObjectOf("a proposal", shape.Need("proposalId", someText), shape.Need("kind", proposalKind),
		shape.May("sourceRunIds", texts), shape.May("duplicateOf", textOrNull)),
	ProposalActivated: shape.ObjectOf("a proposal", shape.Need("proposalId", someText), shape.Need("kind", proposalKind),
		shape.May("approvalId", textOrNull), shape.Need("installedArtifactRef", someText)),
	MessageChunk: shape.ObjectOf("a part of a message", shape.Need("nodeId", someText), shape.Need("runId", someText),
		shape.Need("chunk", anyText), shape.Need("isLast", shape.Boolean), shape.May("meta", shape.AnyObject)),
}

var (
	proposalKind  = shape.OneOf("agent-pack", "workflow-chain-pack", "prompt-template", "automation")
	envelopeState = shape.OneOf("valid", "refusal")
)

// nodeContracts are the payloads about one node, and of what it waits for.
var nodeContracts = map[EventType]shape.Shape{
	NodeStarted: open("the start of a node", nodeID, shape.Need("typeId", someText), shape.May("attempt", count)),
	NodeCompleted: open("the end of a node", nodeID, shape.May("outputs", shape.AnyObject),
		shape.May("durationMs", count)),
	NodeFailed: open("the failure of a node", nodeID, shape.Need("error", errorObject),
		shape.May("attempts", atLeastOne)),
	NodeSuspended: open("a suspended node", nodeID, shape.Need("interruptId", someText), shape.May("kind", interruptKind),
		shape.May("key", someText)),
	NodeResumed: open("a resumed node", nodeID, shape.May("interruptId", anyText),
		shape.May("resumeValue", shape.Anything{})),
	NodeRetried: open("a further try", nodeID, shape.Need("attempt", atLeastOne), shape.May("delayMs", count),
		shape.May("lastError", errorObject)),
	NodeCancelled: open("a cancelled node", nodeID, shape.May("reason", anyText)),
	ApprovalRequested: open("a requested approval", shape.Need("nodeId", anyText), shape.May("interruptId", anyText),
		shape.Need("artifactId", anyText), shape.Need("artifactType", anyText), shape.May("title", anyText),
		shape.Need("actions", shape.List{Of: shape.OneOf("accept", "reject", "refine", "edit", "ask"), Min: 1}),
		shape.May("approversList", texts), shape.May("requiredApprovals", atLeastOne)),
	ApprovalReceived: open("an approval", shape.Need("nodeId", anyText),
		shape.Need("action", shape.OneOf("accept", "reject", "refine", "edit-accept", "timeout")),
		shape.May("decidedBy", anyText), shape.May("decidedAt", anyText), shape.May("comment", anyText),
		shape.May("feedback", anyText)),
	ApprovalGranted: shape.ObjectOf("a granted approval", shape.Need("gateId", someText), shape.Need("principal", someText),
		shape.May("quorumProgress", shape.ObjectOf("a quorum", shape.May("granted", count), shape.May("required", atLeastOne)))),
	ClarificationRequested: open("a clarification", shape.Need("nodeId", anyText), shape.May("interruptId", anyText),
		shape.Need("questions", shape.List{Of: open("a question", shape.Need("id", anyText), shape.Need("question", anyText),
			shape.May("schema", shape.AnyObject))})),
	ClarificationResolved: open("answers", shape.Need("nodeId", anyText), shape.Need("answers", shape.AnyObject),
		shape.May("answeredBy", anyText)),
	InterruptRequested: interruptShape,
	InterruptResolved: open("a resolution", shape.Need("nodeId", anyText), shape.Need("interruptId", anyText),
		shape.May("kind", interruptKind), shape.May("resumeValue", shape.Anything{})),
	"node.dispatched": shape.ObjectOf("a dispatched run", shape.Need("childRunId", someText),
		shape.Need("childWorkflowId", someText), shape.May("childStatus", anyText)),
}
