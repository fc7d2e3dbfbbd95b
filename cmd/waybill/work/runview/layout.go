package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/infra/terminal"
)

// wrapMin is as narrow as text gets: below it, a terminal may as well break it.
const wrapMin = 10

// indent is how far everything about a step stands in from its heading.
const indent = 2

func clean(text string) string { return terminal.Clean(text) }

// print writes one line.
func (v *View) print(in int, line string) {
	v.set = false
	v.screen.Print(strings.Repeat(" ", in) + line + "\n")
}

// gap sets a part off from what stands above it, with one empty line however many
// parts ask for it: which of them are shown depends on the step.
func (v *View) gap() {
	if !v.set {
		v.screen.Print("\n")
		v.set = true
	}
}

// wrapped breaks text so that it fits behind so many columns.
func (v *View) wrapped(text string, in int) string {
	if width := v.screen.Width(); width > 0 {
		return terminal.Wrap(text, max(width-in, wrapMin))
	}
	return text
}

func (v *View) folded(text string, in int) []string {
	return strings.Split(v.wrapped(strings.ReplaceAll(text, "\n", " "), in), "\n")
}

// mark writes text behind a sign, its further lines under the first.
func (v *View) mark(sign, text string) {
	for i, line := range v.folded(text, indent+2) {
		if i == 0 {
			v.print(indent, sign+" "+line)
			continue
		}
		v.print(indent+2, line)
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Duration is a time as people read it: two numbers at most.
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
