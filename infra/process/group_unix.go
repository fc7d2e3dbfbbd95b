//go:build unix

package process

import (
	"fmt"
	"os"
	"syscall"
)

// A command runs in a session of its own, not only in a group: without a terminal, a program that
// asks for a password fails at once with a message, while the kernel would stop a background group
// silently.

// terminate sends SIGTERM to the process group of leader. The number of a group is not reused while
// any process is in it, even when its leader has exited.
func terminate(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// kill sends SIGKILL to a process group.
func kill(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// groupExists reports whether a process is left in the group.
func groupExists(leader *os.Process) bool { return syscall.Kill(-leader.Pid, 0) == nil }

// exitOf returns the exit status, or -1 and a text for a process that a signal ended.
func exitOf(s *os.ProcessState) (status int64, failure string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, fmt.Sprintf("it was ended by signal %d (%s)", int(ws.Signal()), ws.Signal())
	}
	return int64(s.ExitCode()), ""
}

// Apart are the attributes of a process that outlives this one: a session of its own, which neither Ctrl-C
// nor the end of a terminal reaches.
func Apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
