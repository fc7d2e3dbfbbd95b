package httpserver

import (
	"fmt"
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
)

func forkRun(c *call) (reply, error) {
	id, err := c.run()
	if err != nil {
		return reply{}, err
	}
	in, err := openwop.DecodeForkRun(c.body)
	if err != nil {
		return reply{}, err
	}
	key, err := c.idempotencyKey()
	if err != nil {
		return reply{}, err
	}
	out, replayed, err := c.host.ForkRun(c.r.Context(), c.by(), key, id, in)
	if err != nil {
		return reply{}, err
	}
	out.EventsURL = "http://" + c.r.Host + "/v1/runs/" + out.RunID + "/events"
	header := map[string]string{}
	if key != "" {
		header[replayHeader] = fmt.Sprint(replayed)
	}
	return reply{http.StatusCreated, out, header}, nil
}
