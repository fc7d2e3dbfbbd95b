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
// text of at most `most` bytes, trimmed. below is shown under the text and is not part of the result.
// The error of a failed editor is for the user and names the variable to set; a canceled context
// returns its error. What was saved and is not returned is kept in a file, which the error names.
func (e Editor) Edit(ctx context.Context, draft string, most int, below string) (string, error) {
	file, err := writeNew(draft + "\n\n" + cutMark + "\n" + below + "\n")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file) }()
	failed := e.run(ctx, file)
	text, err := savedText(file)
	switch {
	case failed == nil && err != nil:
		return "", err
	case failed == nil && len(text) > most:
		failed = fmt.Errorf("the text has %d bytes, at most %d are allowed", len(text), most)
	case failed == nil:
		return text, nil
	}
	if err != nil || text == "" || text == strings.TrimSpace(draft) {
		return "", failed
	}
	kept, err := e.Keep(text)
	if err != nil {
		return "", errors.Join(failed, err)
	}
	return "", fmt.Errorf("%w; what you wrote is kept in %s", failed, kept)
}

// Keep writes a text to a file that remains, readable by its owner only, and returns its name.
func (e Editor) Keep(text string) (file string, err error) { return writeNew(text + "\n") }

// writeNew writes a text to a new file in the folder for temporary files.
func writeNew(text string) (file string, err error) {
	f, err := os.CreateTemp("", "waybill-*.md") // with mode 0600
	if err != nil {
		return "", fmt.Errorf("no temporary file can be created: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("the temporary file cannot be written: %w", err)
	}
	return f.Name(), nil
}

// run lets the user edit a file, until the editor ends.
func (e Editor) run(ctx context.Context, file string) error {
	name := e.program()
	cmd := editorCommand(ctx, name, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	// SIGTERM lets an editor restore the terminal; SIGKILL would not.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("the editor %q failed (%w); set EDITOR to an installed editor", name, err)
	}
	return nil
}

// savedText returns the text that was saved in a file.
func savedText(file string) (string, error) {
	saved, err := os.ReadFile(file)
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
