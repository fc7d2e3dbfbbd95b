package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// StopSignals are the signals that ask a command to stop.
func StopSignals() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		out = append(out, syscall.SIGHUP)
	}
	return out
}
