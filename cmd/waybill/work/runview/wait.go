package runview

import (
	"sync/atomic"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/infra/terminal"
)

// countdown shows a wait.
type countdown struct {
	view  *View
	shown bool
	left  atomic.Pointer[perform.WaitView]
}

// Waiting shows until when a step waits, in local time, and how the run can be left, and counts down
// on one line. On a terminal that cannot redraw a line only the first is shown.
func (c *countdown) Waiting(w perform.WaitView) {
	c.left.Store(&w)
	if c.shown {
		return
	}
	c.shown = true
	v := c.view
	if v.opts.Quiet {
		v.heading()
	}
	until := time.UnixMilli(w.UntilMs).Local().Format("2 Jan 2006 15:04:05 MST")
	v.page.Text("  ", "Waits until "+until+". Ctrl-C leaves the run; it can be continued at any time.")
	p := v.page
	v.screen.StartSpinner(func(frame, width int) string {
		// Parts of a second count as a whole one, so that the last second is not shown as none.
		left := period.Text(c.left.Load().LeftMs + 999)
		line := "  " + p.Accent(terminal.Frames[frame%len(terminal.Frames)]) + " " + left + p.Dim(" left")
		return page.Cut(line, width)
	})
}

// WaitEnded removes the countdown.
func (c *countdown) WaitEnded() {
	c.view.screen.ClearSpinner()
	c.shown = false
}
