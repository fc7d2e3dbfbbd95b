package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// listPrompts lists one prompt for each workflow that can be started, named as it, with its inputs as
// arguments. Those of later steps are optional.
func (s Server) listPrompts(ctx context.Context, cursor string) (mcp.Result, error) {
	all, err := s.Calls.Startable(ctx)
	if err != nil {
		return nil, err
	}
	all, more, err := page(all, cursor)
	if err != nil {
		return nil, err
	}
	out := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, NextCursor: more, Cacheable: listed()}
	for _, w := range all {
		p := &mcp.Prompt{Name: w.WorkflowID, Title: short(w.Name), Description: short(w.Description)}
		for _, in := range w.Inputs {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: in.Key, Description: short(in.about()),
				Required: in.FromStart})
		}
		out.Prompts = append(out.Prompts, p)
	}
	return out, nil
}

// short bounds a text of a workflow in a list.
func short(text string) string { return reason.Clip(text, limits.MCPTextShownMax) }

// about is the description of an input with its choices.
func (in Input) about() string {
	if len(in.Choices) == 0 {
		return in.Description
	}
	return in.Description + " (one of " + strings.Join(in.Choices, ", ") + ")"
}

// getPrompt returns the text that leads an agent to start a workflow with the given values. It starts
// nothing. The values are data of the call that it shows: JSON in one line.
func (s Server) getPrompt(ctx context.Context, params *mcp.GetPromptParams) (mcp.Result, error) {
	all, err := s.Calls.Startable(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(w Startable) bool { return w.WorkflowID == params.Name })
	if at < 0 {
		return nil, rpcError(jsonrpc.CodeInvalidParams, "unknown prompt %q; prompts/list names those of the workflows that "+
			"can be started here", reason.Clip(params.Name, limits.TitleBytesMax))
	}
	w := all[at]
	given, missing := []canon.Member{}, []string{}
	for _, in := range w.Inputs {
		value := params.Arguments[in.Key]
		switch {
		case strings.TrimSpace(value) != "":
			if len(in.Choices) > 0 && !slices.Contains(in.Choices, value) {
				return nil, rpcError(jsonrpc.CodeInvalidParams, "the argument %s of %s is one of %s", in.Key, w.WorkflowID,
					short(strings.Join(in.Choices, ", ")))
			}
			given = append(given, canon.Member{Name: in.Key, Value: canon.OfString(value)})
		case in.FromStart:
			missing = append(missing, in.Key)
		}
	}
	for name := range params.Arguments {
		if !slices.ContainsFunc(w.Inputs, func(in Input) bool { return in.Key == name }) {
			return nil, rpcError(jsonrpc.CodeInvalidParams, "%s has no argument %q", w.WorkflowID,
				reason.Clip(name, limits.TitleBytesMax))
		}
	}
	call := canon.OfMembers(canon.Member{Name: "workflowId", Value: canon.OfString(w.WorkflowID)})
	if len(given) > 0 {
		call = call.With("context", canon.OfMembers(given...))
	}
	text := fmt.Sprintf("Start the workflow %s now: call the tool start_workflow with\n\n%s\n\n"+
		"Then do what the answer asks for, step by step, until isComplete is true.", w.WorkflowID,
		invisible.EscapeJSON(call.JCS()))
	if len(missing) > 0 {
		text += fmt.Sprintf("\n\nThe workflow needs more from the user: %s. Ask them before you start it, and add the "+
			"answers to context.", strings.Join(missing, ", "))
	}
	return &mcp.GetPromptResult{Description: short(w.Description),
		Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
}
