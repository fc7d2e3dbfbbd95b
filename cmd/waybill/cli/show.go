package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// WithStore opens the store, calls use and closes the store. The error is that of Open or use.
func (a *App) WithStore(ctx context.Context, use func(context.Context, *Store) error) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	return use(ctx, o)
}

// Ask is WithStore for a call with a result.
func Ask[T any](ctx context.Context, a *App, ask func(context.Context, *Store) (T, error)) (doc T, err error) {
	err = a.WithStore(ctx, func(ctx context.Context, o *Store) error {
		doc, err = ask(ctx, o)
		return err
	})
	return doc, err
}

// brief bounds how long AskBriefly reads the store: a shell waits for it.
const brief = time.Second

// AskBriefly is Ask for a completion: the result is empty on errors, for invalid common flags, and if the store
// is not read in time.
func AskBriefly[T any](a *App, cmd *cobra.Command, ask func(context.Context, *Store) (T, error)) T {
	var none T
	if a.checkCommon() != nil {
		return none
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), brief)
	defer cancel()
	out, err := Ask(ctx, a, ask)
	if err != nil {
		return none
	}
	return out
}

// Show implements a command that makes one call of the store: it opens the store, calls ask,
// prints the result as the document of a kind or as text, and closes the store. The store is
// open while print runs, so that print may read from it. Errors of Open and ask are returned
// unchanged, and nothing is printed then.
func Show[T any](a *App, cmd *cobra.Command, kind string, ask func(context.Context, *Store) (T, error),
	print func(*page.Page, T)) error {
	return ShowVerdict(a, cmd, kind, ask, print, nil)
}

// ShowVerdict is Show for a check: after the answer is printed, status returns the exit status
// of the command, such as fault.ExitIntegrity for a damaged log; nil: fault.ExitDone.
func ShowVerdict[T any](a *App, cmd *cobra.Command, kind string, ask func(context.Context, *Store) (T, error),
	print func(*page.Page, T), status func(T) int) error {
	return a.WithStore(cmd.Context(), func(ctx context.Context, o *Store) error {
		doc, err := ask(ctx, o)
		if err != nil {
			return err
		}
		exit := fault.ExitDone
		if status != nil {
			exit = status(doc)
		}
		return a.AnswerVerdict(kind, doc, func(p *page.Page) { print(p, doc) }, exit)
	})
}

// AnswerVerdict is Answer for a check whose result is also the exit status of the command.
func (a *App) AnswerVerdict(kind string, data any, people func(*page.Page), status int) error {
	err := a.Answer(kind, data, people)
	if err == nil && status != fault.ExitDone {
		return ExitWith(status)
	}
	return err
}

// IntegrityStatus returns the exit status of a check: fault.ExitDone if ok, otherwise
// fault.ExitIntegrity.
func IntegrityStatus(ok bool) int {
	if ok {
		return fault.ExitDone
	}
	return fault.ExitIntegrity
}
