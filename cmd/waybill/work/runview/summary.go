package runview

import (
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/projections/runs"
)

// Summary prints that a run is complete, its duration, and showCommand, the command line that
// shows it. For a run that was complete before the call it prints that. A quiet view prints
// only the latter.
func (v *View) Summary(r perform.Report, showCommand string) {
	p, suggestion := v.page, "Show it with '"+showCommand+"'."
	if r.Already {
		p.Block("", "", "This run is already complete: "+v.opts.Short(r.Run), page.Plain)
		p.Block("", "", suggestion, p.Dim)
		return
	}
	if v.opts.Quiet {
		return
	}
	p.Blank()
	// Gaps are not a failure, but a person should check them.
	sign, end := p.Good("✓"), " is complete"
	if r.Last.Status == runs.CompleteWithGaps {
		sign, end = p.Warn("!"), " is complete, with gaps"
	}
	p.Block(sign+" ", "  ", page.OneLine(r.Workflow)+end, p.Bold)
	// Steps and time of this call only, not of earlier calls for the same run.
	took := page.Duration(time.Duration(r.ElapsedMs) * time.Millisecond)
	p.Block("  ", "  ", page.Plural(r.Performed, "step")+" in "+took+" · "+v.opts.Short(r.Run), p.Dim)
	p.Block("  ", "  ", suggestion, p.Dim)
}

// Stopped clears the spinner and ends an incomplete line, so that the next output starts on a
// new line.
func (v *View) Stopped() {
	v.screen.ClearSpinner()
	v.output.end()
	v.page.Blank()
}
