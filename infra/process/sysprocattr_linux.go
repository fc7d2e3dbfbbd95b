package process

import "syscall"

// sysProcAttr starts a command in a session of its own and kills it when the starting thread ends.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
