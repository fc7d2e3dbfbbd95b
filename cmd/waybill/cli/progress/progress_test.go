//go:build linux

package progress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/fault"
)

// shown returns what a work of a time writes to a terminal.
func shown(t *testing.T, a *cli.App, long time.Duration, atOnce bool) string {
	t.Helper()
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	_ = pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80})
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(user) // ends with an error when the terminal is closed
		read <- string(text)
	}()
	a.Err = tty
	w := Start(context.Background(), a, "Working", atOnce)
	w.Say("1 of 2")
	time.Sleep(long)
	if err := w.End(nil, "", nil); err != nil {
		t.Error(err)
	}
	_ = tty.Close()
	return <-read
}

// TestLineOfALongWork: the line is shown at a terminal after a second, or at once, and is removed; never for a document or
// where it cannot be removed.
func TestLineOfALongWork(t *testing.T) {
	const line, removed = "Working 1 of 2", "\r\x1b[2K"
	xterm := []string{"TERM=xterm"}
	for name, c := range map[string]struct {
		app    *cli.App
		long   time.Duration
		atOnce bool
		want   bool
	}{
		"long":     {&cli.App{Process: cli.Process{Env: xterm}}, delay + delay/4, false, true},
		"short":    {&cli.App{Process: cli.Process{Env: xterm}}, delay / 2, false, false},
		"at once":  {&cli.App{Process: cli.Process{Env: xterm}}, delay / 4, true, true},
		"document": {&cli.App{Process: cli.Process{Env: xterm}, Flags: cli.Flags{JSON: true}}, delay / 4, true, false},
		"dumb":     {&cli.App{Process: cli.Process{Env: []string{"TERM=dumb"}}}, delay / 4, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := shown(t, c.app, c.long, c.atOnce)
			if got := strings.Contains(text, line) && strings.HasSuffix(text, removed); got != c.want || !got && text != "" {
				t.Errorf("the terminal gets %q", text)
			}
		})
	}
	var pipe bytes.Buffer
	w := Start(context.Background(), &cli.App{Process: cli.Process{Env: xterm, Err: &pipe}}, "Working", true)
	time.Sleep(delay / 4)
	if _ = w.End(nil, "", nil); pipe.Len() > 0 {
		t.Errorf("a pipe gets %q", &pipe)
	}
}

// TestCtrlCEndsAWork: the first signal ends the context, and the error says what was done and how to continue; other errors stay.
func TestCtrlCEndsAWork(t *testing.T) {
	a := &cli.App{Process: cli.Process{Err: io.Discard}}
	w := Start(context.Background(), a, "Working", false)
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the work continues")
	}
	f := fault.Of(w.End(w.Err(), "one of two is done", fault.Command{"gc", "--apply"}))
	if f.Code != fault.Interrupted || f.Message != "interrupted; one of two is done" ||
		f.Suggestion.String() != "Continue with 'waybill gc --apply'." {
		t.Errorf("the error is %v, %s", f, f.Suggestion)
	}
	other := errors.New("other")
	w = Start(context.Background(), a, "Working", false)
	if err := w.End(other, "", nil); err != other {
		t.Errorf("another error becomes %v", err)
	}
}
