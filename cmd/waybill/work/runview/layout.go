package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/infra/terminal"
)

// wrapMin is the width below which text is not wrapped further: the terminal
// may break it.
const wrapMin = 10

// indent is how far what belongs to a step is set in from its heading.
const indent = 2

// clean makes text from outside safe to print on a terminal.
func clean(text string) string { return terminal.Clean(text) }

// print writes one line, set in by so many columns. A spinner is moved out of
// the way.
func (v *View) print(in int, line string) {
	v.set = false
	v.screen.Print(strings.Repeat(" ", in) + line + "\n")
}

// gap writes one empty line before a part, unless there is one already: which
// parts are shown depends on the step, so each of them asks.
func (v *View) gap() {
	if !v.set {
		v.screen.Print("\n")
		v.set = true
	}
}

// wrapped breaks text at blanks so that it fits behind so many columns; a view
// that has no width does not.
func (v *View) wrapped(text string, in int) string {
	if width := v.screen.Width(); width > 0 {
		return terminal.Wrap(text, max(width-in, wrapMin))
	}
	return text
}

// folded is the text as lines that fit behind so many columns; line breaks in
// it count as blanks.
func (v *View) folded(text string, in int) []string {
	return strings.Split(v.wrapped(strings.ReplaceAll(text, "\n", " "), in), "\n")
}

// mark writes text behind a sign, with its further lines below the first.
func (v *View) mark(sign, text string) {
	for i, line := range v.folded(text, indent+2) {
		if i == 0 {
			v.print(indent, sign+" "+line)
			continue
		}
		v.print(indent+2, line)
	}
}

// count is a number with its noun, with a plain s for more than one.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Duration is a time in at most two units: "350ms", "4.2s", "3m05s", "2h10m".
// Nothing is rounded up, so that it never shows more than has passed.
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
