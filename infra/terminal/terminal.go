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
	columns, _ := Size(f)
	return columns
}

// Size returns the columns and rows of the terminal, 0 and 0 when they are unknown or f is not a
// terminal.
func Size(f *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Same reports whether all files are one and the same terminal: what is written to one of them is
// seen by the person who types into another.
func Same(files ...*os.File) bool {
	for _, f := range files {
		if !IsTerminal(f) || !sameDevice(files[0], f) {
			return false
		}
	}
	return len(files) > 0
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
