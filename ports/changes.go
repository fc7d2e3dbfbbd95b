package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// Changes reports that logs of a store change, whichever process changes them (docs/design.md#changes). It says that
// a log may have changed, never what was recorded: the caller reads the log.
//
// The functions that it calls must not block and must not call the port: they set a flag, or send on a channel that has
// room. They are called on any goroutine, one call at a time, once for several changes, and perhaps without a change; not
// after stop has returned, which may be called more than once.
type Changes interface {
	// Watch calls changed after each change of one of the logs that is not yet readable when Watch returns, until stop is
	// called. A caller that opens the watch before it reads misses nothing. Logs are those with the same Root; they
	// need not exist yet. What stays as it is, such as the torn tail of a log, is no change.
	Watch(changed func(), logs ...manifest.Log) (stop func())

	// WatchSessions calls changed after each change of a session of the store, also of one that does not exist yet: an
	// append to its events or its annotations, an import, a deletion, a mark.
	WatchSessions(changed func()) (stop func())
}

// Waiter waits for changes. It is used by one goroutine.
type Waiter struct {
	woken chan struct{}
	stop  func()
}

// WaiterOf returns a waiter for the changes of logs from now on. The caller closes it.
func WaiterOf(c Changes, logs ...manifest.Log) *Waiter {
	w := &Waiter{woken: make(chan struct{}, 1)}
	w.stop = c.Watch(w.wake, logs...)
	return w
}

// SessionsWaiter returns a waiter for the changes of all sessions of a store from now on. The caller closes it.
func SessionsWaiter(c Changes) *Waiter {
	w := &Waiter{woken: make(chan struct{}, 1)}
	w.stop = c.WatchSessions(w.wake)
	return w
}

func (w *Waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Woken is readable after a change; the changes before it is read count as one.
func (w *Waiter) Woken() <-chan struct{} { return w.woken }

// Wait returns nil after a change since the waiter was made or Wait returned last, or the error of ctx.
func (w *Waiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.woken:
		return nil
	}
}

// Close ends the waiting.
func (w *Waiter) Close() { w.stop() }
