package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

func forkRoutes() []*route {
	return []*route{
		{method: http.MethodPost, path: runPath + ":fork", id: "forkRun", scope: httpkeys.RunsCreate, also: httpkeys.RunsRead,
			keyed: true, purpose: "Create a run that follows from another one before one of its events.",
			notes: "The events before `fromSeq` are those of the source, with ids of their own. In mode `branch` the steps from there are " +
				"performed again: `inputs` of the overlay are set in the context, `configurable`, `tags` and `metadata` take the place " +
				"of the source's. In mode `replay`, where `fromSeq` is 0 by default, everything that was recorded is decided again and " +
				"nothing is performed; the first event that differs is preceded by `replay.diverged`, and a replay whose source has no " +
				"input for what would follow ends as failed with `replay_source_missing`. Annotations are not copied. The key needs " +
				"`runs:read` too.",
			body:    form[openwop.ForkRun](true),
			answers: []answer{success[openwop.RunForked](http.StatusCreated, "the run")},
			refusals: []outcome{unknownRun,
				{http.StatusForbidden, openwop.ErrForbidden,
					"the workflow has commands and is not trusted, or the run came with a bundle"},
				{http.StatusUnprocessableEntity, openwop.ErrUnprocessable,
					"the run has no event with the sequence, or no step is left there, or a fork is to be replayed"}},
			handle: forkRun},
	}
}
