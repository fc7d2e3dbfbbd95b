package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// Show is a whole command that needs one call of the store: it opens the store, asks, prints
// the answer as the document of a kind or as text, and closes the store. The store is open
// while print runs, which may look up in it what it prints. An error of Open or ask is
// returned as it is, and nothing is printed then.
func Show[T any](a *App, cmd *cobra.Command, kind string, ask func(context.Context, *Store) (T, error),
	print func(*page.Page, T)) error {
	return ShowVerdict(a, cmd, kind, ask, print, func(T) int { return fault.ExitDone })
}

// ShowVerdict is Show for a check: after the answer is printed, status gives the exit status
// of the command, such as fault.ExitIntegrity for a log that is damaged.
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

// IntegrityUnless is the exit status of a check: fault.ExitDone where all is in order, else
// fault.ExitIntegrity.
func IntegrityUnless(ok bool) int {
	if ok {
		return fault.ExitDone
	}
	return fault.ExitIntegrity
}
