package process

import (
	"io/fs"
	"os"
	"syscall"
)

// Windows has no process groups that a signal reaches. Only the command itself is stopped, at once;
// processes that it started continue, also when this process is killed.

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func terminate(leader *os.Process) { _ = leader.Kill() }

func kill(leader *os.Process) { _ = leader.Kill() }

func groupExists(*os.Process) bool { return false }

func exitOf(s *os.ProcessState) (status int64, failure string) { return int64(s.ExitCode()), "" }

// guard has no function on Windows.
type guard struct{}

func (g *guard) ready() {}

func (g *guard) watch(int) {}

func (g *guard) close() {}

// isOwn relies on the permissions of the user's temporary folder.
func isOwn(fs.FileInfo) bool { return true }

// lockFolder has no function on Windows: folders in use cannot be distinguished.
func lockFolder(*os.File) {}

// isUnlocked is false, so that no folder is removed that could be in use.
func isUnlocked(*os.File) bool { return false }

// Apart are the attributes of a process that outlives this one and has no console.
func Apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}

// detachedProcess is DETACHED_PROCESS.
const detachedProcess = 0x8
