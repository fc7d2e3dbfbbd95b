package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"

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
