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

	"github.com/waybill/waybill/cmd/waybill/cli/consent"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Options configure a view: its streams and how much it shows. Short and Getenv are required.
type Options struct {
	In        io.Reader // answers of the person; if not a terminal, no person is present
	Out       io.Writer
	Getenv    func(string) string
	NoColor   bool
	Quiet     bool   // print only questions and errors
	Store     string // the directory of the store
	TrustRoot string // the repository or folder that recorded trust counts in
	// Consent asks for consents at the terminal of the process.
	Consent *consent.Asker
	// Read reads a file that the person names as an artifact.
	Read func(name string) (advance.Artifact, error)
	// Short returns the short id of a run.
	Short func(id.Run) string
}

// View implements perform.Display and ports.Person, and provides the writer for the output of
// commands. Its methods must be called from one goroutine, except Stopping, Editing and the
// writer.
type View struct {
	page   *page.Page
	screen *terminal.Screen
	lines  *terminal.Lines
	editor terminal.Editor
	opts   Options
	colors bool
	person bool // a person can be asked
	asker  *consent.Asker

	run          perform.RunView
	step         perform.StepView
	headingShown bool // the heading of the step was printed
	commandShown bool // the command line of the step was printed
	output       output
	countdown
	written  string // notes that no attempt has recorded yet
	editing  atomic.Bool
	stopping atomic.Bool // a stop signal was received
}

// New returns a view. A person can be asked if input and output are both terminals: with
// 'run … | tee log' the person would not see the prompts in time.
func New(o Options) *View {
	// Streams that are not files, as in tests, are not terminals.
	in, _ := o.In.(*os.File)
	out, _ := o.Out.(*os.File)
	v := &View{opts: o,
		colors: terminal.Color(out, o.Getenv) && !o.NoColor,
		person: terminal.IsTerminal(in) && terminal.IsTerminal(out),
		// All output goes through the screen, which moves a running spinner out of the way.
		screen: terminal.NewScreen(o.Out, terminal.CanRedraw(out, o.Getenv), func() int { return terminal.Width(out) }),
		lines:  terminal.NewEditedLines(in, o.Out, page.TextWidth),
		editor: terminal.Editor{In: in, Out: out, Err: out, Getenv: o.Getenv}}
	v.page = page.NewLive(v.colors, v.screen)
	v.output.view, v.countdown.view = v, v
	if o.Consent != nil {
		v.asker = o.Consent.Through(v.lines, v.screen.Print)
	}
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
	v.run = r
	if v.opts.Quiet {
		return
	}
	v.page.Block("", "", page.OneLine(nameOf(r)), v.page.Bold)
	// The short id and the progress.
	facts := []string{v.opts.Short(r.Run)}
	if r.Steps > 0 {
		facts = append(facts, page.Plural(r.Steps, "step"))
	}
	if r.Done > 0 {
		facts = append(facts, fmt.Sprintf("%d done before", r.Done))
	}
	if r.Sources != byDefault {
		facts = append(facts, render.Preferences(r.Preferences, r.Sources)...)
	}
	v.page.Facts(facts...)
}

// byDefault are the sources of preferences that are set nowhere.
var byDefault = runs.PreferenceSources{Autonomy: runs.PreferenceByDefault, RiskPolicy: runs.PreferenceByDefault}

// nameOf returns the title of the run, if it has one, before the workflow's name.
func nameOf(r perform.RunView) string {
	if r.Title == "" || r.Title == r.Workflow {
		return r.Workflow
	}
	return r.Title + " · " + r.Workflow
}

// StepBegan shows the heading and the prompt of a step. A quiet view shows them only with a
// question or an error; a confirmation shows them itself.
func (v *View) StepBegan(s perform.StepView) {
	v.step, v.headingShown, v.commandShown, v.output.last = s, false, false, ports.CommandOutcome{}
	if !v.opts.Quiet && !s.Confirm {
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
	p, s := v.page, v.step
	p.Blank()
	position := positionOf(s)
	// Rounds and further lines of the title are aligned with the title.
	below := strings.Repeat(" ", len(position))
	p.Block(p.Accent(position), below, page.OneLine(s.Title), p.Bold)
	if len(s.Rounds) > 0 {
		p.Block(below, below, page.OneLine(perform.FormatRounds(s.Rounds)), p.Dim)
	}
	for _, w := range s.Warnings {
		v.mark(p.Warn("!"), w)
	}
	if s.Prompt != "" {
		v.prompt(s.Prompt)
	}
	for _, c := range s.Checkpoints {
		render.Checkpoint(p, "  ", c)
	}
	// Reasons why the last recorded attempt of a continued run was not accepted.
	if len(s.Refused) > 0 {
		p.Line("  %s", p.Warn("Not accepted before, because:"))
	}
	for _, r := range s.Refused {
		v.mark(p.Warn("!"), r)
	}
}

// positionOf returns how far the run is at a step, in brackets, "" if it is unknown.
func positionOf(s perform.StepView) string {
	position := s.Position()
	if position == "" {
		return ""
	}
	return "[" + position + "] "
}

// prompt shows Markdown text, cleaned and wrapped, with at most one empty line between two others.
func (v *View) prompt(text string) {
	text = emptyLines.ReplaceAllString(page.Clean(strings.TrimSpace(text)), "\n\n")
	v.page.Block("  ", "  ", text, markdown(v.page))
	v.page.Blank()
}

// emptyLines matches what separates two paragraphs.
var emptyLines = pattern.New(`\n\n+`)

// markdown styles a line of Markdown: headings are printed in bold and horizontal rules are drawn;
// all other Markdown is printed as written.
func markdown(p *page.Page) func(line string) string {
	return func(line string) string {
		switch {
		case strings.HasPrefix(line, "#"):
			return p.Bold(strings.TrimLeft(line, "# "))
		case line == "---":
			return p.Dim(strings.Repeat("─", 3))
		}
		return line
	}
}

// mark writes text from any source after a sign, with its further lines aligned below the first.
func (v *View) mark(sign, text string) {
	v.page.Block("  "+sign+" ", "    ", page.OneLine(text), page.Plain)
}

// Suspected shows what an attempt recorded that may be a secret. A quiet view shows it too: it stays in the store.
func (v *View) Suspected(all []perform.Suspected) {
	v.heading()
	for _, s := range all {
		v.mark(v.page.Warn("!"), s.Message)
	}
}

// Blocked shows the blockers of an attempt, each with its fix. For a failed command it shows
// nothing, since TryEnded has printed the exit status.
func (v *View) Blocked(all []reason.Blocker) {
	v.written = "" // the attempt is recorded
	if !v.output.last.OK() {
		return // TryEnded has printed the failure
	}
	v.heading()
	if v.opts.Quiet {
		v.output.replay(v.output.last) // of a command that did not yield what the step declares
	}
	v.page.Line("  %s", v.page.Warn("Not accepted:"))
	for _, b := range all {
		v.mark(v.page.Warn("!"), render.Sentence(b.Message))
		if b.SuggestedFix != "" {
			v.mark(v.page.Dim("→"), b.SuggestedFix)
		}
	}
}

// StepEnded shows that a step was accepted and how long it took. A quiet view prints nothing.
func (v *View) StepEnded(e perform.StepEnd) {
	v.written = ""
	if v.opts.Quiet {
		return
	}
	took := page.Duration(time.Duration(e.ElapsedMs) * time.Millisecond)
	v.page.Line("  %s %s", v.page.Good("✓"), v.page.Dim(took))
}
