package httpserver

import (
	"cmp"
	"net/http"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

func resolvePrompt(c *call) (reply, error) {
	var in resolveBody
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	source := promptref.Source{Kind: in.Kind, Agent: in.AgentManifest, Run: in.PromptOverrides, Host: in.HostDefaults}
	source.Workflow, _ = in.WorkflowDefaults.Get("promptRefs")
	source.Config, _ = in.Node.Get("config")
	name, _ := in.Node.Get("nodeId")
	if source.NodeID = name.Text(); source.NodeID == "" || !in.Kind.Known() {
		return reply{}, invalid("the request has no node.nodeId, or no kind of a prompt")
	}
	return reply{status: http.StatusOK, doc: promptref.Resolve(source)}, nil
}

func emitUsage(c *call) (reply, error) { return c.emit(openwop.DecodeUsage) }

func emitReliability(c *call) (reply, error) { return c.emit(openwop.DecodeReliability) }

// emit records the event of the body.
func (c *call) emit(decode func(canon.Value) (openwop.Emission, error)) (reply, error) {
	in, err := decode(c.body)
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Emit(c.r.Context(), c.by(), in)
	return reply{status: http.StatusOK, doc: openwop.Emitted{Event: out}}, err
}

func listEmitted(c *call) (reply, error) {
	run, ok := pathValue(c.r, "runId")
	if !ok {
		return reply{}, fault.New(fault.RunNotFound, "no run has this id")
	}
	all, err := c.host.Emitted(c.r.Context(), c.by(), run, c.query["type"], cmp.Or(c.query["causationId"], c.query["correlationId"]),
		c.query["nodeId"])
	return reply{status: http.StatusOK, doc: eventList{all}}, err
}

func programMock(c *call) (reply, error) {
	var in openwop.MockProgram
	err := c.decode(&in)
	if err == nil {
		err = in.Check()
	}
	if err == nil {
		err = c.host.Program(c.r.Context(), in)
	}
	return reply{status: http.StatusOK, doc: in}, err
}

func getMockBudget(c *call) (reply, error) {
	out := mockBudget{NodeID: c.query["nodeId"]}
	if n, ok := c.host.Budget(c.r.Context(), out.NodeID); ok {
		out.MaxTokens = &n
	}
	return reply{status: http.StatusOK, doc: out}, nil
}

func resetTest(c *call) (reply, error) {
	n, err := c.host.Reset(c.r.Context(), c.by())
	return reply{status: http.StatusOK, doc: resetAnswer{int64(n)}}, err
}
