package main

import "os"

// isTerminal reports whether a stream of this call is a terminal.
func (a *app) isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}

// widthOf is the width of a terminal, 0 for anything else: text that nobody looks
// at in a window is neither wrapped nor cut.
func (a *app) widthOf(stream any) int {
	if !a.isTerminal(stream) {
		return 0
	}
	return 80
}

// colors reports whether a stream may be colored.
func (a *app) colors(stream any) bool {
	return !a.common.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && a.isTerminal(stream)
}
