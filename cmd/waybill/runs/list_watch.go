package runs

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// How often a watched list looks at the size of the window, and after how many looks it is read again although no session
// changed: it shows how long ago things happened.
const (
	lookEvery  = time.Second
	looksToAge = 30
)

// watchRuns draws the list of runs again whenever it or the size of the window has changed, until a signal is received,
// which ends it with exit status 0. It needs a terminal that can be drawn on: a program reads the list again instead, or
// follows a run with 'runs watch'.
func watchRuns(a *cli.App, cmd *cobra.Command, s lists.Selection) error {
	out, _ := a.Out.(*os.File)
	if a.Flags.JSON || !terminal.CanRedraw(out, a.Getenv) {
		return cli.UsageFault(cmd, "--watch draws the list again and needs a terminal").
			Suggest("Leave --watch out, or follow one run with %s.", fault.Command{"runs", "watch", "RUN"})
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
		var drawn []byte
		var rows int
		changes := ports.SessionsWaiter(o.Ports)
		defer changes.Close()
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			list, err := lists.SelectRuns(ctx, o.Lists, s)
			if ctx.Err() != nil {
				return endWatch(a)
			}
			if err != nil {
				return err
			}
			p := a.NewPage(a.Out)
			showRuns(a, list, p)
			p.Line("%s", p.Dim("Ctrl-C stops."))
			_, height := terminal.Size(out)
			if !bytes.Equal(p.Bytes(), drawn) || height != rows {
				drawn, rows = bytes.Clone(p.Bytes()), height
				if err := terminal.Redraw(out, height, string(drawn)); err != nil {
					return fault.Wrap(err, fault.OutputFailed, "the list could not be written to stdout: %v", err)
				}
			}
			if err := changed(ctx, changes, tick.C, func() bool {
				_, height := terminal.Size(out)
				return height != rows
			}); err != nil {
				return endWatch(a)
			}
		}
	})
}

// changed returns when the list has to be read again: after a change of a session or of the window, or when it is old. The
// error is that of ctx.
func changed(ctx context.Context, changes *ports.Waiter, tick <-chan time.Time, resized func() bool) error {
	for range looksToAge {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes.Woken():
			return nil
		case <-tick:
			if resized() {
				return nil
			}
		}
	}
	return nil
}

// endWatch leaves the list on the terminal and puts the prompt of the shell below it.
func endWatch(a *cli.App) error { return a.Write([]byte("\n")) }
