// Package runview is how 'waybill run' looks: the steps as they are performed, the
// output of commands, the questions to the person, the end. On a terminal it draws,
// elsewhere it writes plain lines. It decides nothing: it implements what package
// perform shows and asks.
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

// Options say where a view prints, who answers, and how much it shows. Short
// and Getenv are required.
type Options struct {
	In       io.Reader // where the person types; no terminal: no person
	Out      io.Writer
	Getenv   func(string) string
	NoColor  bool
	Quiet    bool   // only questions and what went wrong
	Commands string // the command line that shows a workflow's commands in full
	// Read reads a file that the person names as an artifact.
	Read func(name string) (advance.Artifact, error)
	// Short is what people call a run by.
	Short func(id.Run) string
}

// View implements perform.Display and ports.Person, and takes the output of
// commands as a writer. Its methods are called from one goroutine, but for
// Stopping and the writer.
type View struct {
	screen *terminal.Screen
	styles terminal.Styles
	lines  *terminal.Lines
	editor terminal.Editor
	opts   Options
	colors bool
	here   bool // a person can be asked

	step    perform.StepView
	shown   bool // the step's heading is on the screen
	named   bool // its command line does
	set     bool // the last line is empty, or there is none: no gap is needed
	output  output
	editing atomic.Bool
	leaving atomic.Bool // a signal to stop has come
}

// New makes a view. Whether a person can be asked is decided here: stdin and
// the output must both be terminals, since no person may be asked what they
// cannot see.
func New(o Options) *View {
	// Streams that are no files, as in tests, are no terminals.
	in, _ := o.In.(*os.File)
	out, _ := o.Out.(*os.File)
	v := &View{opts: o, set: true, colors: terminal.Color(out, o.Getenv) && !o.NoColor}
	// Both ends: a person must see what they are asked, as with 'run … | tee log'.
	v.here = terminal.Is(in) && terminal.Is(out)
	width := func() int { return 0 } // lines in a file are not broken
	if terminal.Is(out) {
		width = func() int { return terminal.Width(out) }
	}
	v.screen = terminal.NewScreen(o.Out, terminal.Draws(out, o.Getenv), width)
	v.styles = terminal.NewStyles(v.colors)
	v.lines = terminal.NewLines(in)
	v.editor = terminal.Editor{In: in, Out: out, Err: out, Getenv: o.Getenv}
	v.output.view = v
	return v
}

// Editing reports that an editor has the terminal, so that a Ctrl-C is meant
// for it. It may be called from any goroutine.
func (v *View) Editing() bool { return v.editing.Load() }

// Stopping is called when a signal to stop has come, from any goroutine. The
// command that runs may take its time to end, so the spinner shows that the
// signal arrived and what a second one does.
func (v *View) Stopping() { v.leaving.Store(true) }

// RunOpened shows which run this is, how many steps it has and how many were
// done before.
func (v *View) RunOpened(r perform.RunView) {
	if v.opts.Quiet {
		return
	}
	// A title of its own comes before the workflow's name.
	name := clean(r.Workflow)
	if r.Title != "" && r.Title != r.Workflow {
		name = clean(r.Title) + " · " + name
	}
	for _, line := range v.folded(name, 0) {
		v.print(0, v.styles.Bold(line))
	}
	// What identifies the run, and how far it is.
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

// joined puts facts into one line, or each into one of its own where that is
// too narrow: facts that are broken cannot be copied.
func (v *View) joined(facts []string) []string {
	line := strings.Join(facts, " · ")
	if width := v.screen.Width(); width > 0 && terminal.TextWidth(line) > width {
		return facts
	}
	return []string{line}
}

// StepBegan shows the heading and the prompt of a step. A quiet view keeps them
// until there is a question or an error.
func (v *View) StepBegan(s perform.StepView) {
	v.step, v.shown, v.named, v.output.last = s, false, false, ports.CommandOutcome{}
	if !v.opts.Quiet {
		v.heading()
	}
}

// heading shows the step once. It is called by everything that prints below a
// heading, so that a quiet view shows it when it is needed.
//
// Below the title are the rounds of its loops, warnings, the prompt, and why an
// earlier attempt was refused.
func (v *View) heading() {
	if v.shown {
		return
	}
	v.shown = true
	s := v.step
	v.gap()
	// A step whose position is not known is shown without one.
	place := ""
	if s.Of > 0 {
		place = fmt.Sprintf("[%d/%d] ", s.At, s.Of)
	}
	for i, line := range v.folded(clean(s.Title), terminal.TextWidth(place)) {
		if i == 0 {
			v.print(0, v.styles.Accent(place)+v.styles.Bold(line))
			continue
		}
		v.print(terminal.TextWidth(place), v.styles.Bold(line))
	}
	if len(s.Rounds) > 0 {
		for _, line := range v.folded(clean(perform.Rounds(s.Rounds)), terminal.TextWidth(place)) {
			v.print(terminal.TextWidth(place), v.styles.Dim(line))
		}
	}
	for _, w := range s.Warnings {
		v.mark(v.styles.Warn("!"), clean(w))
	}
	if s.Prompt != "" {
		v.prompt(s.Prompt)
	}
	for i, r := range s.Refused {
		if i == 0 {
			v.print(indent, v.styles.Warn("Not accepted before, because:"))
		}
		v.mark(v.styles.Warn("!"), clean(r))
	}
}

// prompt shows the text of a step: cleaned, wrapped, with headings in bold and
// rules drawn. All other Markdown is left as it is written, since it is made to
// be read.
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

// Blocked shows what an attempt lacked, and the fix for each. A command that
// failed is on the screen already, with its exit status, and nothing is added
// to that.
func (v *View) Blocked(all []reason.Blocker) {
	if v.failedTry() {
		return // the failure of the command is on the screen
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

// StepEnded shows that a step was accepted and how long it took. A quiet view
// shows neither.
func (v *View) StepEnded(e perform.StepEnd) {
	if v.opts.Quiet {
		return
	}
	v.print(indent, v.styles.Good("✓")+" "+v.styles.Dim(Duration(time.Duration(e.ElapsedMs)*time.Millisecond)))
}
