package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
)

func pauseRun(c *call) (reply, error) {
	var in openwop.PauseRun
	id, err := c.run()
	if err == nil {
		err = c.decode(&in)
	}
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Pause(c.r.Context(), c.by(), id, in)
	return reply{status: http.StatusAccepted, doc: out}, err
}

func resumeRun(c *call) (reply, error) {
	var in reasonBody
	id, err := c.run()
	if err == nil {
		err = c.decode(&in)
	}
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Resume(c.r.Context(), c.by(), id, in.Reason)
	return reply{status: http.StatusAccepted, doc: out}, err
}
