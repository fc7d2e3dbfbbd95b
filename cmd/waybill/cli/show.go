package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// Show implements a command that makes one call of the store: it opens the store, calls ask,
// prints the result as the document of a kind or as text, and closes the store. The store is
// open while print runs, so that print may read from it. Errors of Open and ask are returned
// unchanged, and nothing is printed then.
func Show[T any](a *App, cmd *cobra.Command, kind string, ask func(context.Context, *Store) (T, error),
	print func(*page.Page, T)) error {
	return ShowVerdict(a, cmd, kind, ask, print, func(T) int { return fault.ExitDone })
}

// ShowVerdict is Show for a check: after the answer is printed, status returns the exit status
// of the command, such as fault.ExitIntegrity for a damaged log.
func ShowVerdict[T any](a *App, cmd *cobra.Command, kind string, ask func(context.Context, *Store) (T, error),
	print func(*page.Page, T), status func(T) int) error {
	o, err := a.Open(cmd.Context())
	if err != nil {
		return err
	}
	defer o.Close()
	doc, err := ask(cmd.Context(), o)
	if err != nil {
		return err
	}
	if err := a.Answer(kind, doc, func(p *page.Page) { print(p, doc) }); err != nil {
		return err
	}
	if s := status(doc); s != fault.ExitDone {
		return ExitWith(s)
	}
	return nil
}

// IntegrityStatus returns the exit status of a check: fault.ExitDone if ok, otherwise
// fault.ExitIntegrity.
func IntegrityStatus(ok bool) int {
	if ok {
		return fault.ExitDone
	}
	return fault.ExitIntegrity
}
