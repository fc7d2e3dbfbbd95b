package serve

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// DebugBundle implements httpserver.Host.
func (h *host) DebugBundle(ctx context.Context, run string) (out openwop.DebugBundle, err error) {
	at, err := h.runs.Find(ctx, run)
	if err != nil {
		return out, err
	}
	var notes []feedback.Annotation
	provided, err := h.FeedbackProvided(ctx)
	if err == nil && provided {
		notes, err = learning.CurrentAnnotations(ctx, h.store.Learning, at.Run.String())
	}
	if err != nil {
		return out, err
	}
	return h.wire.Bundle(ctx, at.Run.String(), event.TimeText(h.app.NowMs()), notes)
}

// promptsOf returns the templates that there are: those of the fixtures, if they are served, and the installed ones.
func promptsOf(ctx context.Context, h *host) (promptref.Library, error) {
	list, err := h.store.Installed(ctx, h.app.Flags.Workspace)
	return hosting.Prompts(h.builtIn, cli.Installations(list.Installed).Prompts()), err
}

// Prompts implements httpserver.Host.
func (h *host) Prompts(ctx context.Context, f promptref.Filter, cursor string, limit int) (promptref.Page, error) {
	all, err := promptsOf(ctx, h)
	if err != nil {
		return promptref.Page{}, err
	}
	return hosting.PromptPage(all, f, cursor, limit), nil
}

// Prompt implements httpserver.Host.
func (h *host) Prompt(ctx context.Context, ref promptref.Ref) (promptref.Template, error) {
	all, err := promptsOf(ctx, h)
	if err != nil {
		return promptref.Template{}, err
	}
	return hosting.Prompt(all, ref)
}
