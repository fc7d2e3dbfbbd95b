package cli

import (
	"os"

	"github.com/waybill/waybill/infra/terminal"
)

// IsTerminal reports whether a stream of this call is a terminal.
func (a *App) IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && terminal.Is(f)
}

// WidthOf is the width of a terminal, 0 for anything else: text that nobody looks
// at in a window is neither wrapped nor cut.
func (a *App) WidthOf(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	return terminal.Width(f)
}

// Colors reports whether a stream may be colored.
func (a *App) Colors(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && !a.Flags.NoColor && terminal.Color(f, a.Getenv)
}
