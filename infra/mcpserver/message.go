package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// invalidMessage describes why a line is not a message for the server.
type invalidMessage struct {
	id     any // of the call if it is known, else nil
	code   int64
	reason string
}

// tooLongReason is the error of a line above limits.MCPMessageBytesMax.
var tooLongReason = fmt.Sprintf("the message is longer than %d bytes; keep large content in files and pass their paths",
	limits.MCPMessageBytesMax)

// argumentsPointer is the place of a tool's arguments in a message. Errors there are reported by
// the tool, as data that an agent can act on.
const argumentsPointer = "/params/arguments"

// decode parses one message as strictly as all external JSON (docs/design.md#json-from-outside).
//
// The checks run in this order:
//   - valid JSON in UTF-8, else the code of a parse error and no id;
//   - no duplicate keys, unrepresentable numbers or deep nesting outside the arguments of a tool;
//   - the envelope of a JSON-RPC message;
//   - the decoder of the SDK.
//
// Violations of the second rule inside the arguments pass: the tool reports them.
func decode(line []byte) (jsonrpc.Message, *invalidMessage) {
	v, err := canon.Parse(line)
	var at *canon.ParseError
	switch {
	case err == nil:
		if bad := checkEnvelope(v); bad != nil {
			return nil, bad
		}
	case !utf8.Valid(line) || !json.Valid(line):
		// json.Valid does not recurse: it refuses extremely nested input before the recursive
		// decoder of the SDK reads it.
		return nil, &invalidMessage{nil, jsonrpc.CodeParseError, fmt.Sprintf("the line is not a JSON message: %v", err)}
	case errors.As(err, &at) && (at.Pointer == argumentsPointer || strings.HasPrefix(at.Pointer, argumentsPointer+"/")):
	default:
		return nil, &invalidMessage{idOfRefused(line), jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("the message is refused: %v", err)}
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, &invalidMessage{idOfRefused(line), jsonrpc.CodeInvalidRequest, err.Error()}
	}
	return msg, nil
}

// checkEnvelope refuses a value that is not a JSON-RPC message of MCP.
//
// The id of a message with a valid id is in the error, also when other members are wrong.
func checkEnvelope(v canon.Value) *invalidMessage {
	id, hasID := v.Get("id")
	method, isRequest := v.Get("method")
	params, hasParams := v.Get("params")
	version, _ := v.Get("jsonrpc")
	_, done := v.Get("result")
	_, failed := v.Get("error")
	for _, rule := range []struct {
		broken bool
		code   int64
		reason string
	}{
		{v.Kind() == canon.Array, jsonrpc.CodeInvalidRequest,
			"batches are not part of the protocol; send one message a line"},
		{v.Kind() != canon.Object, jsonrpc.CodeInvalidRequest, "a message is a JSON object"},
		{hasID && idOf(id) == nil, jsonrpc.CodeInvalidRequest, "an id is a string or a whole number of at most 2^53"},
		{version.Text() != "2.0", jsonrpc.CodeInvalidRequest, `"jsonrpc" must be "2.0"`},
		// A response to a call of this server has a result or an error.
		{!isRequest && !done && !failed, jsonrpc.CodeInvalidRequest, "a message has a method"},
		{isRequest && method.Kind() != canon.String, jsonrpc.CodeInvalidRequest, "a method is a string"},
		{hasParams && params.Kind() != canon.Object, jsonrpc.CodeInvalidRequest, "params are an object"},
		{method.Text() == methodListen, jsonrpc.CodeMethodNotFound,
			"subscriptions are not supported: the lists do not change"},
	} {
		if rule.broken {
			return &invalidMessage{idOf(id), rule.code, rule.reason}
		}
	}
	return nil
}

// methodListen subscribes to changes of the lists. They never change, and a call that does not end
// would prevent the server from ending.
const methodListen = "subscriptions/listen"

// idMax is the largest integer that every JSON implementation represents exactly; the answer to a
// call with a larger id might not match it.
const idMax = 1 << 53

// idOf converts an id for an answer: a string, or an integer up to idMax; nil for other values.
func idOf(v canon.Value) any {
	switch {
	case v.Kind() == canon.String:
		return v.Text()
	case v.Kind() == canon.Number && v.Float() == math.Trunc(v.Float()) && math.Abs(v.Float()) <= idMax:
		return int64(v.Float())
	}
	return nil
}

// idOfRefused returns the id of a message that is refused, so that its sender can match the error.
func idOfRefused(line []byte) any {
	var loose struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &loose) != nil {
		return nil
	}
	v, err := canon.Parse(loose.ID)
	if err != nil {
		return nil
	}
	return idOf(v)
}
