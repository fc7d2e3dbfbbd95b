package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/redact/faults"
)

// errorBody is the form of a fault in a tool's result (docs/design.md#errors).
type errorBody struct {
	Code       fault.Code     `json:"code"`
	Message    string         `json:"message"`
	Retry      fault.Retry    `json:"retry"`
	Suggestion string         `json:"suggestion"`
	Details    map[string]any `json:"details,omitzero"`
}

// successResult is a document as a tool's result: structured, and as the same text for clients that
// show only text.
func successResult(d Document) (*mcp.CallToolResult, error) {
	data, err := canon.Marshal(d.Data)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
	}
	return newResult(`{"v":1,"kind":"` + d.Kind + `","data":` + string(data) + `}`), nil
}

// errorResult is a fault, without its secrets, as a tool's result. Errors are data (docs/design.md#errors), so that the
// agent reads the suggestion; protocol errors are reserved for the protocol.
//
// Where the details cannot be encoded they are omitted; where the message cannot, the meaning of
// the code replaces it. The code is always returned.
func errorResult(f *fault.Fault) *mcp.CallToolResult {
	f = faults.Redact(f)
	shown := errorBody{f.Code, f.Message, f.Retry, f.Suggestion.String(), f.Details}
	body, err := canon.Marshal(shown)
	if err != nil { // details that JSON cannot represent must not hide the error
		shown.Details = nil
		body, err = canon.Marshal(shown)
	}
	if err != nil { // nor must a message that is not valid UTF-8
		row := fault.Lookup(f.Code)
		shown.Message, shown.Suggestion = row.Meaning, row.Suggestion.String()
		body, _ = canon.Marshal(shown)
	}
	r := newResult(`{"v":1,"kind":"error","error":` + string(body) + `}`)
	r.IsError = true
	return r
}

// newResult wraps a JSON document. Characters that a terminal executes or hides are escaped here for
// the text, which clients show as it is, and in every line that is written (docs/design.md#printed-bytes).
func newResult(doc string) *mcp.CallToolResult {
	doc = string(invisible.EscapeJSON([]byte(doc)))
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(doc),
		Content: []mcp.Content{&mcp.TextContent{Text: doc}}}
}
