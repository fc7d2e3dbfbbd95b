package runview

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// output prints what a command writes, line by line behind a bar. It is a
// writer for the process and is called from another goroutine than the view.
type output struct {
	view    *View
	mu      sync.Mutex             // an interrupted command may still be read from
	rest    []byte                 // a line that has not ended yet
	partial atomic.Pointer[string] // the same for the spinner, which draws from elsewhere
	last    ports.CommandOutcome   // of this step's command
}

// lineMax is how many bytes without a line end are kept before they are printed
// as a line.
const lineMax = 16 << 10

// Output is the writer for the output of commands. It never returns an error.
func (v *View) Output() interface{ Write([]byte) (int, error) } { return &v.output }

// Write prints the lines that are complete and keeps the rest. It never fails:
// a command must not end differently because of the view.
func (o *output) Write(p []byte) (int, error) {
	if o.view.opts.Quiet {
		return len(p), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var b strings.Builder
	o.rest = append(o.rest, p...)
	// Only what is new can have a line end.
	from := 0
	for i := len(o.rest) - len(p); i < len(o.rest); i++ {
		if o.rest[i] == '\n' || i-from >= lineMax {
			o.line(&b, string(o.rest[from:i]))
			from = i
			if o.rest[i] == '\n' {
				from++
			}
		}
	}
	o.rest = append(o.rest[:0], o.rest[from:]...)
	partial := terminal.OutputLine(string(o.rest), false)
	o.partial.Store(&partial)
	if b.Len() > 0 {
		o.view.screen.Print(b.String())
	}
	return len(p), nil
}

// line adds one line of output behind the bar, folded to the width. Colors are
// kept, and all else that drives a terminal is removed. Bytes that are no UTF-8
// are shown as replacement characters.
func (o *output) line(b *strings.Builder, text string) {
	v := o.view
	bar := strings.Repeat(" ", indent) + v.styles.Dim("│") + " "
	// The bar takes a part of the width.
	width := v.screen.Width()
	if width > 0 {
		width = max(width-indent-2, wrapMin)
	}
	for _, part := range terminal.Fold(strings.ToValidUTF8(terminal.OutputLine(text, v.colors), "\uFFFD"), width) {
		b.WriteString(bar + part + "\n")
	}
}

// begin forgets what an earlier command left without a line end.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = o.rest[:0]
	o.partial.Store(nil)
}

// end prints a last line that has no line end.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.rest) > 0 && !o.view.opts.Quiet {
		var b strings.Builder
		o.line(&b, string(o.rest))
		o.view.screen.Print(b.String())
	}
	o.rest = o.rest[:0]
	o.partial.Store(nil)
}

// replayLines is how many lines of a failed command's output a quiet view
// prints, so that the error below stays in sight.
const replayLines = 20

// replay prints the end of the output that was recorded, for a view that
// printed none of it while the command ran.
func (o *output) replay(out ports.CommandOutcome) {
	// The end says why it failed; the head is all there is of short outputs.
	text := out.OutputTail
	if text == "" {
		text = out.OutputHead
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if text == "" {
		return
	}
	var b strings.Builder
	if len(lines) > replayLines {
		lines = lines[len(lines)-replayLines:]
		o.line(&b, "…")
	}
	for _, line := range lines {
		o.line(&b, line)
	}
	o.view.screen.Print(b.String())
}
