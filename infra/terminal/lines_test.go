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

// openTerminal returns the two ends of a terminal: user types, and a program reads from program.
func openTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = user.Close(); _ = program.Close() })
	go func() { _, _ = io.Copy(io.Discard, user) }() // the echo
	return user, program
}

func TestTerminalProperties(t *testing.T) {
	_, tty := openTerminal(t)
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 10, Cols: 47}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !IsTerminal(tty) || IsTerminal(file) || IsTerminal(nil) || Width(tty) != 47 || Width(file) != 0 ||
		Width(nil) != 0 {
		t.Error("terminal, file and nil file are not distinguished")
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
		t.Error("Color ignores the environment")
	}
	if !CanRedraw(tty, env("NO_COLOR", "1")) || CanRedraw(tty, env("TERM", "dumb")) || CanRedraw(file, env()) {
		t.Error("Draws ignores the environment")
	}
}

// textMax is the longest text in these tests.
const textMax = 1 << 20

func typeText(t *testing.T, user *os.File, text string) {
	t.Helper()
	if _, err := user.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestLines(t *testing.T) {
	user, tty := openTerminal(t)
	l := NewLines(tty)
	ctx := context.Background()
	typeText(t, user, "hellp\x7fo\n")
	if got, err := l.Read(ctx); got != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	typeText(t, user, "one\ntwo\n")
	if got, err := l.Read(ctx); got != "one" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if got, err := l.Read(ctx); got != "two" || err != nil {
		t.Errorf("input after the line was lost: %q, %v", got, err)
	}
	typeText(t, user, "\x04")
	if _, err := l.Read(ctx); err != io.EOF {
		t.Errorf("Ctrl-D: %v", err)
	}
	typeText(t, user, "no end\x04\x04")
	if got, err := l.Read(ctx); got != "" || err != io.EOF {
		t.Errorf("input without a line end is an answer: %q, %v", got, err)
	}
	typeText(t, user, "no end\x04\x04")
	if got, err := l.ReadText(ctx, textMax); got != "no end" || err != nil {
		t.Errorf("text without a line end: %q, %v", got, err)
	}
}

func TestReadStopsWithContext(t *testing.T) {
	user, tty := openTerminal(t)
	l := NewLines(tty)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	typeText(t, user, "later\n")
	if got, err := l.Read(context.Background()); got != "later" || err != nil {
		t.Errorf("the next line was lost: %q, %v", got, err)
	}
}

func TestReadTextReturnsAllLines(t *testing.T) {
	user, tty := openTerminal(t)
	l := NewLines(tty)
	typeText(t, user, "first\n\nthird\n")
	if got, err := l.ReadText(context.Background(), textMax); got != "first\n\nthird" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	typeText(t, user, "single\n")
	if got, err := l.ReadText(context.Background(), textMax); got != "single" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestDiscardDropsEarlyInput(t *testing.T) {
	user, tty := openTerminal(t)
	l := NewLines(tty)
	typeText(t, user, "y\nye")
	time.Sleep(20 * time.Millisecond)
	l.Discard()
	typeText(t, user, "n\n")
	if got, err := l.Read(context.Background()); got != "n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func scriptEditor(t *testing.T, tty *os.File, script string) Editor {
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
	_, tty := openTerminal(t)
	e := scriptEditor(t, tty, `[ "$1" = --wait ] || exit 9
		test -t 0 || exit 8
		{ echo '# My notes'; echo; cat "$2"; } >"$2.new"; mv "$2.new" "$2"`)
	got, err := e.Edit(context.Background(), "a draft", textMax, "read this")
	if got != "# My notes\n\na draft" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	e = scriptEditor(t, tty, "exit 3")
	if _, err := e.Edit(context.Background(), "", textMax, ""); err == nil || !strings.Contains(err.Error(), "EDITOR") {
		t.Errorf("a failing editor: %v", err)
	}
	e = scriptEditor(t, tty, `cp "$2" "$(dirname "$0")/copy"; ls -l "$2" >"$(dirname "$0")/mode"`)
	if got, err := e.Edit(context.Background(), "", textMax, "below\nthe mark"); got != "" || err != nil {
		t.Errorf("an unchanged draft: %q, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	e = scriptEditor(t, tty, `echo $$ >"$(dirname "$0")/pid"; exec sleep 20`)
	visual := e.Getenv("VISUAL")
	e.Getenv = func(string) string { return "A=1 " + visual }
	if _, err := e.Edit(ctx, "", textMax, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	name := strings.Split(visual, "'")[1]
	pid, err := os.ReadFile(filepath.Join(filepath.Dir(name), "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err != nil || syscall.Kill(n, 0) == nil {
		t.Errorf("the editor %s still runs, %v", pid, err)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "waybill-*.md"))
	if len(left) > 0 {
		t.Errorf("temporary files remain: %q", left)
	}
}

// TestDiscardDropsAPartOfALine: Ctrl-D hands over "y" before the line is entered, to a read whose caller has given up.
// It is not part of the answer to a question that is shown later.
func TestDiscardDropsAPartOfALine(t *testing.T) {
	user, tty := openTerminal(t)
	l := NewLines(tty)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 2 {
		if _, err := l.Read(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		_, _ = user.WriteString("y\x04")
		for len(l.pending) == 0 {
			time.Sleep(time.Millisecond)
		}
		l.Discard()
		_, _ = user.WriteString("no\n")
		if got, err := l.Read(context.Background()); got != "no" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}
