package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// StopSignals returns the signals that request a command to stop: SIGINT, SIGTERM and, unless
// it is ignored, SIGHUP.
func StopSignals() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		out = append(out, syscall.SIGHUP)
	}
	return out
}
