package runview

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// output takes what a command prints and shows it line by line behind a bar.
type output struct {
	view    *View
	mu      sync.Mutex             // an interrupted command may still be read from
	rest    []byte                 // a line that has not ended yet
	partial atomic.Pointer[string] // the same for the spinner, which draws from elsewhere
	last    ports.CommandOutcome   // of this step's command
}

// lineMax is how much of a line without an end is kept before it is shown as it is.
const lineMax = 16 << 10

// Output is where the output of commands goes.
func (v *View) Output() interface{ Write([]byte) (int, error) } { return &v.output }

// Write shows the lines that are complete. It never fails: a command must not end
// differently because of who watches.
func (o *output) Write(p []byte) (int, error) {
	if o.view.opts.Quiet {
		return len(p), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var b strings.Builder
	o.rest = append(o.rest, p...)
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

func (o *output) line(b *strings.Builder, text string) {
	v := o.view
	bar := strings.Repeat(" ", indent) + v.styles.Dim("│") + " "
	width := v.screen.Width()
	if width > 0 {
		width = max(width-indent-2, wrapMin)
	}
	for _, part := range terminal.Fold(strings.ToValidUTF8(terminal.OutputLine(text, v.colors), "\uFFFD"), width) {
		b.WriteString(bar + part + "\n")
	}
}

func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = o.rest[:0]
	o.partial.Store(nil)
}

// end shows a last line that has no line end.
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

// replayLines is how much of a failed command's output a quiet view shows: what
// leaves room for the error under it.
const replayLines = 20

func (o *output) replay(out ports.CommandOutcome) {
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
