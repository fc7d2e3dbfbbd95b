package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybill/waybill/cmd/waybill/runview"
)

// stopSignals are the signals that ask a command to stop.
func stopSignals() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		out = append(out, syscall.SIGHUP)
	}
	return out
}

// interruptible gives a context that ends with the first signal to stop. A second
// one ends the process as if nobody listened: whoever is in a hurry is not made to
// wait for a command that takes its time. While an editor has the terminal, Ctrl-C
// is the editor's.
func interruptible(parent context.Context, view *runview.View) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals()...)
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
