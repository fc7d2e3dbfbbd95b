//go:build linux

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// TestHelpAtTerminal: help fits narrow terminals, and nothing of it is cut.
func TestHelpAtTerminal(t *testing.T) {
	t.Parallel()
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		help := helpAtTerminal(t, cmd, 40)
		checkWidth(t, cmd, help, 40)
		if words(help) != words(helpOf(t, cmd)) {
			t.Errorf("%s --help: other words at 40 columns", cmd.CommandPath())
		}
	})
	run, _, _ := newRoot(&cli.App{}).Find([]string{"run"})
	if wide := helpAtTerminal(t, run, 500); !strings.Contains(wide, "notes, and record\nthe result") {
		t.Errorf("help at 500 columns is not in lines that can be read:\n%s", wide)
	}
}

// helpAtTerminal returns what a command prints with --help at a terminal.
func helpAtTerminal(t *testing.T, cmd *cobra.Command, columns uint16) string {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		read <- string(text)
	}()
	args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
	status := run(args, strings.NewReader(""), tty, tty, nil)
	_ = tty.Close()
	if status != 0 {
		t.Errorf("%s --help: exit status %d", cmd.CommandPath(), status)
	}
	return strings.ReplaceAll(<-read, "\r\n", "\n")
}
