package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
)

// The addresses of resources. What follows is an id: of a run, complete, or of a workflow.
const (
	runURI      = "waybill://run/"
	workflowURI = "waybill://workflow/"
)

// jsonType is the media type of all resources: the documents of the tools and of 'waybill runs show'.
const jsonType = "application/json"

// listTemplates lists the forms of addresses.
func listTemplates() *mcp.ListResourceTemplatesResult {
	return &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{
		{Name: "run", Title: "A run", URITemplate: runURI + "{runId}", MIMEType: jsonType,
			Description: "What is recorded of a run: its status, steps, notes, results and decisions."},
		{Name: "workflow", Title: "A workflow", URITemplate: workflowURI + "{workflowId}", MIMEType: jsonType,
			Description: "A workflow as inspect_workflow shows it."},
	}, Cacheable: mcp.Cacheable{TTLMs: limits.MCPToolsFreshMs, CacheScope: "public"}}
}

// listResources lists the latest runs and the workflows that can be started. Other runs are read by
// their id.
func (s Server) listResources(ctx context.Context, cursor string) (mcp.Result, error) {
	runs, err := s.Calls.LatestRuns(ctx, limits.MCPRunsListed)
	if err != nil {
		return nil, err
	}
	workflows, err := s.Calls.Startable(ctx)
	if err != nil {
		return nil, err
	}
	var all []*mcp.Resource
	for _, r := range runs {
		all = append(all, &mcp.Resource{URI: runURI + r.RunID, Name: r.RunID, Title: short(r.Title), MIMEType: jsonType,
			Description: fmt.Sprintf("A run that is %s.", r.Status)})
	}
	for _, w := range workflows {
		all = append(all, &mcp.Resource{URI: workflowURI + w.WorkflowID, Name: w.WorkflowID, Title: short(w.Name),
			MIMEType: jsonType, Description: short(w.Description)})
	}
	all, more, err := page(all, cursor)
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = []*mcp.Resource{}
	}
	return &mcp.ListResourcesResult{Resources: all, NextCursor: more, Cacheable: listed()}, nil
}

// readResource returns a run or a workflow as a document. It changes nothing.
func (s Server) readResource(ctx context.Context, uri string) (mcp.Result, error) {
	var doc Document
	var err error
	keep := mcp.Cacheable{CacheScope: "private"} // a run changes at any time
	if id, ok := strings.CutPrefix(uri, runURI); ok && id != "" {
		doc, err = s.Calls.ShowRun(ctx, id)
	} else if id, ok := strings.CutPrefix(uri, workflowURI); ok && id != "" {
		keep = listed()
		doc, err = s.Calls.InspectWorkflow(ctx, Caller{}, InspectWorkflow{WorkflowID: id})
	} else {
		return nil, rpcError(jsonrpc.CodeInvalidParams,
			"no resource has this address; resources/templates/list shows their forms")
	}
	var f *fault.Fault
	if errors.As(err, &f) && (notFound(f.Code) || f.Code == fault.ValidationError) {
		return nil, rpcError(jsonrpc.CodeInvalidParams, "%s", f.Message)
	}
	if err != nil {
		return nil, err
	}
	data, err := canon.Marshal(doc.Data)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the resource cannot be written as JSON")
	}
	if len(data) > limits.AnswerBytesMax {
		return nil, fault.New(fault.ValidationError, "the resource has %d bytes, at most %d are sent", len(data),
			limits.AnswerBytesMax).Suggest("Ask the user to read it with 'waybill runs show' or 'waybill workflows inspect'.")
	}
	text := string(invisible.EscapeJSON([]byte(`{"v":1,"kind":"` + doc.Kind + `","data":` + string(data) + `}`)))
	return &mcp.ReadResourceResult{Cacheable: keep,
		Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: jsonType, Text: text}}}, nil
}
