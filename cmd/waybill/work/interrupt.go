package work

import (
	"context"
	"os"
	"os/signal"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
)

// interruptible gives a context that ends with the first signal to stop; stop
// must be called at the end. A second signal has its usual effect and ends the
// process, so that a person need not wait for a command that takes its time.
// While an editor has the terminal, Ctrl-C is meant for the editor and is
// ignored.
func interruptible(parent context.Context, view *runview.View) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	// One signal is enough to remember; the second one goes to the process.
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
				// From here on a signal ends the process.
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
