package terminal

import (
	"cmp"
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

// Editor opens a text in the user's editor program. In, Out and Err are its terminal.
type Editor struct {
	In, Out, Err *os.File
	Getenv       func(string) string
}

// cutMark ends the text; everything below it is only shown. A line of its own is safer than comment
// characters, which are headings in Markdown.
const cutMark = "------------------------ >8 ------------------------"

// Edit opens draft in $VISUAL, $EDITOR or the default editor of the system and returns the saved
// text, trimmed. below is shown under the text and is not part of the result. The error of a failed
// editor is for the user and names the variable to set; a canceled context returns its error.
func (e Editor) Edit(ctx context.Context, draft, below string) (string, error) {
	f, err := os.CreateTemp("", "waybill-*.md") // with mode 0600
	if err != nil {
		return "", fmt.Errorf("no temporary file can be created: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(draft + "\n\n" + cutMark + "\n" + below + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("the temporary file cannot be written: %w", err)
	}
	name := e.program()
	cmd := editorCommand(ctx, name, f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	// SIGTERM lets an editor restore the terminal; SIGKILL would not.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("the editor %q failed (%w); set EDITOR to an installed editor", name, err)
	}
	saved, err := os.ReadFile(f.Name())
	if err != nil {
		return "", fmt.Errorf("the edited text cannot be read: %w", err)
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(string(saved), "\r\n", "\n"), cutMark)
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), nil
}

// program is the command of the editor, with its flags.
func (e Editor) program() string {
	fallback := "vi"
	if runtime.GOOS == "windows" {
		fallback = "notepad"
	}
	return cmp.Or(strings.TrimSpace(e.Getenv("VISUAL")), strings.TrimSpace(e.Getenv("EDITOR")), fallback)
}

// editorCommand runs the variable's value as a shell would: it may contain flags, quotes and
// environment variables (env). exec replaces the shell by the editor, so that a signal reaches the
// editor.
func editorCommand(ctx context.Context, editor, file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := strings.Fields(editor)
		return exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	}
	return exec.CommandContext(ctx, "/bin/sh", "-c", `exec env `+editor+` "$@"`, editor, file)
}
