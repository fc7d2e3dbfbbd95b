//go:build linux

package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// open gives the two ends of a terminal: what a person types on, and what a
// program reads from.
func open(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close(); _ = program.Close() })
	go func() { _, _ = io.Copy(io.Discard, person) }() // the echo
	return person, program
}

func TestWhatATerminalIs(t *testing.T) {
	_, tty := open(t)
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 10, Cols: 47}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !Is(tty) || Is(file) || Is(nil) || Width(tty) != 47 || Width(file) != 0 || Width(nil) != 0 {
		t.Error("terminal, file and nothing are not told apart")
	}
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	if !Color(tty, env("TERM", "xterm")) || Color(tty, env("NO_COLOR", "1")) || Color(tty, env("TERM", "dumb")) ||
		Color(file, env()) {
		t.Error("colors where nobody wants them")
	}
	if !Draws(tty, env("NO_COLOR", "1")) || Draws(tty, env("TERM", "dumb")) || Draws(file, env()) {
		t.Error("drawing where it cannot be")
	}
}

func typeIn(t *testing.T, person *os.File, text string) {
	t.Helper()
	if _, err := person.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestLines(t *testing.T) {
	person, tty := open(t)
	l := NewLines(tty)
	ctx := context.Background()
	typeIn(t, person, "hellp\x7fo\n")
	if got, err := l.Read(ctx); got != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	typeIn(t, person, "one\ntwo\n")
	if got, err := l.Read(ctx); got != "one" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if got, err := l.Read(ctx); got != "two" || err != nil {
		t.Errorf("what was typed after the line got lost: %q, %v", got, err)
	}
	typeIn(t, person, "\x04")
	if _, err := l.Read(ctx); err != io.EOF {
		t.Errorf("Ctrl-D: %v", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	person, tty := open(t)
	l := NewLines(tty)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	typeIn(t, person, "later\n")
	if got, err := l.Read(context.Background()); got != "later" || err != nil {
		t.Errorf("the line after it got lost: %q, %v", got, err)
	}
}

func TestAPastedTextIsOneAnswer(t *testing.T) {
	person, tty := open(t)
	l := NewLines(tty)
	typeIn(t, person, "first\n\nthird\n")
	if got, err := l.ReadPaste(context.Background()); got != "first\n\nthird" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	typeIn(t, person, "single\n")
	if got, err := l.ReadPaste(context.Background()); got != "single" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestWhatWasTypedTooEarlyIsForgotten(t *testing.T) {
	person, tty := open(t)
	l := NewLines(tty)
	typeIn(t, person, "y\nye")
	time.Sleep(20 * time.Millisecond)
	l.Discard()
	typeIn(t, person, "n\n")
	if got, err := l.Read(context.Background()); got != "n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func editor(t *testing.T, tty *os.File, script string) Editor {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Editor{In: tty, Out: tty, Err: tty, Getenv: func(name string) string {
		return map[string]string{"EDITOR": "false", "VISUAL": "'" + path + "' --wait"}[name]
	}}
}

func TestEditor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, tty := open(t)
	e := editor(t, tty, `[ "$1" = --wait ] || exit 9
		test -t 0 || exit 8
		{ echo '# My notes'; echo; cat "$2"; } >"$2.new"; mv "$2.new" "$2"`)
	got, err := e.Edit(context.Background(), "a draft", "read this")
	if got != "# My notes\n\na draft" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	e = editor(t, tty, "exit 3")
	if _, err := e.Edit(context.Background(), "", ""); err == nil || !strings.Contains(err.Error(), "EDITOR") {
		t.Errorf("a failing editor: %v", err)
	}
	e = editor(t, tty, `cp "$2" "$(dirname "$0")/copy"; ls -l "$2" >"$(dirname "$0")/mode"`)
	if got, err := e.Edit(context.Background(), "", "below\nthe mark"); got != "" || err != nil {
		t.Errorf("nothing written: %q, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	e = editor(t, tty, `echo $$ >"$(dirname "$0")/pid"; exec sleep 20`)
	visual := e.Getenv("VISUAL")
	e.Getenv = func(string) string { return "A=1 " + visual }
	if _, err := e.Edit(ctx, "", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	name := strings.Split(visual, "'")[1]
	pid, err := os.ReadFile(filepath.Join(filepath.Dir(name), "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err != nil || syscall.Kill(n, 0) == nil {
		t.Errorf("the editor %s goes on, %v", pid, err)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "waybill-*.md"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
