package work

import (
	"context"
	"os"
	"os/signal"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
)

// interruptible returns a context that is cancelled by the first stop signal; the caller must
// call stop at the end. A second signal has its default effect and ends the process, so that a
// person need not wait for a slow command. While an editor uses the terminal, Ctrl-C is for
// the editor and is ignored.
func interruptible(parent context.Context, view *runview.View) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	// A buffer of one is enough: after the first signal, Notify is stopped.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, cli.StopSignals()...)
	// The goroutine ends with ctx, which stop cancels.
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if s == os.Interrupt && view.Editing() {
					continue
				}
				// The next signal ends the process.
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
