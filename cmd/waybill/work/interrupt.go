package work

import (
	"context"
	"os"

	"github.com/waybill/waybill/cmd/waybill/cli/unattended"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
)

// interruptible is unattended.UntilSignal at a terminal: while an editor uses it, Ctrl-C is for the editor.
func interruptible(parent context.Context, view *runview.View) (ctx context.Context, stop func()) {
	editing := func(s os.Signal) bool { return s == os.Interrupt && view.Editing() }
	return unattended.UntilSignal(parent, editing, view.Stopping)
}
