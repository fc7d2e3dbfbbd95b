// Package terminal handles the terminal as a device: whether a stream is a terminal, how wide it is
// and what it can do, a spinner line that is redrawn, line input, and an editor. It knows no
// workflow and lays out no text. Start with Screen for output and Lines for input.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal; a nil file is not.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Width is the number of columns of the terminal, 0 when it is unknown or f is not a terminal.
func Width(f *os.File) int {
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
