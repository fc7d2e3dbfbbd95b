package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/infra/terminal"
)

// wrapMin is the width in columns below which text is not wrapped further; the terminal breaks
// longer lines.
const wrapMin = 10

// indent is the indentation, in columns, of the lines below the heading of a step.
const indent = 2

// clean makes text from an untrusted source safe to print on a terminal.
func clean(text string) string { return terminal.Clean(text) }

// print writes one line, indented by `in` columns. A running spinner is redrawn below it.
func (v *View) print(in int, line string) {
	v.gapDone = false
	v.screen.Print(strings.Repeat(" ", in) + line + "\n")
}

// gap writes one empty line unless the last line is empty already. Which parts are shown
// depends on the step, so each part calls it.
func (v *View) gap() {
	if !v.gapDone {
		v.screen.Print("\n")
		v.gapDone = true
	}
}

// wrapped wraps text at spaces to the width of the screen less `in` columns. Without a width it
// returns the text unchanged.
func (v *View) wrapped(text string, in int) string {
	// The width is read for each text, since the window may be resized.
	if width := v.screen.Width(); width > 0 {
		return terminal.Wrap(text, max(width-in, wrapMin))
	}
	return text
}

// folded returns text as lines that fit the screen less `in` columns. Line breaks in the text
// become spaces.
func (v *View) folded(text string, in int) []string {
	return strings.Split(v.wrapped(strings.ReplaceAll(text, "\n", " "), in), "\n")
}

// mark writes text after a sign, with its further lines aligned below the first.
func (v *View) mark(sign, text string) {
	for i, line := range v.folded(text, indent+2) {
		if i == 0 {
			v.print(indent, sign+" "+line)
			continue
		}
		v.print(indent+2, line)
	}
}

// count returns a number with its noun; the plural is formed by appending s.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Duration formats a duration in at most two units: "350ms", "4.2s", "3m05s", "2h10m". It is
// rounded down.
func Duration(d time.Duration) string {
	switch {
	case d == 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute && d%time.Second == 0:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
