//go:build unix && !linux

package process

import "syscall"

// attributes: there is no Pdeathsig here; the guard does its work.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
