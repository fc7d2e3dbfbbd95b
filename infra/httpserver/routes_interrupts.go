package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// The refusals of answers to interrupts.
var (
	otherAnswer = outcome{http.StatusConflict, openwop.ErrInterruptResolved, "the interrupt has another answer already"}
	noAnswer    = outcome{http.StatusGone, openwop.ErrInterruptExpired, "the time for an answer is over, or the run has ended"}
	otherEvent  = outcome{http.StatusUnprocessableEntity, openwop.ErrCorrelationMismatch,
		"the event is not the one that the run waits for; the run is still suspended"}
	lacksWork = outcome{http.StatusUnprocessableEntity, openwop.ErrUnprocessable,
		"the work is recorded, and lacks what `details.blockers` says; the run is still suspended"}
	unknownToken = outcome{http.StatusNotFound, openwop.ErrInterruptNotFound, "the token is of no interrupt of a store"}
)

func interruptRoutes() []*route {
	const byToken = "/v1/interrupts/{token}"
	return []*route{
		{method: http.MethodPost, path: runPath + "/interrupts/{nodeId}", id: "resolveInterrupt", scope: httpkeys.ApprovalsRespond,
			waits: true, idempotent: true, purpose: "Answer what a run waits for at a node.",
			notes: "`resumeValue` has the form of the `resumeSchema` of the interrupt. The same answer again gets the same " +
				"reply. A step that a person approves is decided by `signed` and `signature` only, the consent of one of the " +
				"signers of the store; without them `ask` alone is accepted.",
			body:    form[openwop.Resolution](true),
			answers: []answer{success[openwop.Resolved](http.StatusOK, "the state of the run after the answer")},
			refusals: []outcome{unknownRun,
				{http.StatusNotFound, openwop.ErrInterruptNotFound, "the run waits for nothing at the node"},
				{http.StatusForbidden, openwop.ErrForbidden, "the key may not give the answer: a person decides, or another name"},
				otherAnswer, noAnswer, otherEvent, lacksWork}, handle: resolveInterrupt},
		{method: http.MethodGet, path: byToken, id: "inspectInterrupt", purpose: "Describe the interrupt of a token.",
			notes:    "The token is the credential: it is in `interrupt` of the state of a run that waits for another system.",
			answers:  []answer{success[openwop.OpenInterrupt](http.StatusOK, "the interrupt")},
			refusals: []outcome{unknownToken, otherAnswer, noAnswer}, handle: inspectInterrupt},
		{method: http.MethodPost, path: byToken, id: "resolveInterruptByToken", waits: true,
			purpose: "Answer the interrupt of a token.",
			notes: "The token is the credential, of one interrupt: it answers nothing once that is answered, or the run has " +
				"ended.",
			body:     form[openwop.Resolution](false),
			answers:  []answer{success[openwop.Resolved](http.StatusOK, "the state of the run after the answer")},
			refusals: []outcome{unknownToken, otherAnswer, noAnswer, otherEvent}, handle: resolveByToken},
	}
}
