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

// Options say where a view goes and how much it shows.
type Options struct {
	In       io.Reader // what the person types on; no terminal: nobody is there
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
// commands as a writer.
type View struct {
	screen *terminal.Screen
	styles terminal.Styles
	lines  *terminal.Lines
	editor terminal.Editor
	opts   Options
	colors bool
	here   bool // a person can be asked

	step    perform.StepView
	shown   bool // the step's heading stands on the screen
	named   bool // its command line does
	set     bool // the last line is empty, or there is none: no gap is needed
	output  output
	editing atomic.Bool
	leaving atomic.Bool // a signal to stop has come
}

// New makes a view.
func New(o Options) *View {
	in, _ := o.In.(*os.File)
	out, _ := o.Out.(*os.File)
	v := &View{opts: o, set: true, colors: terminal.Color(out, o.Getenv) && !o.NoColor}
	// Both ends: nobody may be asked what they cannot see, as with 'run … | tee log'.
	v.here = terminal.Is(in) && terminal.Is(out)
	width := func() int { return 0 } // lines in a file are broken by whoever reads them
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

// Editing reports that an editor has the terminal: a Ctrl-C is meant for it then.
func (v *View) Editing() bool { return v.editing.Load() }

// Stopping is called when a signal to stop has come. The command that runs may take
// its time to end: the person sees that they were heard, and what is left to them.
func (v *View) Stopping() { v.leaving.Store(true) }

// RunOpened shows which run this is.
func (v *View) RunOpened(r perform.RunView) {
	if v.opts.Quiet {
		return
	}
	name := clean(r.Workflow)
	if r.Title != "" && r.Title != r.Workflow {
		name = clean(r.Title) + " · " + name
	}
	for _, line := range v.folded(name, 0) {
		v.print(0, v.styles.Bold(line))
	}
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

// joined puts facts into one line, or where it is too narrow into one each: broken
// in the middle, none of them could be copied.
func (v *View) joined(facts []string) []string {
	line := strings.Join(facts, " · ")
	if width := v.screen.Width(); width > 0 && terminal.TextWidth(line) > width {
		return facts
	}
	return []string{line}
}

// StepBegan shows the step, and its prompt where there is somebody to read it.
func (v *View) StepBegan(s perform.StepView) {
	v.step, v.shown, v.named, v.output.last = s, false, false, ports.CommandOutcome{}
	if !v.opts.Quiet {
		v.heading()
	}
}

// heading shows the step once; a quiet view gets to it only when it has something
// to say about the step.
func (v *View) heading() {
	if v.shown {
		return
	}
	v.shown = true
	s := v.step
	v.gap()
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

// prompt shows the text of a step: wrapped, its headings set off. It is Markdown to
// be read as it stands; only what gets in the way of reading is taken out.
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

// Blocked shows what an attempt lacked, and what to do about each.
func (v *View) Blocked(all []reason.Blocker) {
	if v.failedTry() {
		return // the failure of the command stands there already
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

// StepEnded shows that a step was accepted, and how long it took.
func (v *View) StepEnded(e perform.StepEnd) {
	if v.opts.Quiet {
		return
	}
	v.print(indent, v.styles.Good("✓")+" "+v.styles.Dim(Duration(time.Duration(e.ElapsedMs)*time.Millisecond)))
}
