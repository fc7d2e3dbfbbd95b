package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// seamPath begins the paths of the test seams.
const seamPath = "/v1/host/sample"

// noSeams is what the routes of test seams say first.
const noSeams = "Only with `--test-seams`, on a test store; else 404. "

// resolveBody is the request to resolve a prompt.
type resolveBody struct {
	Kind             promptref.Kind `json:"kind"`
	Node             canon.Value    `json:"node"` // nodeId, config
	AgentManifest    canon.Value    `json:"agentManifest,omitzero"`
	WorkflowDefaults canon.Value    `json:"workflowDefaults,omitzero"` // promptRefs
	HostDefaults     canon.Value    `json:"hostDefaults,omitzero"`
	PromptOverrides  canon.Value    `json:"promptOverrides,omitzero"` // of the run
}

// mockBudget is the budget of the last call of a node.
type mockBudget struct {
	MaxTokens *int64 `json:"maxTokens"` // null without a call
	NodeID    string `json:"nodeId"`
}

// resetAnswer is the answer to a reset.
type resetAnswer struct {
	RunsEnded int64 `json:"runsEnded"`
}

func seamRoutes() []*route {
	leak := func(code openwop.ErrorCode) []outcome {
		return []outcome{{http.StatusBadRequest, code, "the payload has what looks like a credential, or a reference to one"},
			{http.StatusBadRequest, openwop.ErrInvalidArgument, "the payload is not one of the type"},
			{http.StatusConflict, openwop.ErrConflict, "the run has ended"}, unknownRun}
	}
	emitted := []answer{success[openwop.Emitted](http.StatusOK, "the event as it was recorded")}
	const notes = noSeams + "`runId` is the id of a run, or any name: the event is then one of a run that is made for the name. "
	return []*route{
		{method: http.MethodPost, path: seamPath + "/prompt/resolve", id: "resolvePrompt", scope: httpkeys.ManifestRead, group: seamGroup,
			idempotent: true, purpose: "Resolve which prompt template a node uses.", notes: noSeams + "Nothing is recorded.",
			body: form[resolveBody](true), answers: []answer{success[promptref.Resolution](http.StatusOK, "the resolution")},
			handle: resolvePrompt},
		{method: http.MethodPost, path: seamPath + "/test/emit-provider-usage", id: "emitProviderUsage", scope: httpkeys.RunsCreate,
			group: seamGroup, idempotent: true, purpose: "Record a run event `provider.usage`.", notes: notes,
			body: form[openwop.Emission](true), answers: emitted, refusals: leak(openwop.ErrUsageLeak), handle: emitUsage},
		{method: http.MethodPost, path: seamPath + "/test/emit-envelope-reliability", id: "emitEnvelopeReliability",
			scope: httpkeys.RunsCreate, group: seamGroup, idempotent: true,
			purpose: "Record a run event about the envelopes that models answer with.",
			notes:   notes + "`type` is " + words(openwop.EnvelopeReliability()) + ".",
			body:    form[openwop.Emission](true), answers: emitted, refusals: leak(openwop.ErrReliabilityLeak), handle: emitReliability},
		{method: http.MethodGet, path: seamPath + "/test/runs/{runId}/events", id: "listEmittedEvents", scope: httpkeys.RunsRead,
			group: seamGroup, purpose: "List the run events of a run, or of the run that was made for a name.",
			notes: noSeams + "For a name without a run the list is empty.",
			query: []parameter{{"type", "a type", "only events of this type"},
				{"causationId", "an id", "only events with this cause"}, {"correlationId", "an id", "the same"},
				{"nodeId", "an id", "only events of this node"}},
			answers:  []answer{success[eventList](http.StatusOK, "the events")},
			refusals: []outcome{unknownRun}, handle: listEmitted},
		{method: http.MethodPost, path: seamPath + "/test/mock-ai/program", id: "programMockProvider", scope: httpkeys.RunsCreate,
			group: seamGroup, idempotent: true, purpose: "Set what the mock provider answers to the next call of a node.",
			notes:    noSeams + "It is kept in memory, and used once.",
			body:     form[openwop.MockProgram](true),
			answers:  []answer{{http.StatusOK, nil, "the program"}},
			refusals: []outcome{{http.StatusBadRequest, openwop.ErrInvalidArgument, "it is no program"}}, handle: programMock},
		{method: http.MethodGet, path: seamPath + "/test/mock-ai/last-dispatch-budget", id: "getMockBudget", scope: httpkeys.RunsRead,
			group: seamGroup, purpose: "Read the budget of the last call of a node.", notes: noSeams + "It is null without a call.",
			query:   []parameter{{"nodeId", "an id", "the node"}},
			answers: []answer{success[mockBudget](http.StatusOK, "the budget in tokens")}, handle: getMockBudget},
		{method: http.MethodPost, path: seamPath + "/test/reset", id: "resetTest", scope: httpkeys.RunsCancel, group: seamGroup,
			idempotent: true, purpose: "End the runs that were made for names.",
			notes: noSeams + "A name has another run from then on. Other runs are not touched.",
			body:  form[noMembers](false), answers: []answer{success[resetAnswer](http.StatusOK, "how many")}, handle: resetTest},
	}
}
