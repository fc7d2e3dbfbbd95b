package main

import (
	"os"

	"github.com/waybill/waybill/infra/terminal"
)

// isTerminal reports whether a stream of this call is a terminal.
func (a *app) isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && terminal.Is(f)
}

// widthOf is the width of a terminal, 0 for anything else: text that nobody looks
// at in a window is neither wrapped nor cut.
func (a *app) widthOf(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	return terminal.Width(f)
}

// colors reports whether a stream may be colored.
func (a *app) colors(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && !a.common.noColor && terminal.Color(f, a.getenv)
}
