// Package terminal handles the terminal between a program and its user: whether a stream is a
// terminal and how wide it is, colors and styles, a spinner line that is redrawn, line input, an
// editor, wrapping, and the removal of control characters from text of others. It knows no workflow
// and prints nothing by itself. Start with Screen for output and Lines for input.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal; a nil file is not.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// Width is the number of columns of the terminal, 0 when it is unknown or f is not a terminal.
func Width(f *os.File) int {
	if f == nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Color reports whether output to f should have colors: f is a terminal that supports them, and
// NO_COLOR is not set (no-color.org).
func Color(f *os.File, getenv func(string) string) bool {
	return IsTerminal(f) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// CanRedraw reports whether lines on f can be redrawn, as a spinner requires.
func CanRedraw(f *os.File, getenv func(string) string) bool {
	return IsTerminal(f) && getenv("TERM") != "dumb"
}
