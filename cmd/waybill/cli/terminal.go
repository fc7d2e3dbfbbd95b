package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/infra/terminal"
)

// IsTerminal reports whether a stream of this call is a terminal.
func (p *Process) IsTerminal(stream any) bool {
	f, _ := stream.(*os.File)
	return terminal.IsTerminal(f)
}

// WidthOf returns the width of a terminal in columns, and 0 for any other stream: text in a
// file or pipe is neither wrapped nor cut.
func (p *Process) WidthOf(stream any) int {
	f, _ := stream.(*os.File)
	return terminal.Width(f)
}

// Colors reports whether text for a stream may be colored: the stream is a terminal that
// supports colors, and neither --no-color nor $NO_COLOR disables them.
func (a *App) Colors(stream any) bool {
	f, _ := stream.(*os.File)
	return !a.Flags.NoColor && terminal.Color(f, a.Getenv)
}

// NewPage returns an empty page with the colors and width of a stream of this call.
func (a *App) NewPage(to any) *page.Page { return page.New(a.Colors(to), a.WidthOf(to)) }

// Ago returns the age of a stored time (milliseconds since 1970): "now", "5 min", "3 h",
// "12 days"; "" for 0, an unknown time. A time in the future is "now".
func (p *Process) Ago(ms int64) string {
	d := time.Duration(p.NowMs()-ms) * time.Millisecond
	switch {
	case ms == 0:
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
