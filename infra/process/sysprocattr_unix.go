//go:build unix && !linux

package process

import "syscall"

// sysProcAttr starts a command in a session of its own. These systems have no Pdeathsig; the guard
// kills the group.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
