// Package runview is the text interface of 'waybill run': it shows the steps, the output of
// commands and the result, and asks the person. On a terminal it uses colors and a spinner,
// otherwise it writes plain lines. It makes no decisions: View implements the interfaces
// perform.Display and ports.Person. Start reading at View.
package runview

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// Options configure a view: its streams and how much it shows. Short and Getenv are required.
type Options struct {
	In       io.Reader // answers of the person; if not a terminal, no person is present
	Out      io.Writer
	Getenv   func(string) string
	NoColor  bool
	Quiet    bool   // print only questions and errors
	Commands string // the command line that shows all commands of the workflow
	// Read reads a file that the person names as an artifact.
	Read func(name string) (advance.Artifact, error)
	// Short returns the short id of a run.
	Short func(id.Run) string
}

// View implements perform.Display and ports.Person, and provides the writer for the output of
// commands. Its methods must be called from one goroutine, except Stopping, Editing and the
// writer.
type View struct {
	screen *terminal.Screen
	styles terminal.Styles
	lines  *terminal.Lines
	editor terminal.Editor
	opts   Options
	colors bool
	person bool // a person can be asked

	step         perform.StepView
	headingShown bool // the heading of the step was printed
	commandShown bool // the command line of the step was printed
	gapDone      bool // the last line is empty or nothing was printed: no gap is needed
	output       output
	editing      atomic.Bool
	stopping     atomic.Bool // a stop signal was received
}

// New returns a view. A person can be asked if input and output are both terminals: with
// 'run … | tee log' the person would not see the prompts in time.
func New(o Options) *View {
	// Streams that are not files, as in tests, are not terminals.
	in, _ := o.In.(*os.File)
	out, _ := o.Out.(*os.File)
	v := &View{opts: o, gapDone: true, colors: terminal.Color(out, o.Getenv) && !o.NoColor}
	v.person = terminal.IsTerminal(in) && terminal.IsTerminal(out)
	width := func() int { return 0 } // lines in a file or pipe are not wrapped
	if terminal.IsTerminal(out) {
		width = func() int { return terminal.Width(out) }
	}
	// All output goes through the screen, which moves a running spinner out of the way.
	v.screen = terminal.NewScreen(o.Out, terminal.CanRedraw(out, o.Getenv), width)
	v.styles = terminal.NewStyles(v.colors)
	v.lines = terminal.NewLines(in)
	v.editor = terminal.Editor{In: in, Out: out, Err: out, Getenv: o.Getenv}
	v.output.view = v
	return v
}

// Editing reports whether an editor uses the terminal, in which case Ctrl-C is for the editor.
// It may be called from any goroutine.
func (v *View) Editing() bool { return v.editing.Load() }

// Stopping records that a stop signal was received. It may be called from any goroutine. The
// running command may need some time to end, so the spinner shows that the signal arrived and
// what a second one does.
func (v *View) Stopping() { v.stopping.Store(true) }

// RunOpened shows the workflow and the run, its number of steps and how many were done before.
func (v *View) RunOpened(r perform.RunView) {
	if v.opts.Quiet {
		return
	}
	// A title of the run is printed before the workflow's name.
	name := clean(r.Workflow)
	if r.Title != "" && r.Title != r.Workflow {
		name = clean(r.Title) + " · " + name
	}
	for _, line := range v.folded(name, 0) {
		v.print(0, v.styles.Bold(line))
	}
	// The short id and the progress.
	facts := []string{v.opts.Short(r.Run)}
	if r.Steps > 0 {
		facts = append(facts, count(r.Steps, "step"))
	}
	if r.Done > 0 {
		facts = append(facts, fmt.Sprintf("%d done before", r.Done))
	}
	for _, line := range v.joined(facts) {
		v.print(0, v.styles.Dim(line))
	}
}

// joined returns the facts on one line, or one per line if the terminal is too narrow. A fact
// is never broken, so that ids can be copied.
func (v *View) joined(facts []string) []string {
	line := strings.Join(facts, " · ")
	if width := v.screen.Width(); width > 0 && terminal.TextWidth(line) > width {
		return facts
	}
	return []string{line}
}

// StepBegan shows the heading and the prompt of a step. A quiet view shows them only with a
// question or an error.
func (v *View) StepBegan(s perform.StepView) {
	v.step, v.headingShown, v.commandShown, v.output.last = s, false, false, ports.CommandOutcome{}
	if !v.opts.Quiet {
		v.heading()
	}
}

// heading shows the step once: the title, the rounds of its loops, warnings, the prompt, and
// why an earlier attempt was not accepted. Each method that prints below a heading calls it
// first, so that a quiet view shows it when needed.
func (v *View) heading() {
	if v.headingShown {
		return
	}
	v.headingShown = true
	s := v.step
	v.gap()
	// A step with an unknown position is shown without one.
	position := ""
	if s.Of > 0 {
		position = fmt.Sprintf("[%d/%d] ", s.At, s.Of)
	}
	for i, line := range v.folded(clean(s.Title), terminal.TextWidth(position)) {
		if i == 0 {
			v.print(0, v.styles.Accent(position)+v.styles.Bold(line))
			continue
		}
		v.print(terminal.TextWidth(position), v.styles.Bold(line))
	}
	// Rounds and further lines of the title are aligned with the title.
	if len(s.Rounds) > 0 {
		for _, line := range v.folded(clean(perform.FormatRounds(s.Rounds)), terminal.TextWidth(position)) {
			v.print(terminal.TextWidth(position), v.styles.Dim(line))
		}
	}
	for _, w := range s.Warnings {
		v.mark(v.styles.Warn("!"), clean(w))
	}
	if s.Prompt != "" {
		v.prompt(s.Prompt)
	}
	// Reasons why the last recorded attempt of a continued run was not accepted.
	for i, r := range s.Refused {
		if i == 0 {
			v.print(indent, v.styles.Warn("Not accepted before, because:"))
		}
		v.mark(v.styles.Warn("!"), clean(r))
	}
}

// prompt shows Markdown text, cleaned and wrapped. Headings are printed in bold and horizontal
// rules are drawn; all other Markdown is printed as written.
func (v *View) prompt(text string) {
	for line := range strings.SplitSeq(v.wrapped(clean(strings.TrimSpace(text)), indent), "\n") {
		switch {
		case line == "":
			v.gap()
		case strings.HasPrefix(line, "#"):
			v.print(indent, v.styles.Bold(strings.TrimLeft(line, "# ")))
		case line == "---":
			v.print(indent, v.styles.Dim(strings.Repeat("─", 3)))
		default:
			v.print(indent, line)
		}
	}
	v.gap()
}

// Blocked shows the blockers of an attempt, each with its fix. For a failed command it shows
// nothing, since TryEnded has printed the exit status.
func (v *View) Blocked(all []reason.Blocker) {
	if v.failedTry() {
		return // TryEnded has printed the failure
	}
	v.heading()
	v.print(indent, v.styles.Warn("Not accepted:"))
	for _, b := range all {
		v.mark(v.styles.Warn("!"), clean(b.Message))
		if b.SuggestedFix != "" {
			v.mark(v.styles.Dim("→"), clean(b.SuggestedFix))
		}
	}
}

// StepEnded shows that a step was accepted and how long it took. A quiet view prints nothing.
func (v *View) StepEnded(e perform.StepEnd) {
	if v.opts.Quiet {
		return
	}
	v.print(indent, v.styles.Good("✓")+" "+v.styles.Dim(Duration(time.Duration(e.ElapsedMs)*time.Millisecond)))
}
