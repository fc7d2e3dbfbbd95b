package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// run reads the raw arguments strictly before anything else sees them (R5), and
// makes the call. Whatever is wrong with them is VALIDATION_ERROR with the place.
func (t tool) run(ctx context.Context, u UseCases, by event.Actor, raw json.RawMessage) (Document, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	args, err := canon.Parse(raw)
	if err != nil {
		return Document{}, t.refuse(err)
	}
	doc, err := t.call(ctx, u, by, args)
	var shape *canon.ParseError
	if f := (*fault.Fault)(nil); errors.As(err, &shape) && !errors.As(err, &f) {
		return Document{}, t.refuse(err)
	}
	return doc, err
}

// refuse says where the arguments are wrong, and how the call is written. A
// pointer names a place in the arguments.
func (t tool) refuse(err error) error {
	f := fault.Wrap(err, fault.ValidationError, "the arguments of %s: %v", t.name, err)
	var at *canon.ParseError
	if errors.As(err, &at) {
		f.Message = "the arguments of " + t.name + ": " + at.Reason
		if at.Pointer != "" {
			f.Message += " at " + at.Pointer
		}
		f.With("pointer", at.Pointer).With("reason", at.Reason)
	}
	return f.Suggest("Send %s. Objects are sent as JSON objects, not as text that holds JSON.", t.signature())
}

// withoutNulls takes a null for a parameter that was left out: many clients send
// one for every optional parameter. In context and artifacts a null means something
// and is kept.
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
