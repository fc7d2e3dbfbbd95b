package httpserver

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// route is one operation. The OpenAPI document and docs/http.md are made of the table.
type route struct {
	method, path string         // a path has placeholders for whole segments
	id           string         // the operationId
	purpose      string         // one sentence
	notes        string         // further sentences, "" for none
	scope        httpkeys.Scope // "" for a public route
	also         httpkeys.Scope // a second scope that the key needs, "" for none
	group        group          // the group of routes that the store can disable
	query        []parameter
	body         *body // nil: the request has none
	answers      []answer
	refusals     []outcome
	idempotent   bool // the server keeps the answer for an idempotency key
	accepts      bool // an answer 202 is the whole answer: a repeated request with the key gets it too
	keyed        bool // the use case has the idempotency key
	waits        bool // it takes the place of a stream, not the turn of a request
	handle       func(*call) (reply, error)
	stream       func(*call) error // in place of handle: writes the answer itself
}

// name is the operation as the store's records and the request log name it.
func (r *route) name() string { return r.method + " " + r.path }

// group is a set of routes that a store may not provide.
type group uint8

const (
	always group = iota
	feedbackGroup
	proposalGroup
	seamGroup // the routes of a server with Seams
)

// parameter is a query parameter that is known. Others are ignored.
type parameter struct{ name, form, purpose string }

// body is the body of a request.
type body struct {
	form     reflect.Type // closed
	required bool
}

// answer is a possible success.
type answer struct {
	status  int
	form    reflect.Type // nil: any object
	purpose string
}

// outcome is a possible refusal besides those that every route has.
type outcome struct {
	status int
	code   openwop.ErrorCode
	when   string
}

func form[T any](required bool) *body { return &body{reflect.TypeFor[T](), required} }

func success[T any](status int, purpose string) answer {
	return answer{status, reflect.TypeFor[T](), purpose}
}

// The refusals that several routes have.
var (
	unknownRun      = outcome{http.StatusNotFound, openwop.ErrRunNotFound, "the store has no such run"}
	unknownProposal = outcome{http.StatusNotFound, openwop.ErrNotFound, "the store has no such proposal"}
	wrongState      = outcome{http.StatusConflict, openwop.ErrConflict, "the state of the proposal does not allow it"}
	noFeedback      = outcome{http.StatusNotImplemented, openwop.ErrCapabilityNotProvided,
		"the store provides no annotations; before anything else of the request is looked at"}
	noProposals = outcome{http.StatusNotImplemented, openwop.ErrCapabilityNotProvided,
		"the store provides no proposals; before anything else of the request is looked at"}
)

// table lists the routes in the order of docs/http.md.
func table() []*route {
	return slices.Concat(discoveryRoutes(), runRoutes(), forkRoutes(), eventRoutes(), cancelRoutes(), pauseRoutes(),
		interruptRoutes(), feedbackRoutes(), proposalRoutes(), bundleRoutes(), seamRoutes())
}

func discoveryRoutes() []*route {
	return []*route{
		{method: http.MethodGet, path: "/.well-known/openwop", id: "getCapabilities",
			purpose: "Describe what this host provides.",
			notes: "The answer may be kept for 300 seconds; a request with its ETag in If-None-Match is answered with 304. " +
				"With several stores it describes the store of the key, without a key the first one.",
			answers: []answer{{http.StatusOK, nil, "the capabilities"}, {http.StatusNotModified, nil, "they did not change"}},
			handle:  getCapabilities},
		{method: http.MethodGet, path: "/v1/openapi.json", id: "getOpenApiSpec",
			purpose: "Describe the routes in OpenAPI 3.1.",
			answers: []answer{{http.StatusOK, nil, "the document"}, {http.StatusNotModified, nil, "it did not change"}},
			handle:  getOpenAPI},
		{method: http.MethodGet, path: "/v1/workflows/{workflowId}", id: "getWorkflow", scope: httpkeys.ManifestRead,
			purpose:  "Read the definition of a workflow.",
			answers:  []answer{{http.StatusOK, nil, "the definition"}},
			refusals: []outcome{{http.StatusNotFound, openwop.ErrNotFound, "no workflow has the id"}},
			handle:   getWorkflow},
	}
}

func runRoutes() []*route {
	return []*route{
		{method: http.MethodPost, path: "/v1/runs", id: "createRun", scope: httpkeys.RunsCreate, keyed: true,
			purpose: "Create a run and have it performed.",
			notes: "`inputs` become the context of the run. `callbackUrl` is accepted and never called. A run takes up at most " +
				"`configurable.recursionLimit` steps. A workflow that declares inputs has a `configurableSchema`: `configurable` has " +
				"to match it, and has values for inputs that `inputs` does not have. With an " +
				"`Idempotency-Key` that a run was created with, that run is returned, however long ago it was.",
			body:    form[openwop.CreateRun](true),
			answers: []answer{success[openwop.RunCreated](http.StatusCreated, "the run")},
			refusals: []outcome{
				{http.StatusNotFound, openwop.ErrNotFound, "no workflow has the id"},
				{http.StatusForbidden, openwop.ErrForbidden, "the workflow has commands and is not trusted"},
				{http.StatusForbidden, openwop.ErrForceForbidden,
					"`X-Force-Engine-Version` is sent, and the server is not one for tests"},
				{http.StatusBadRequest, openwop.ErrForceUnsupported,
					"`X-Force-Engine-Version` is not in the range that discovery has; `details.supported` is the range"},
				{http.StatusBadRequest, openwop.ErrCapabilityRequired,
					"the workflow has a host step that this host does not perform; `details.requiredCapability` names it"},
				{http.StatusBadRequest, openwop.ErrValidation, "the workflow has a host step of an unknown type"},
				{http.StatusUnprocessableEntity, openwop.ErrUnprocessable, "the workflow is not valid for another reason"}},
			handle: createRun},
		{method: http.MethodGet, path: runPath, id: "getRun", scope: httpkeys.RunsRead,
			purpose:  "Read the state of a run.",
			answers:  []answer{success[openwop.Snapshot](http.StatusOK, "the state")},
			refusals: []outcome{unknownRun}, handle: getRun},
	}
}

func eventRoutes() []*route {
	return []*route{
		{method: http.MethodGet, path: runPath + "/events", id: "streamRunEvents", scope: httpkeys.RunsRead, waits: true,
			purpose: "Follow the events of a run, as Server-Sent Events or as JSON.",
			notes: "With `Accept: application/json` the answer is `{\"events\": […]}` with what is recorded, of every type " +
				"unless `streamMode` is given. The header `Last-Event-ID` continues behind an event; it takes precedence " +
				"over `lastEventId`.",
			query: []parameter{
				{"streamMode", "updates, values, messages, debug, or a list of them with commas",
					"which messages are sent; updates by default"},
				{"bufferMs", "0 to 5000", "collect events for that long into one message `batch`; 0 by default"},
				{"lastEventId", "a sequence", "continue behind this event"}},
			answers: []answer{success[eventList](http.StatusOK, "the stream (text/event-stream), or the events")},
			refusals: []outcome{unknownRun,
				{http.StatusBadRequest, openwop.ErrUnsupportedStreamMode,
					"the mode is unknown, or `values` is combined with another; `details.supported` lists the modes"},
				{http.StatusTooManyRequests, openwop.ErrTooManyRequests, "as many streams as the server keeps are open"}},
			stream: streamRunEvents},
		{method: http.MethodGet, path: runPath + "/events/poll", id: "pollRunEvents", scope: httpkeys.RunsRead, waits: true,
			purpose: "Read the events behind a sequence; wait for one if there is none.",
			notes: "A sequence behind the last event is no error. `isComplete` and `isTerminal` are true once no event " +
				"will follow.",
			query: []parameter{
				{"lastSequence", "a sequence", "return the events behind it; without it, all events"},
				{"timeout", "seconds, at most 60", "how long to wait for an event; 30 by default, longer ones are 60"}},
			answers: []answer{success[polled](http.StatusOK, "the events, in the order of their sequences")},
			refusals: []outcome{unknownRun,
				{http.StatusTooManyRequests, openwop.ErrTooManyRequests, "as many streams as the server keeps are open"}},
			stream: pollRunEvents},
	}
}

func cancelRoutes() []*route {
	return []*route{
		{method: http.MethodPost, path: runPath + "/cancel", id: "cancelRun", scope: httpkeys.RunsCancel, idempotent: true,
			purpose:  "Request the end of a run.",
			notes:    "A run that is cancelled already, or has ended, is returned as it is.",
			body:     form[reasonBody](false),
			answers:  []answer{success[openwop.RunState](http.StatusOK, "the run, cancelling or cancelled")},
			refusals: []outcome{unknownRun}, handle: cancelRun},
		{method: http.MethodPost, path: "/v1/runs:bulk-cancel", id: "bulkCancelRuns", scope: httpkeys.RunsCancel,
			idempotent: true, purpose: "Request the end of several runs.",
			notes:   "Each run has its own result, in the order of the request; an unknown run is `not_found` there.",
			body:    form[bulkCancel](true),
			answers: []answer{success[bulkCancelled](http.StatusOK, "the results")},
			refusals: []outcome{{http.StatusBadRequest, openwop.ErrValidation,
				"`runIds` is empty or longer than `details.maxRunIds`"}}, handle: bulkCancelRuns},
	}
}

func feedbackRoutes() []*route {
	return []*route{
		{method: http.MethodPost, path: runPath + "/annotations", id: "createAnnotation", scope: httpkeys.FeedbackWrite,
			group: feedbackGroup, idempotent: true, keyed: true,
			purpose: "Record feedback about a run, also about one that has ended.",
			notes:   "The name of the key is recorded as its author. It is announced as `run.annotated` on open streams.",
			body:    form[feedback.Create](true),
			answers: []answer{success[feedback.Annotation](http.StatusCreated,
				"the annotation as it was recorded, without secrets")},
			refusals: []outcome{noFeedback, unknownRun}, handle: createAnnotation},
		{method: http.MethodGet, path: runPath + "/annotations", id: "listAnnotations", scope: httpkeys.RunsRead,
			group: feedbackGroup, purpose: "List the feedback about a run.",
			answers:  []answer{success[annotationList](http.StatusOK, "the annotations")},
			refusals: []outcome{noFeedback, unknownRun}, handle: listAnnotations},
	}
}

// The paths of one run and of the proposals.
const (
	runPath      = "/v1/runs/{runId}"
	proposalPath = "/v1/host/sample/proposals"
)

func proposalRoutes() []*route {
	one := proposalPath + "/{proposalId}"
	return []*route{
		{method: http.MethodGet, path: proposalPath, id: "listProposals", scope: httpkeys.RunsRead, group: proposalGroup,
			purpose: "List the proposals of the store.",
			query: []parameter{{"state", words(proposal.States()), "only proposals with this state"},
				{"kind", words(proposal.Kinds()), "only proposals of this kind"}},
			answers:  []answer{success[proposalList](http.StatusOK, "the proposals")},
			refusals: []outcome{noProposals}, handle: listProposals},
		{method: http.MethodGet, path: one, id: "getProposal", scope: httpkeys.RunsRead, group: proposalGroup,
			purpose:  "Read a proposal with its artifact, which has no effect before it is applied.",
			answers:  []answer{success[proposal.Proposal](http.StatusOK, "the proposal")},
			refusals: []outcome{noProposals, unknownProposal}, handle: getProposal},
		{method: http.MethodPatch, path: one, id: "reviseProposal", scope: httpkeys.ProposalsAuthor, group: proposalGroup,
			idempotent: true, purpose: "Revise a proposal: its title, rationale or artifact.",
			notes:   "Members that are absent stay as they are. A revision voids the approvals that were given.",
			body:    form[revision](true),
			answers: []answer{success[proposal.Proposal](http.StatusOK, "the revised proposal")},
			refusals: []outcome{noProposals, unknownProposal, wrongState,
				{http.StatusUnprocessableEntity, openwop.ErrUnprocessable, "the artifact is not valid for its kind"}},
			handle: reviseProposal},
		{method: http.MethodDelete, path: one, id: "archiveProposal", scope: httpkeys.ProposalsAuthor, group: proposalGroup,
			idempotent: true, purpose: "Archive a proposal.", body: form[reasonBody](false),
			answers:  []answer{success[proposal.Proposal](http.StatusOK, "the archived proposal")},
			refusals: []outcome{noProposals, unknownProposal, wrongState}, handle: archiveProposal},
		{method: http.MethodPost, path: one + "/apply", id: "applyProposal", scope: httpkeys.PacksPublish,
			group: proposalGroup, idempotent: true,
			purpose: "Install what a proposal contains, if the approvals that it needs are given.",
			notes: "A key gives no approval. An answer 202 is not kept for an idempotency key: the same call succeeds once " +
				"people have approved.",
			body: form[noMembers](false),
			answers: []answer{success[proposal.Proposal](http.StatusOK, "the applied proposal"),
				success[pendingAnswer](http.StatusAccepted, "approvals are missing; nothing was installed")},
			refusals: []outcome{noProposals, unknownProposal, wrongState,
				{http.StatusUnprocessableEntity, openwop.ErrUnprocessable, "the artifact is not valid for its kind"}},
			handle: applyProposal},
		{method: http.MethodPost, path: one + "/reject", id: "rejectProposal", scope: httpkeys.ProposalsAuthor,
			group: proposalGroup, idempotent: true, purpose: "Reject a proposal.", body: form[reasonBody](false),
			answers:  []answer{success[proposal.Proposal](http.StatusOK, "the rejected proposal")},
			refusals: []outcome{noProposals, unknownProposal, wrongState}, handle: rejectProposal},
	}
}

// words joins a closed set.
func words[T ~string](all []T) string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
