package worker

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// report prints what a worker does: a line for people as it happens, with what is in progress below at a terminal, a line of JSON,
// or a document at the end. It may be called from many goroutines.
type report struct {
	app    *cli.App
	screen *terminal.Screen
	draws  bool

	mu       sync.Mutex
	err      error // of stdout
	items    []document.WorkItem
	reported map[string]bool // what was left
	runs     map[unattended.WorkOutcome]int
	inFlight int
	ending   bool
}

// newReport returns the report of a worker that has done nothing.
func newReport(a *cli.App) *report {
	out, _ := a.Out.(*os.File)
	draws := !a.Flags.JSON && terminal.CanRedraw(out, a.Getenv)
	return &report{app: a, draws: draws, screen: terminal.NewScreen(a.Out, draws, func() int { return a.WidthOf(a.Out) }),
		items: []document.WorkItem{}, reported: map[string]bool{}, runs: map[unattended.WorkOutcome]int{}}
}

// begin shows the line about what is in progress.
func (r *report) begin() {
	r.screen.StartSpinner(func(frame, width int) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return page.Cut(terminal.Frames[frame%len(terminal.Frames)]+" "+r.status(), width)
	})
}

// status says what is in progress. mu is held.
func (r *report) status() string {
	if r.ending {
		return "Stopping the commands. Ctrl-C again ends at once."
	}
	text := "Waiting for runs"
	if r.inFlight > 0 {
		text = page.Plural(r.inFlight, "run") + " in progress"
	}
	for _, o := range unattended.WorkOutcomes() {
		if n := r.runs[o]; n > 0 {
			text += fmt.Sprintf(" · %d %s", n, o)
		}
	}
	return text + " · Ctrl-C stops"
}

// end removes that line.
func (r *report) end() { r.screen.ClearSpinner() }

// stopping shows that a signal was received.
func (r *report) stopping() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
}

// active says how many runs are in progress.
func (r *report) active(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight = n
}

// failed returns the error of stdout: nothing more can be reported.
func (r *report) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// finish ends the report of a worker that has nothing more to do: with --json it prints the document. The status is 1 if a run failed.
func (r *report) finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.app.Flags.JSON && !r.app.PrintsLines() {
		if err := r.app.Answer("work", document.Work{Items: r.items}, nil); err != nil {
			return err
		}
	}
	if !r.app.Flags.JSON && len(r.runs)+len(r.reported) == 0 {
		if err := r.app.Write([]byte("Nothing is ready.\n")); err != nil {
			return err
		}
	}
	if r.runs[unattended.WorkFailed]+r.runs[unattended.WorkRetried] > 0 {
		return cli.ExitWith(fault.ExitFailed)
	}
	return nil
}

// step reports a step that was accepted.
func (r *report) step(i document.WorkItem, position string) {
	i.AtMs = r.app.NowMs()
	r.print(i, func(p *page.Page) {
		lead := p.Name(page.ShortRun(i.RunID), i.RunID.String()) + " "
		if position != "" {
			lead += position + " "
		}
		p.Text(p.Dim(r.clock(i))+"   ", lead+page.OneLine(i.Title)+" "+p.Dim(page.Duration(time.Duration(i.DurationMs)*time.Millisecond)))
	})
}

// run reports a run that the worker left.
func (r *report) run(i document.WorkItem) {
	i.AtMs = r.app.NowMs()
	r.print(i, func(p *page.Page) {
		lead, why := p.Name(page.ShortRun(i.RunID), i.RunID.String())+" ", "has failed"
		if i.Error != nil {
			why = page.OneLine(i.Error.Message)
		}
		at := p.Dim(r.clock(i)) + " "
		switch i.Outcome {
		case unattended.WorkComplete:
			p.Line("%s%s %s", at, p.Good("✓"), lead+"is complete")
		case unattended.WorkEnded:
			p.Line("%s%s %s", at, p.Dim("·"), lead+"is ended, as requested")
		case unattended.WorkBusy:
			p.Line("%s%s %s", at, p.Dim("·"), lead+"was continued by another process")
		case unattended.WorkStopped:
			p.Line("%s%s %s", at, p.Dim("·"), lead+"is stopped; its step is pending")
		case unattended.WorkFailed, unattended.WorkRetried:
			p.Text(at+p.Bad("✗")+" ", lead+why)
		default:
			p.Text(at+p.Warn("!")+" ", lead+why)
		}
		if i.Error != nil && i.Error.Suggestion != "" && i.Outcome != unattended.WorkStopped {
			p.Text("  ", i.Error.Suggestion)
		}
	})
}

// left reports what the worker leaves alone, once for each key.
func (r *report) left(f *fault.Fault, c ports.Claim, key string) {
	r.mu.Lock()
	before := r.reported[key]
	r.reported[key] = true
	r.mu.Unlock()
	if before {
		return
	}
	i := document.WorkItem{Event: unattended.WorkLeft, AtMs: r.app.NowMs(), SessionID: c.Session, RunID: c.Run, Error: document.DueFaultOf(f)}
	r.print(i, func(p *page.Page) {
		lead := ""
		if !i.RunID.IsZero() {
			lead = p.Name(page.ShortRun(i.RunID), i.RunID.String()) + " "
		} else if !i.SessionID.IsZero() {
			lead = i.SessionID.String() + " "
		}
		p.Text(p.Dim(r.clock(i))+" "+p.Warn("!")+" ", lead+page.OneLine(i.Error.Message))
		if i.Error.Suggestion != "" {
			p.Text("  ", i.Error.Suggestion)
		}
	})
}

// clock is the time of day of an item.
func (r *report) clock(i document.WorkItem) string { return page.ClockTime(i.AtMs, time.TimeOnly) }

// print prints an item in the form that the flags select.
func (r *report) print(i document.WorkItem, people func(*page.Page)) {
	r.mu.Lock()
	if i.Event == unattended.WorkRun {
		r.runs[i.Outcome]++
	}
	r.mu.Unlock()
	switch {
	case r.app.PrintsLines():
		line, err := canon.Marshal(i)
		if err != nil {
			r.keep(stream.EncodingFault(err))
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.app.Unfinished = true // an error is printed on stderr: stdout has items only
		if err := r.app.WriteJSON(append(line, '\n')); err != nil && r.err == nil {
			r.err = err
		}
	case r.app.Flags.JSON:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.items = append(r.items, i)
	default:
		r.printText(i, people)
	}
}

// printText prints an item for people.
func (r *report) printText(i document.WorkItem, people func(*page.Page)) {
	p := r.app.NewPage(r.app.Out)
	people(p)
	if r.draws {
		r.screen.Print(p.String())
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.app.Write(p.Bytes()); err != nil && r.err == nil {
		r.err = err
	}
}

// keep keeps the first error.
func (r *report) keep(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// display reports the steps of one run while it is performed.
type display struct {
	perform.NoDisplay
	out   *report
	claim ports.Claim
	step  perform.StepView
}

// StepBegan implements perform.Display.
func (d *display) StepBegan(s perform.StepView) { d.step = s }

// StepEnded implements perform.Display.
func (d *display) StepEnded(e perform.StepEnd) {
	d.out.step(document.WorkItem{Event: unattended.WorkStep, SessionID: d.claim.Session, RunID: d.claim.Run, StepID: d.step.StepID,
		Title: d.step.Title, DurationMs: max(1, e.ElapsedMs)}, d.step.Position())
}
