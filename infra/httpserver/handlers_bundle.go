package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

func getDebugBundle(c *call) (reply, error) {
	id, err := c.run()
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.DebugBundle(c.r.Context(), id)
	return reply{status: http.StatusOK, doc: out}, err
}

func listPrompts(c *call) (reply, error) {
	limit, err := c.number("limit", promptsMax, promptsMax)
	if err == nil && limit == 0 {
		err = invalid("the parameter limit is not an integer from 1 to 100")
	}
	if err != nil {
		return reply{}, err
	}
	f := promptref.Filter{Kind: c.query["kind"], Origin: c.query["source"], Tag: c.query["tag"],
		ModelClass: c.query["modelClass"]}
	out, err := c.host.Prompts(c.r.Context(), f, c.query["cursor"], int(limit))
	return reply{status: http.StatusOK, doc: out}, err
}

func getPrompt(c *call) (reply, error) {
	id, ok := pathValue(c.r, "templateId")
	if !ok {
		return reply{}, fault.New(fault.TargetNotFound, "no prompt template has this id")
	}
	out, err := c.host.Prompt(c.r.Context(), promptref.Ref{TemplateID: id, Version: c.query["version"], LibraryID: c.query["libraryId"]})
	if err != nil {
		return reply{}, err
	}
	text, err := canon.Marshal(out)
	if err != nil {
		return reply{}, fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
	}
	c.sendKept(invisible.EscapeJSON(text), "private, max-age=60")
	return reply{}, nil
}
