package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// errorBody is a fault as agents see it (locks section 12).
type errorBody struct {
	Code       fault.Code     `json:"code"`
	Message    string         `json:"message"`
	Retry      fault.Retry    `json:"retry"`
	Suggestion string         `json:"suggestion"`
	Details    map[string]any `json:"details,omitzero"`
}

// answered is a document as a tool's result: structured, and the same as text for
// clients that show only that.
func answered(d Document) (*mcp.CallToolResult, error) {
	data, err := canon.Marshal(d.Data)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
	}
	return result(`{"v":1,"kind":"` + d.Kind + `","data":` + string(data) + `}`), nil
}

// failed is a fault as a tool's result: errors are data (locks section 12), so
// that the agent reads what to do, and the protocol's own errors stay its own.
func failed(f *fault.Fault) *mcp.CallToolResult {
	body, err := canon.Marshal(errorBody{f.Code, f.Message, f.Retry, f.Suggestion, f.Details})
	if err != nil { // details that JSON does not have must not hide the error
		body, err = canon.Marshal(errorBody{Code: f.Code, Message: f.Message, Retry: f.Retry, Suggestion: f.Suggestion})
	}
	if err != nil { // nor a message that quotes what is no text
		row := fault.Lookup(f.Code)
		body, _ = canon.Marshal(errorBody{Code: f.Code, Message: row.Meaning, Retry: f.Retry,
			Suggestion: row.Suggestion})
	}
	r := result(`{"v":1,"kind":"error","error":` + string(body) + `}`)
	r.IsError = true
	return r
}

func result(doc string) *mcp.CallToolResult {
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(doc),
		Content: []mcp.Content{&mcp.TextContent{Text: doc}}}
}
