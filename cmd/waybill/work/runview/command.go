package runview

import (
	"fmt"
	"time"

	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/infra/terminal"
)

// TryBegan shows the command line of a try and starts the spinner, which shows
// the time and the line that the command has not ended yet. A quiet view shows
// only the spinner, with the step that it belongs to.
func (v *View) TryBegan(t perform.TryView) {
	v.output.begin()
	if !v.opts.Quiet {
		v.commandLine(t.Argv, t.Cwd)
		if t.Try > 1 {
			v.print(indent, v.styles.Dim(fmt.Sprintf("$ try %d of %d", t.Try, t.Of)))
		}
	}
	// A quiet view has printed nothing so far, so its spinner names the step.
	// The time is the view's own; what is recorded is measured by the
	// performer.
	began, place := time.Now(), ""
	if v.opts.Quiet {
		place = fmt.Sprintf(" [%d/%d] %s", v.step.At, v.step.Of, clean(v.step.Title))
	}
	v.screen.Spin(func(frame int) string {
		if v.leaving.Load() {
			return "  " + v.styles.Warn("stopping the command; Ctrl-C again leaves at once")
		}
		line := "  " + v.styles.Accent(terminal.Frames[frame%len(terminal.Frames)]) +
			" " + v.styles.Dim(Duration(time.Since(began).Truncate(time.Second))+place)
		if partial := v.output.partial.Load(); partial != nil && *partial != "" {
			line += " " + *partial
		}
		return line
	})
}

// commandLinesMax is how many lines of a command line are shown while it runs:
// enough to recognize it, also where it has a script in it. The question for
// trust shows all of it.
const commandLinesMax = 2

// commandLine shows the command once for each step; further tries are shown by
// their number.
func (v *View) commandLine(argv []string, cwd string) {
	if v.named {
		return
	}
	v.named = true
	line := command.Line(argv)
	if cwd != "" {
		line += " (in " + command.Word(cwd) + ")"
	}
	lines := v.folded(line, indent+4)
	if len(lines) > commandLinesMax {
		lines = append(lines[:commandLinesMax-1], lines[commandLinesMax-1]+" …")
	}
	for i, part := range lines {
		v.print(indent+2*min(i, 1), v.styles.Dim([]string{"$ ", ""}[min(i, 1)]+part))
	}
}

// TryEnded shows why a try failed and when the next one begins; a success is
// shown with the step. The output is above already, but for a quiet view, which
// prints the end of it for the last try.
func (v *View) TryEnded(t perform.TryEnd) {
	v.screen.Still()
	v.output.end()
	v.output.last = t.CommandOutcome
	// The step shows its success.
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
	// A command that could not be started has a reason, others an exit status.
	text := t.Failure
	if text == "" {
		text = fmt.Sprintf("exit status %d after %s", t.ExitStatus,
			Duration(time.Duration(t.DurationMs)*time.Millisecond))
	}
	if !t.Last {
		text += ", next try"
		if t.AgainInMs > 0 {
			text += " in " + Duration(time.Duration(t.AgainInMs)*time.Millisecond)
		}
	}
	v.mark(v.styles.Bad("✗"), clean(text))
}

// failedTry reports that the last command of the step failed.
func (v *View) failedTry() bool { return !v.output.last.OK() }
