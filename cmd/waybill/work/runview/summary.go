package runview

import (
	"time"

	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/projections/runs"
)

// Summary prints that a run is complete, its duration, and showCommand, the command line that
// shows it. For a run that was complete before the call it prints that. A quiet view prints
// only the latter.
func (v *View) Summary(r perform.Report, showCommand string) {
	if r.Already {
		for _, line := range v.folded("This run is already complete: "+v.opts.Short(r.Run), 0) {
			v.print(0, line)
		}
		v.suggest(0, showCommand)
		return
	}
	if v.opts.Quiet {
		return
	}
	v.gap()
	// Gaps are not a failure, but a person should check them.
	sign, end := v.styles.Good("✓"), " is complete"
	if r.Last.Status == runs.CompleteWithGaps {
		sign, end = v.styles.Warn("!"), " is complete, with gaps"
	}
	for i, line := range v.folded(clean(r.Workflow)+end, 2) {
		if i == 0 {
			v.print(0, sign+" "+v.styles.Bold(line))
			continue
		}
		v.print(2, v.styles.Bold(line))
	}
	// Steps and time of this call only, not of earlier calls for the same run.
	facts := []string{count(r.Performed, "step") + " in " + Duration(time.Duration(r.ElapsedMs)*time.Millisecond),
		v.opts.Short(r.Run)}
	for _, line := range v.joined(facts) {
		v.print(2, v.styles.Dim(line))
	}
	v.suggest(2, showCommand)
}

// suggest prints the command line that shows the run.
func (v *View) suggest(in int, command string) {
	for _, line := range v.folded("Show it with '"+command+"'.", in) {
		v.print(in, v.styles.Dim(line))
	}
}

// Stopped clears the spinner and ends an incomplete line, so that the next output starts on a
// new line.
func (v *View) Stopped() {
	v.screen.ClearSpinner()
	v.output.end()
	v.gap()
}
