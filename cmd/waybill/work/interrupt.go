package work

import (
	"context"
	"os"
	"os/signal"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
)

// interruptible gives a context that ends with the first signal to stop. A second
// one ends the process as if nobody listened: whoever is in a hurry is not made to
// wait for a command that takes its time. While an editor has the terminal, Ctrl-C
// is the editor's.
func interruptible(parent context.Context, view *runview.View) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, cli.StopSignals()...)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if s == os.Interrupt && view.Editing() {
					continue
				}
				signal.Stop(signals)
				view.Stopping()
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}
