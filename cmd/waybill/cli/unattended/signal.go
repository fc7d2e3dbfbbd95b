package unattended

import (
	"context"
	"os"
	"os/signal"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// UntilSignal returns a context that is cancelled by the first stop signal, after stopping was called; the caller must
// call stop at the end. A second signal has its default effect and ends the process, so that a
// person need not wait for a slow command. ignores reports that a signal is for another program, such as Ctrl-C while an editor uses
// the terminal; nil: none is.
func UntilSignal(parent context.Context, ignores func(os.Signal) bool, stopping func()) (ctx context.Context, stop func()) {
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
				if ignores != nil && ignores(s) {
					continue
				}
				// The next signal ends the process.
				signal.Stop(signals)
				stopping()
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}
