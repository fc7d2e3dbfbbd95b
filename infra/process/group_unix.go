//go:build unix

package process

import (
	"fmt"
	"os"
	"syscall"
)

// A command gets a session of its own, not only a group: it has no terminal then,
// so that a program which wants to ask for a password fails at once and says so,
// where in a mere background group the kernel would stop it without a word.

// terminate asks the process group of a leader to end. The number of a group is
// not given out again while anybody is in it, also when its leader is gone.
func terminate(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// kill ends a process group.
func kill(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// alive reports whether anybody is left in a process group.
func alive(leader *os.Process) bool { return syscall.Kill(-leader.Pid, 0) == nil }

// ended reads how a process ended.
func ended(s *os.ProcessState) (status int64, failure string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, fmt.Sprintf("it was ended by signal %d (%s)", int(ws.Signal()), ws.Signal())
	}
	return int64(s.ExitCode()), ""
}
