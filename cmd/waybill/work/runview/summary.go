package runview

import (
	"time"

	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/projections"
)

// Summary shows the end of a complete run and the command that shows it. A run
// that was complete before the call is named as such. A quiet view shows only
// that.
func (v *View) Summary(r perform.Report, look string) {
	if r.Already {
		for _, line := range v.folded("This run is complete already: "+v.opts.Short(r.Run), 0) {
			v.print(0, line)
		}
		v.look(0, look)
		return
	}
	if v.opts.Quiet {
		return
	}
	v.gap()
	// Gaps are no failure, but a person should look at them.
	sign, end := v.styles.Good("✓"), " is complete"
	if r.Last.Status == projections.CompleteWithGaps {
		sign, end = v.styles.Warn("!"), " is complete, with gaps"
	}
	for i, line := range v.folded(clean(r.Workflow)+end, 2) {
		if i == 0 {
			v.print(0, sign+" "+v.styles.Bold(line))
			continue
		}
		v.print(2, v.styles.Bold(line))
	}
	facts := []string{count(r.Performed, "step") + " in " + Duration(time.Duration(r.ElapsedMs)*time.Millisecond),
		v.opts.Short(r.Run)}
	for _, line := range v.joined(facts) {
		v.print(2, v.styles.Dim(line))
	}
	v.look(2, look)
}

// look prints the command that shows the run.
func (v *View) look(in int, command string) {
	for _, line := range v.folded("See it with '"+command+"'.", in) {
		v.print(in, v.styles.Dim(line))
	}
}

// Stopped clears the spinner and ends an unfinished line, so that what is
// printed next begins on a line of its own.
func (v *View) Stopped() {
	v.screen.Still()
	v.output.end()
	v.gap()
}
