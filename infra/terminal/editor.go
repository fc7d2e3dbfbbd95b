package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Editor lets a person write a longer text in the program that they prefer.
type Editor struct {
	In, Out, Err *os.File
	Getenv       func(string) string
}

// cutMark ends the text; what stands below it is there to be read only. A line of
// its own is safer than comment signs, which are headings in Markdown.
const cutMark = "------------------------ >8 ------------------------"

// Edit opens draft in $VISUAL, $EDITOR or the system's own editor and returns what
// was saved. below is shown under the text and is not a part of it. An editor that
// fails is an error whose text tells a person what to do.
func (e Editor) Edit(ctx context.Context, draft, below string) (string, error) {
	f, err := os.CreateTemp("", "waybill-*.md") // made for its owner only
	if err != nil {
		return "", fmt.Errorf("there is no room for a temporary file: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(draft + "\n\n" + cutMark + "\n" + below + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("the temporary file cannot be written: %w", err)
	}
	name := e.name()
	cmd := command(ctx, name, f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	// Asked to end, an editor leaves the terminal as it was; killed, it does not.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("the editor %q failed (%w); set EDITOR to one that is there", name, err)
	}
	saved, err := os.ReadFile(f.Name())
	if err != nil {
		return "", fmt.Errorf("the edited text cannot be read: %w", err)
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(string(saved), "\r\n", "\n"), cutMark)
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), nil
}

func (e Editor) name() string {
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		if name := strings.TrimSpace(e.Getenv(variable)); name != "" {
			return name
		}
	}
	if runtime.GOOS == "windows" {
		return "notepad"
	}
	return "vi"
}

// command takes the variable as a shell would: it may hold flags, quotes and
// variables of its own (env). The shell gives its place to the editor, so that who
// stops the one stops the other.
func command(ctx context.Context, editor, file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := strings.Fields(editor)
		return exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	}
	return exec.CommandContext(ctx, "/bin/sh", "-c", `exec env `+editor+` "$@"`, editor, file)
}
