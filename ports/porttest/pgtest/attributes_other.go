//go:build unix && !linux

package pgtest

import "syscall"

// attributes are those of a server.
func attributes(id *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: id, Setpgid: true}
}
