package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// question matches the end of a question on the screen.
var question = expression(`\[y/(a/)?N\] $`)

// entry matches the end of a screen that waits for a line of text.
var entry = expression(`› $`)

// person is the program "person ANSWER[|LINE…] COMMAND…" for scripts: it runs a command at a terminal of
// its own, gives the answer to each question after it was asked, types the next line where text is
// expected, and prints what the terminal showed. Its exit status is that of the command. Without a line
// left it ends the input.
func person() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	screen, err := withPerson(cmd, os.Args[1])
	_, _ = os.Stdout.Write(screen)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// withPerson runs a command at a terminal of its own, as the program "person" does with the same first argument, and returns
// what the terminal showed. The error is that of Wait. Tests in Go call it: it needs no second process.
func withPerson(cmd *exec.Cmd, answer string) (screen []byte, err error) {
	answer, lines, _ := strings.Cut(answer, "|")
	typed := strings.Split(lines, "|")
	changed := os.Getenv(changedMeanwhileFile)
	for _, v := range cmd.Env {
		if name, value, _ := strings.Cut(v, "="); name == changedMeanwhileFile {
			changed = value
		}
	}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 160})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		screen = append(screen, buf[:n]...)
		if err != nil {
			break
		}
		if question().Match(screen) {
			if changed != "" {
				text, _ := os.ReadFile(changed)
				_ = os.WriteFile(changed, append(text, '\n'), 0o600)
			}
			_, _ = tty.WriteString(answer + "\n")
		}
		if entry().Match(screen) {
			line := "\x04"
			if len(typed) > 0 && lines != "" {
				line, typed = typed[0]+"\n", typed[1:]
			}
			_, _ = tty.WriteString(line)
		}
	}
	return screen, cmd.Wait()
}

// changedMeanwhileFile is the environment variable with a file that is changed before each answer.
const changedMeanwhileFile = "CHANGED_MEANWHILE"

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
			if question().Match(screen) {
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
