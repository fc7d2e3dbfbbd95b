package upkeep

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/infra/terminal"
)

// barWidth is the length of a progress bar in terminal cells, without the brackets.
const barWidth = 30

// watchProgress shows the progress of a verification on the last line of stderr, if that is a
// terminal. The verification calls update for each batch of events. The caller must call stop, also
// after an error.
func watchProgress(a *cli.App) (update func(verify.VerifyProgress), stop func()) {
	out, _ := a.Err.(*os.File)
	screen := terminal.NewScreen(a.Err, terminal.CanRedraw(out, a.Getenv), func() int { return a.WidthOf(a.Err) })
	var latest atomic.Pointer[verify.VerifyProgress]
	latest.Store(&verify.VerifyProgress{})
	screen.StartSpinner(func(_, width int) string { return page.Cut(progressLine(*latest.Load()), width) })
	return func(p verify.VerifyProgress) { latest.Store(&p) }, screen.ClearSpinner
}

// progressLine returns a bar with a percentage if the total is known, and always the number of
// events.
func progressLine(p verify.VerifyProgress) string {
	text := page.Plural(int(p.Events), "event") + " checked"
	// The total is not known for every kind of verification.
	if p.Of > 0 {
		done := min(p.Bytes, p.Of)
		full := int(done * barWidth / p.Of)
		text = fmt.Sprintf("[%s%s] %3d%%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
			done*100/p.Of, text)
	}
	return text
}
