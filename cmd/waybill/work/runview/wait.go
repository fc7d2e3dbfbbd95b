package runview

import (
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/infra/terminal"
)

// Waiting shows until when a step waits, in local time, and how the run can be left, and counts down
// on one line. On a terminal that cannot redraw a line only the first is shown.
func (v *View) Waiting(w perform.WaitView) {
	v.left.Store(&w)
	if v.waiting {
		return
	}
	v.waiting = true
	if v.opts.Quiet {
		v.heading()
	}
	until := time.UnixMilli(w.UntilMs).Local().Format("2 Jan 2006 15:04:05 MST")
	v.page.Text("  ", "Waits until "+until+". Ctrl-C leaves the run; it can be continued at any time.")
	p := v.page
	v.screen.StartSpinner(func(frame, width int) string {
		// Parts of a second count as a whole one, so that the last second is not shown as none.
		left := period.Text(v.left.Load().LeftMs + 999)
		line := "  " + p.Accent(terminal.Frames[frame%len(terminal.Frames)]) + " " + left + p.Dim(" left")
		return page.Cut(line, width)
	})
}

// WaitEnded removes the countdown.
func (v *View) WaitEnded() {
	v.screen.ClearSpinner()
	v.waiting = false
}
