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
