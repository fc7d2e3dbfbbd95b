package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// perform parses the raw arguments strictly before they are used
// (docs/design.md#json-from-outside), and makes the call. Invalid arguments are VALIDATION_ERROR
// with a JSON pointer.
//
// Missing arguments and null are the empty object.
func (t tool) perform(ctx context.Context, u UseCases, by Caller, raw json.RawMessage) (Document, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var doc Document
	args, err := canon.Parse(raw)
	if err == nil {
		doc, err = t.call(ctx, u, by, args)
	}
	var at *canon.ParseError
	// A fault of the call itself is returned unchanged.
	if f := (*fault.Fault)(nil); errors.As(err, &at) && !errors.As(err, &f) {
		return Document{}, t.invalidArguments(err, at)
	}
	return doc, err
}

// invalidArguments is VALIDATION_ERROR with the place of the error in the arguments and the
// signature of the tool.
func (t tool) invalidArguments(err error, at *canon.ParseError) error {
	f := fault.Wrap(err, fault.ValidationError, "the arguments of %s: %s", t.name, at.Reason)
	if at.Pointer != "" {
		f.Message += " at " + at.Pointer
	}
	return f.With("pointer", at.Pointer).With("reason", at.Reason).
		Suggest("Send %s. Objects are JSON objects, not strings that contain JSON.", t.signature())
}

// withoutNulls treats a null parameter as absent, since many clients send null for every optional
// parameter. In context and artifacts a null is a value and is kept. top is true for the arguments
// themselves.
func withoutNulls(v canon.Value, top bool) canon.Value {
	if v.Kind() != canon.Object {
		return v
	}
	out := v
	for i := range v.Len() {
		name, member := v.Key(i), v.Item(i)
		switch {
		case member.IsNull():
			out = out.Without(name)
		case top && (name == "output" || name == "preferences"):
			out = out.With(name, withoutNulls(member, false))
		}
	}
	return out
}
