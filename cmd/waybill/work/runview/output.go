package runview

import (
	"bytes"
	"cmp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/ports"
)

// output prints the output of a command, line by line after a bar. It is the writer for the
// process and is called from a different goroutine than the view.
type output struct {
	view    *View
	mu      sync.Mutex             // output of an interrupted command may still arrive
	rest    []byte                 // the last, incomplete line
	partial atomic.Pointer[string] // the same as text, for the goroutine of the spinner
	last    ports.CommandOutcome   // of the last try of the step's command
}

// lineMax bounds an incomplete line, in bytes; a longer one is printed in parts.
const lineMax = 16 << 10

// Output returns the writer for the output of commands. It never returns an error.
func (v *View) Output() interface{ Write([]byte) (int, error) } { return &v.output }

// Write prints the complete lines and keeps the rest. It never fails: the result of a command
// must not depend on the view.
func (o *output) Write(p []byte) (int, error) {
	// A quiet view prints the recorded output of a failed command later; see replay.
	if o.view.opts.Quiet {
		return len(p), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var b strings.Builder
	o.rest = append(o.rest, p...)
	for {
		line, rest, ended := bytes.Cut(o.rest, []byte("\n"))
		if len(line) > lineMax {
			line, rest = o.rest[:lineMax], o.rest[lineMax:]
		} else if !ended {
			break
		}
		o.line(&b, string(line))
		o.rest = rest
	}
	// The spinner shows the incomplete line without colors.
	partial := page.OutputLine(string(o.rest), false)
	o.partial.Store(&partial)
	if b.Len() > 0 {
		o.view.screen.Print(b.String())
	}
	return len(p), nil
}

// line adds one line of output after the bar, folded to the width. Colors are kept, all other
// control sequences are removed. Bytes that are not UTF-8 become replacement characters.
func (o *output) line(b *strings.Builder, text string) {
	v := o.view
	bar := "  " + v.page.Dim("│") + " "
	width := page.Columns(v.screen.Width(), page.TextWidth(bar))
	for _, part := range page.Fold(strings.ToValidUTF8(page.OutputLine(text, v.colors), "\uFFFD"), width) {
		b.WriteString(bar + part + "\n")
	}
}

// begin discards an incomplete line of an earlier command.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = o.rest[:0]
	o.partial.Store(nil)
}

// end prints the last line if it has no line end.
func (o *output) end() {
	o.mu.Lock()
	unfinished := len(o.rest) > 0
	o.mu.Unlock()
	if unfinished {
		_, _ = o.Write([]byte("\n"))
	}
}

// replayLines bounds the output of a failed command that a quiet view prints, so that the
// error below remains visible.
const replayLines = 20

// replay prints the end of the recorded output, for a quiet view that printed none of it while
// the command ran.
func (o *output) replay(out ports.CommandOutcome) {
	// The tail usually shows why a command failed. Short output is recorded as head only.
	text := cmp.Or(out.OutputTail, out.OutputHead)
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
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
