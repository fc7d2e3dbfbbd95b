package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

func pauseRoutes() []*route {
	return []*route{
		{method: http.MethodPost, path: runPath + ":pause", id: "pauseRun", scope: httpkeys.RunsCancel, idempotent: true,
			accepts: true, purpose: "Pause a run that is performed.",
			notes: "It takes no steps until it is resumed; it can be cancelled. With `immediate` it is paused at once, and " +
				"what is being performed is recorded. With `drain-current-node`, the default, it is paused when the node " +
				"that is executed has ended or is suspended: the answer has the status `running` and no `pausedAt` until then.",
			body:     form[openwop.PauseRun](false),
			answers:  []answer{success[openwop.RunPause](http.StatusAccepted, "the run")},
			refusals: []outcome{unknownRun, notPausable}, handle: pauseRun},
		{method: http.MethodPost, path: runPath + ":resume", id: "resumeRun", scope: httpkeys.RunsCancel, idempotent: true,
			accepts: true, purpose: "Resume a paused run.",
			notes:    "The server continues it, also if a command paused it. A pause that waits for the current node is withdrawn.",
			body:     form[reasonBody](false),
			answers:  []answer{success[openwop.RunState](http.StatusAccepted, "the run")},
			refusals: []outcome{unknownRun, notPaused}, handle: resumeRun},
	}
}

var (
	notPausable = outcome{http.StatusConflict, openwop.ErrConflict, "the run is paused, waits for something or has ended: " +
		"`details.runStatus`, and of a paused one `details.pausedAt`"}
	notPaused = outcome{http.StatusConflict, openwop.ErrConflict, "the run is not paused: `details.runStatus`"}
)
