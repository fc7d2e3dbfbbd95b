package runview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/infra/terminal"
)

// TryBegan shows the command line of a try and starts the spinner, which shows the elapsed time
// and the last, incomplete line of output. A quiet view shows only the spinner, with the step.
func (v *View) TryBegan(t perform.TryView) {
	v.output.begin()
	p := v.page
	// A quiet view has printed no heading, so its spinner names the step. The elapsed time is
	// only for display; the performer measures the recorded duration.
	began, step := time.Now(), ""
	if v.opts.Quiet {
		step = " " + positionOf(v.step) + page.OneLine(v.step.Title)
	} else {
		if t.Check != "" {
			v.commandShown = false // each check has a command of its own
			p.Line("  %s", p.Dim("check "+page.OneLine(t.Check)))
		}
		v.commandLine(t.Argv, t.Cwd)
		if t.Try > 1 {
			p.Line("  %s", p.Dim(fmt.Sprintf("$ try %d of %d", t.Try, t.Of)))
		}
	}
	v.screen.StartSpinner(func(frame, width int) string {
		line := "  " + p.Accent(terminal.Frames[frame%len(terminal.Frames)]) +
			" " + p.Dim(page.Duration(time.Since(began).Truncate(time.Second))+step)
		if partial := v.output.partial.Load(); partial != nil && *partial != "" {
			line += " " + *partial
		}
		if v.stopping.Load() {
			line = "  " + p.Warn("stopping the command; Ctrl-C again exits immediately")
		}
		return page.Cut(line, width)
	})
}

// checkEnded shows whether a check proved what it expects. The refusal of the attempt says why it did
// not; a quiet view then shows the end of its output.
func (v *View) checkEnded(t perform.TryEnd) {
	elapsed := page.Duration(time.Duration(t.DurationMs) * time.Millisecond)
	switch {
	case t.Unproved == "" && v.opts.Quiet:
	case t.Unproved == "":
		v.mark(v.page.Good("✓"), "check "+t.Check+" passed after "+elapsed)
	default:
		if v.opts.Quiet {
			v.heading()
			v.output.replay(t.CommandOutcome)
		}
		v.mark(v.page.Bad("✗"), "check "+t.Check+" failed after "+elapsed)
	}
}

// Filled takes the values of the step's command, which a confirmation shows.
func (v *View) Filled(t perform.TryView) { v.step.Argv, v.step.Cwd, v.step.Env = t.Argv, t.Cwd, t.Env }

// commandLinesMax bounds the lines of a command line that are shown while it runs, enough to
// recognize it. The question for trust shows all of it.
const commandLinesMax = 2

// commandLine shows the command once per step; further tries are shown by number.
func (v *View) commandLine(argv []string, cwd string) {
	if v.commandShown {
		return
	}
	v.commandShown = true
	line := page.Arguments(argv)
	if cwd != "" {
		line += " (in " + page.Argument(cwd) + ")"
	}
	// The columns for indentation, sign and ellipsis are reserved.
	lines := strings.Split(v.page.Wrap(page.OneLine(line), 6), "\n")
	if len(lines) > commandLinesMax {
		lines = append(lines[:commandLinesMax-1], lines[commandLinesMax-1]+" …")
	}
	v.page.Block("  "+v.page.Dim("$ "), "    ", strings.Join(lines, "\n"), v.page.Dim)
}

// TryEnded shows why a try failed and when the next one starts; StepEnded shows a success. A
// quiet view prints nothing but the last try, with the end of its output.
func (v *View) TryEnded(t perform.TryEnd) {
	// The spinner must be gone before the incomplete last line is printed.
	v.screen.ClearSpinner()
	v.output.end()
	if t.Check != "" {
		v.checkEnded(t)
		return
	}
	v.output.last = t.CommandOutcome
	if t.OK() || v.opts.Quiet && !t.Last {
		return
	}
	if v.opts.Quiet {
		v.heading()
		v.output.replay(t.CommandOutcome)
	}
	// Failure is set if the command could not be started; otherwise there is an exit status.
	text := cmp.Or(t.Failure, fmt.Sprintf("exit status %d after %s", t.ExitStatus,
		page.Duration(time.Duration(t.DurationMs)*time.Millisecond)))
	if !t.Last {
		text += ", next try"
		if t.PauseMs > 0 {
			text += " in " + page.Duration(time.Duration(t.PauseMs)*time.Millisecond)
		}
	}
	v.mark(v.page.Bad("✗"), text)
}
