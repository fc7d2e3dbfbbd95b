package pgtest

import "syscall"

// attributes are those of a server: it ends with the process of the tests.
func attributes(id *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: id, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}
