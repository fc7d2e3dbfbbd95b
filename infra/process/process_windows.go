package process

import (
	"os"
	"syscall"
)

// Windows has no process groups that a signal reaches. Only the command itself is
// stopped, at once; what it started goes on, also when this process is killed.

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func terminate(leader *os.Process) { _ = leader.Kill() }

func kill(leader *os.Process) { _ = leader.Kill() }

func alive(*os.Process) bool { return false }

func ended(s *os.ProcessState) (status int64, failure string) { return int64(s.ExitCode()), "" }

// guard has nothing to guard here.
type guard struct{}

func (g *guard) watch(int) {}

func (g *guard) close() {}
