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

// person is the program "person ANSWER COMMAND…" for scripts: it runs a command at a terminal of its
// own, gives the answer to each question after it was asked, and prints what the terminal showed. Its
// exit status is that of the command.
func person() {
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
			_, _ = tty.WriteString(os.Args[1] + "\n")
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
