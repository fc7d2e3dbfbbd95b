// Package terminal knows what stands between a program and the person in front of
// it: whether there is a terminal and how wide it is, styles, a line that is drawn
// over, lines that are typed, an editor. It knows no workflow and asks nothing by
// itself.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// Width is how many columns the terminal has, 0 when that is not known.
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

// Color reports whether f should be given colors: it is a terminal that can show
// them, and nobody said that they are not wanted (no-color.org).
func Color(f *os.File, getenv func(string) string) bool {
	return Is(f) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// Draws reports whether f can be drawn over, as a spinner needs.
func Draws(f *os.File, getenv func(string) string) bool {
	return Is(f) && getenv("TERM") != "dumb"
}
