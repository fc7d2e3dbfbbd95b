package mcp

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/agents"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/mcpserver"
)

// elicited returns a request with what the user of the client answered for its attempt. Without a
// confirmation for which the step waits, unconfirmed is the answer of the call, and no attempt is made.
func (c agentCalls) elicited(ctx context.Context, by mcpserver.Caller, stateToken string,
	req advance.Request) (_ advance.Request, unconfirmed *engine.Answer, err error) {
	step, err := cli.Ask(ctx, c.a, func(ctx context.Context, o *cli.Store) (engine.Answer, error) {
		return o.Continue(ctx, engine.Caller{}, engine.Continue{StateToken: stateToken})
	})
	form := agents.FormOf(step, req.Context)
	if err != nil || form.Empty() {
		return req, nil, nil // the attempt reports the error
	}
	values, accepted, err := by.Ask(ctx, question(step, form))
	switch {
	case err != nil:
		return req, nil, err
	case accepted:
		return form.Fill(req, values), nil, nil
	case form.Confirms:
		out := form.Unconfirmed()
		return req, &out, nil
	}
	return req, nil, nil
}

// question is the form as the user sees it.
func question(step engine.Answer, form agents.Form) mcpserver.Question {
	of := fmt.Sprintf("the step %q of %q (%s)", step.Pending.Title, step.Workflow.Name, step.Session.RunID)
	var q mcpserver.Question
	switch {
	case !form.Confirms:
		q.Message = "For " + of + " an answer is needed."
	case len(form.Inputs) == 0:
		q.Message = "Continue after " + of + "? It waits for your confirmation."
	default:
		q.Message = "Continue after " + of + "? It waits for your confirmation and needs an answer."
	}
	for _, in := range form.Inputs {
		q.Fields = append(q.Fields, mcpserver.Field{Key: in.ContextKey, About: in.Description,
			Choices: in.Accepts.Texts()})
	}
	return q
}
