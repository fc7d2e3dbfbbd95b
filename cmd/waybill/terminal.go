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
