package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

func (h *fakeHost) DebugBundle(ctx context.Context, run string) (out openwop.DebugBundle, err error) {
	if err := h.begin(ctx, "DebugBundle", run); err != nil {
		return out, err
	}
	r, err := h.find(run)
	if err != nil {
		return out, err
	}
	var events openwop.BundleEvents
	for _, e := range r.events {
		if err := events.Add(e); err != nil {
			return out, err
		}
	}
	return openwop.NewDebugBundle("2026-01-01T00:00:00.000Z", openwop.Host{Name: "waybill", Version: "test"},
		openwop.Snapshot{RunID: r.id, Status: r.status, Variables: canon.OfMembers()}, &events, nil)
}

// templates are those of every fakeHost.
var templates = promptref.NewLibrary([]promptref.Template{{ID: "a", Version: "1.0.0", Kind: promptref.System, Text: "t"}, {ID: "b", Version: "1.0.0", Kind: promptref.User, Text: "t"}})

func (h *fakeHost) Prompts(ctx context.Context, f promptref.Filter, cursor string, limit int) (promptref.Page, error) {
	if err := h.begin(ctx, "Prompts", f, cursor, limit); err != nil {
		return promptref.Page{}, err
	}
	return templates.List(f, cursor, limit, func(promptref.Template) bool { return true }), nil
}

func (h *fakeHost) Prompt(ctx context.Context, ref promptref.Ref) (promptref.Template, error) {
	if err := h.begin(ctx, "Prompt", ref); err != nil {
		return promptref.Template{}, err
	}
	t, refused := templates.Find(ref)
	if refused != nil {
		return t, fault.New(fault.TargetNotFound, "none")
	}
	return t, nil
}
