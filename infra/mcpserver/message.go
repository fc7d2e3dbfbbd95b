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

// badMessage is why a line is no message for the server.
type badMessage struct {
	id     any // of the call where it can be told, else nil
	code   int64
	reason string
}

var tooLong = fmt.Sprintf("the message is longer than %d bytes; keep large things in files and pass their paths",
	limits.MCPMessageBytesMax)

// argumentsAt is where a tool's arguments stand in a message. What is wrong there is
// told by the tool, as data that an agent can act on.
const argumentsAt = "/params/arguments"

// decode reads one message as strictly as all JSON from outside (R5).
func decode(line []byte) (jsonrpc.Message, *badMessage) {
	v, err := canon.Parse(line)
	var at *canon.ParseError
	switch {
	case err == nil:
		if bad := checkEnvelope(v); bad != nil {
			return nil, bad
		}
	case !utf8.Valid(line) || !json.Valid(line):
		// The standard library's check is not recursive: what is nested without end is
		// stopped here, before a reader that is.
		return nil, &badMessage{nil, jsonrpc.CodeParseError, fmt.Sprintf("the line is no JSON message: %v", err)}
	case errors.As(err, &at) && (at.Pointer == argumentsAt || strings.HasPrefix(at.Pointer, argumentsAt+"/")):
	default:
		return nil, &badMessage{looseID(line), jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("the message is refused: %v", err)}
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, &badMessage{looseID(line), jsonrpc.CodeInvalidRequest, err.Error()}
	}
	return msg, nil
}

// checkEnvelope refuses what is no JSON-RPC message of MCP.
func checkEnvelope(v canon.Value) *badMessage {
	bad := &badMessage{code: jsonrpc.CodeInvalidRequest}
	if v.Kind() == canon.Array {
		bad.reason = "batches are not part of the protocol; send one message a line"
		return bad
	}
	if v.Kind() != canon.Object {
		bad.reason = "a message is a JSON object"
		return bad
	}
	id, hasID := v.Get("id")
	if hasID && !validID(id) {
		bad.reason = "an id is a string or a whole number of at most 2^53"
		return bad
	}
	bad.id = idOf(id)
	method, isRequest := v.Get("method")
	params, hasParams := v.Get("params")
	version, _ := v.Get("jsonrpc")
	switch {
	case version.Text() != "2.0":
		bad.reason = `"jsonrpc" must be "2.0"`
	case !isRequest && !answers(v):
		bad.reason = "a message has a method"
	case isRequest && method.Kind() != canon.String:
		bad.reason = "a method is a string"
	case hasParams && params.Kind() != canon.Object:
		bad.reason = "params are an object"
	case method.Text() == listen:
		bad.code, bad.reason = jsonrpc.CodeMethodNotFound, "nothing here changes that could be listened to"
	default:
		return nil
	}
	return bad
}

// listen asks to be told when the lists of tools change. They never do, and a call
// that never ends would keep the server from ending.
const listen = "subscriptions/listen"

// answers: a message without a method is an answer to a call of ours, and says what
// came of it.
func answers(v canon.Value) bool {
	_, done := v.Get("result")
	_, failed := v.Get("error")
	return done || failed
}

// idMax is the largest id that is the same number everywhere; a larger one would be
// answered under another's name.
const idMax = 1 << 53

func validID(v canon.Value) bool {
	return v.Kind() == canon.String || v.Kind() == canon.Number && v.Float() == math.Trunc(v.Float()) &&
		math.Abs(v.Float()) <= idMax
}

func idOf(v canon.Value) any {
	switch v.Kind() {
	case canon.String:
		return v.Text()
	case canon.Number:
		return int64(v.Float())
	}
	return nil
}

// looseID finds the id of a message that is refused, so that its sender learns of
// it.
func looseID(line []byte) any {
	var loose struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &loose) != nil {
		return nil
	}
	v, err := canon.Parse(loose.ID)
	if err != nil || !validID(v) {
		return nil
	}
	return idOf(v)
}
