// Package progress shows that a long command works, and ends it at a sound point when a person presses Ctrl-C. It does
// not know what the command does.
package progress

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/terminal"
)

// delay is how long a command works before a line says so.
const delay = time.Second

// Work is a long part of a command.
type Work struct {
	context.Context // ends with the first stop signal; the second one ends the process

	screen  *terminal.Screen
	signals chan os.Signal
	cancel  context.CancelFunc
	line    func(width int) string
	after   time.Duration
	text    atomic.Pointer[string]
	began   time.Time

	Shown bool // the line may be shown
}

// Start begins a long part of a command. Where stderr is a terminal that can redraw a line, and the answer is text, a line
// begins with what and says how long it takes, or what Say was called with last. It is shown after a second, or at once, and
// End removes it.
func Start(ctx context.Context, a *cli.App, what string, atOnce bool) *Work {
	err, _ := a.Err.(*os.File)
	draws := terminal.CanRedraw(err, a.Getenv) && a.Getenv("TERM") != "" && !a.Flags.JSON
	w := &Work{screen: terminal.NewScreen(a.Err, draws, func() int { return a.WidthOf(a.Err) }), signals: make(chan os.Signal, 1),
		began: time.Now(), after: delay, Shown: draws}
	if atOnce {
		w.after = 0
	}
	w.Context, w.cancel = context.WithCancel(ctx)
	w.line = func(width int) string {
		text := fmt.Sprintf("%s %d s", what, int(time.Since(w.began).Seconds()))
		if counted := w.text.Load(); counted != nil {
			text = what + " " + *counted
		}
		return page.Cut(text, width)
	}
	go func() {
		select {
		case <-w.signals:
			signal.Stop(w.signals)
			w.cancel()
		case <-w.Done():
		}
	}()
	w.resume()
	return w
}

// Listing returns ask as a work that reads the sessions of a store: those that changed since they were listed last, with how
// many they are. It changes nothing.
func Listing[T any](a *cli.App, cmd *cobra.Command,
	ask func(context.Context, *cli.Store) (T, error)) func(context.Context, *cli.Store) (T, error) {
	return func(ctx context.Context, o *cli.Store) (T, error) {
		w := Start(ctx, a, "Reading sessions", false)
		if w.Shown && o.Engine.Index != nil {
			o.Engine.Index.OnRead(func(read, of int) { w.Say(fmt.Sprintf("(%d of %d)", read, of)) })
		}
		out, err := ask(w, o)
		return out, w.End(err, "nothing was changed", strings.Fields(cmd.CommandPath())[1:])
	}
}

// resume shows the line and takes signals.
func (w *Work) resume() {
	signal.Notify(w.signals, cli.StopSignals()...)
	w.screen.StartSpinnerAfter(w.after, func(_, width int) string { return w.line(width) })
}

// pause removes the line, and lets a signal end the process.
func (w *Work) pause() {
	w.screen.ClearSpinner()
	signal.Stop(w.signals)
}

// Say replaces the time in the line by how far the work is.
func (w *Work) Say(text string) { w.text.Store(&text) }

// Asking calls ask, which asks a person, without the line and with Ctrl-C as it is at a question.
func (w *Work) Asking(ask func() error) error {
	w.pause()
	defer w.resume()
	return ask()
}

// End removes the line. It returns err, and INTERRUPTED with a sentence on what was done and the command that continues if the work
// was ended by a signal.
func (w *Work) End(err error, done string, next fault.Command) error {
	w.pause()
	stopped := w.Err() != nil
	w.cancel()
	if err == nil || !stopped {
		return err
	}
	return fault.Wrap(err, fault.Interrupted, "interrupted; %s", done).Suggest("Continue with %s.", next)
}
