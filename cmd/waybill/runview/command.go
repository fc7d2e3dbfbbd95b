package runview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// TryBegan shows the command line and lets the spinner turn.
func (v *View) TryBegan(t perform.TryView) {
	v.output.begin()
	if !v.opts.Quiet {
		v.commandLine(t.Argv, t.Cwd)
		if t.Try > 1 {
			v.print(indent, v.styles.Dim(fmt.Sprintf("$ try %d of %d", t.Try, t.Of)))
		}
	}
	began, place := time.Now(), ""
	if v.opts.Quiet {
		place = fmt.Sprintf(" [%d/%d] %s", v.step.At, v.step.Of, clean(v.step.Title))
	}
	v.screen.Spin(func(frame int) string {
		line := "  " + v.styles.Accent(terminal.Frames[frame%len(terminal.Frames)]) +
			" " + v.styles.Dim(Duration(time.Since(began).Truncate(time.Second))+place)
		if partial := v.output.partial.Load(); partial != nil && *partial != "" {
			line += " " + *partial
		}
		return line
	})
}

// commandLinesMax is how much of a command line is shown while it runs: enough to
// know it by, where a script stands in it. The question for trust shows all of it.
const commandLinesMax = 2

// commandLine shows the command once a step, further tries by their number.
func (v *View) commandLine(argv []string, cwd string) {
	if v.named {
		return
	}
	v.named = true
	line := CommandLine(argv)
	if cwd != "" {
		line += " (in " + Word(cwd) + ")"
	}
	lines := v.folded(line, indent+4)
	if len(lines) > commandLinesMax {
		lines = append(lines[:commandLinesMax-1], lines[commandLinesMax-1]+" …")
	}
	for i, part := range lines {
		v.print(indent+2*min(i, 1), v.styles.Dim([]string{"$ ", ""}[min(i, 1)]+part))
	}
}

// TryEnded shows how it ended; success is the step's to show.
func (v *View) TryEnded(t perform.TryEnd) {
	v.screen.Still()
	v.output.end()
	v.output.last = t.CommandOutcome
	if t.OK() {
		return
	}
	if v.opts.Quiet && t.Last {
		v.heading()
		v.output.replay(t.CommandOutcome)
	}
	if v.opts.Quiet && !t.Last {
		return
	}
	text := t.Failure
	if text == "" {
		text = fmt.Sprintf("exit status %d", t.ExitStatus)
	}
	text += " after " + Duration(time.Duration(t.DurationMs)*time.Millisecond)
	if !t.Last {
		text += ", next try"
		if t.AgainInMs > 0 {
			text += " in " + Duration(time.Duration(t.AgainInMs)*time.Millisecond)
		}
	}
	v.mark(v.styles.Bad("✗"), clean(text))
}

// failedTry reports that the step's command failed.
func (v *View) failedTry() bool { return v.output.ran && !v.output.last.OK() }

// output takes what a command prints and shows it line by line behind a bar.
type output struct {
	view    *View
	rest    []byte                 // a line that has not ended yet
	partial atomic.Pointer[string] // the same for the spinner, which draws from elsewhere
	ran     bool                   // a command ran in this step
	last    ports.CommandOutcome
}

// lineMax is how much of a line without an end is kept before it is shown as it is.
const lineMax = 16 << 10

// Output is where the output of commands goes.
func (v *View) Output() interface{ Write([]byte) (int, error) } { return &v.output }

// Write shows the lines that are complete. It is called from one goroutine at a
// time, and not while the view is asked for anything but the spinner.
func (o *output) Write(p []byte) (int, error) {
	if o.view.opts.Quiet {
		return len(p), nil
	}
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
		width = max(width-indent-2, 10)
	}
	for _, part := range terminal.Fold(strings.ToValidUTF8(terminal.OutputLine(text, v.colors), "\uFFFD"), width) {
		b.WriteString(bar + part + "\n")
	}
}

func (o *output) begin() {
	o.ran, o.rest = true, o.rest[:0]
	o.partial.Store(nil)
}

// end shows a last line that has no line end.
func (o *output) end() {
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

var plainWord = pattern.New(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Word shows a word as a shell would take it, spelled out where a terminal would
// not show it as it is.
func Word(w string) string {
	switch {
	case plainWord.MatchString(w):
		return w
	case strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.QuoteToASCII(w)
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// CommandLine shows a command as a person would type it.
func CommandLine(argv []string) string {
	words := slices.Clone(argv)
	for i, w := range words {
		words[i] = Word(w)
	}
	return strings.Join(words, " ")
}
