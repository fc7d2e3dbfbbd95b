package terminal

import (
	"io"
	"strings"
)

// Redraw writes a text in place of what is on the terminal: from its first row on, with at most rows of its lines, so that
// the terminal does not scroll. What was above stays in the scrollback of the terminal.
func Redraw(out io.Writer, rows int, text string) error {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if rows > 0 && len(lines) > rows {
		lines = lines[:rows]
	}
	_, err := io.WriteString(out, clearScreen+strings.TrimSuffix(strings.Join(lines, ""), "\n"))
	return err
}

// clearScreen goes to the first row and erases all.
const clearScreen = "\x1b[H\x1b[2J"
