package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// question matches the end of a question on the screen.
var question = regexp.MustCompile(`\[y/(a/)?N\] $`)

// entry matches the end of a screen that waits for a line of text.
var entry = regexp.MustCompile(`› $`)

// person is the program "person ANSWER[|LINE…] COMMAND…" for scripts: it runs a command at a terminal of
// its own, gives the answer to each question after it was asked, types the next line where text is
// expected, and prints what the terminal showed. Its exit status is that of the command. Without a line
// left it ends the input.
func person() {
	answer, lines, _ := strings.Cut(os.Args[1], "|")
	typed := strings.Split(lines, "|")
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	var screen []byte
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		screen = append(screen, buf[:n]...)
		if err != nil {
			break
		}
		if question.Match(screen) {
			if name := os.Getenv("CHANGED_MEANWHILE"); name != "" {
				text, _ := os.ReadFile(name)
				_ = os.WriteFile(name, append(text, '\n'), 0o600)
			}
			_, _ = tty.WriteString(answer + "\n")
		}
		if entry.Match(screen) {
			line := "\x04"
			if len(typed) > 0 && lines != "" {
				line, typed = typed[0]+"\n", typed[1:]
			}
			_, _ = tty.WriteString(line)
		}
	}
	_, _ = os.Stdout.Write(screen)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// runWithYes runs the program in this process at a terminal, answers each question with y, and
// returns the document that it prints.
func runWithYes(t *testing.T, args, env []string) string {
	t.Helper()
	user, tty, err := pty.Open()
	if err != nil {
		t.Skip(err) // no terminals on this system
	}
	done := make(chan string)
	go func() {
		var screen []byte
		buf := make([]byte, 4096)
		for {
			n, err := user.Read(buf)
			screen = append(screen, buf[:n]...)
			if err != nil {
				done <- string(screen)
				return
			}
			if question.Match(screen) {
				_, _ = user.WriteString("y\n")
			}
		}
	}()
	run(args, tty, tty, tty, env)
	_ = tty.Close()
	screen := <-done
	_ = user.Close()
	return strings.TrimSpace(screen[max(strings.LastIndex(screen, `{"v":1,`), 0):]) + "\n"
}
