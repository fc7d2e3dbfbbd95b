package cli

import (
	"context"
	"log/slog"

	"github.com/waybill/waybill/cmd/waybill/cli/notify"
	"github.com/waybill/waybill/durable/engine/notice"
	"github.com/waybill/waybill/durable/engine/settings"
)

// OnMachine returns the settings of the store on this machine.
func (o *Store) OnMachine() settings.OnMachine {
	machine, err := o.app.Machine()
	if err != nil {
		return settings.OnMachine{Settings: o.Settings}
	}
	return settings.OnMachine{Settings: o.Settings, Machine: machine}
}

// notifying returns the notifications of what this process appends to a store; nil: there are none.
func notifying(a *App, o *Store) *notify.Queue {
	if a.Getenv(notify.Env) != "" {
		return nil
	}
	return a.Notifications.Of(notify.Store{
		Command: func(ctx context.Context) ([]string, error) { return o.OnMachine().NotifyCommand(ctx) },
		Notice: func(ctx context.Context, rec notice.Recorded) (notice.Notice, bool, error) {
			n, ok, err := o.Notices.After(ctx, rec)
			n.Next.Command = a.WithStoreFlags(n.Next.Command)
			return n, ok, err
		},
		Log: func() *slog.Logger { return slog.New(a.LogHandler()) }, Explain: a.SuggestForStore, Home: a.home()})
}
