//go:build linux || darwin

package terminal

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// keyMode lets a terminal pass on each key as it is typed, without echo, until restore is called. Keys
// that are signals remain signals; while the process is stopped, the terminal has its former mode. ok
// is false if the terminal cannot be changed.
func keyMode(f *os.File) (restore func(), ok bool) {
	before, ok := mode(f)
	if !ok {
		return nil, false
	}
	keys := before
	keys.Lflag &^= syscall.ICANON | syscall.ECHO
	keys.Cc[syscall.VMIN], keys.Cc[syscall.VTIME] = 1, 0
	if !setMode(f, keys) {
		return nil, false
	}
	var changing sync.Mutex
	ended := false
	stopped := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(stopped, syscall.SIGTSTP)
	}
	go func() {
		for range stopped {
			setMode(f, before) // as restore does, which may precede
			signal.Reset(syscall.SIGTSTP)
			_ = syscall.Kill(os.Getpid(), syscall.SIGTSTP)
			time.Sleep(stopDelay) // the signal stops the process in this time, and it continues here
			changing.Lock()
			if !ended {
				signal.Notify(stopped, syscall.SIGTSTP)
				setMode(f, keys)
			}
			changing.Unlock()
		}
	}()
	return func() {
		changing.Lock()
		defer changing.Unlock()
		if ended {
			return
		}
		ended = true
		setMode(f, before)
		signal.Stop(stopped)
		close(stopped)
	}, true
}

// stopDelay is longer than the system takes to stop a process by a signal.
const stopDelay = 20 * time.Millisecond

// mode returns the mode of a terminal.
func mode(f *os.File) (m syscall.Termios, ok bool) {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), getMode, uintptr(unsafe.Pointer(&m)))
	return m, errno == 0
}

// setMode changes the mode of a terminal. Input that was not read remains.
func setMode(f *os.File, m syscall.Termios) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), putMode, uintptr(unsafe.Pointer(&m)))
	return errno == 0
}

// keepMode returns what gives a terminal the mode that it has now.
func keepMode(f *os.File) (restore func()) {
	before, ok := mode(f)
	return func() {
		if ok && isForeground(f) {
			setMode(f, before)
		}
	}
}

// isForeground reports that this process may read from the terminal: a program that it starts would be stopped otherwise.
func isForeground(f *os.File) bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno != 0 || int(group) == syscall.Getpgrp() // an error: it is not the terminal of this session
}

// endBy ends this process by a signal, as if it had not been caught.
func endBy(s os.Signal) {
	signal.Reset(s)
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), number)
		time.Sleep(stopDelay)
	}
}
