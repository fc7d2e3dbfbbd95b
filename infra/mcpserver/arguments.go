package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/fault"
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
	if at := unfilled(args); at != "" {
		return Document{}, fault.New(fault.ValidationError, "the arguments of %s: the placeholder %q still stands at %s", t.name, placeholder, at).
			With("pointer", at).Suggest("Put your own words in its place. Leave out what the step does not ask for.")
	}
	doc, err := t.call(ctx, u, by, args)
	var shape *canon.ParseError
	if f := (*fault.Fault)(nil); errors.As(err, &shape) && !errors.As(err, &f) {
		return Document{}, t.refuse(err)
	}
	return doc, err
}

// placeholder stands in next.params where an agent's own words belong. Taken as they
// are, three dots would pass for the notes that a step requires, for good.
const placeholder = "…"

// unfilled points at a placeholder that was sent along.
func unfilled(args canon.Value) string {
	output, _ := args.Get("output")
	if notes, _ := output.Get("notesMarkdown"); notes.Text() == placeholder {
		return "/output/notesMarkdown"
	}
	given, _ := args.Get("context")
	for i := range given.Len() {
		if given.Kind() == canon.Object && given.Item(i).Text() == placeholder {
			return "/context/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(given.Key(i))
		}
	}
	return ""
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
