//go:build unix

package process

import (
	"io"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// guard kills the process group of the running command when this process ends before it. It is one
// shell for all commands of a Runner, so that a step costs one write to a pipe.
//
// It complements Pdeathsig. Without /bin/sh, or when the shell is killed, commands still run.
type guard struct {
	mu    sync.Mutex
	shell *exec.Cmd
	pipe  io.WriteCloser
}

// guardScript stores the last group that it reads. Its input ends when the last process that holds
// the pipe ends; only this process holds it.
const guardScript = `group=; while read -r line; do group=$line; done; [ -z "$group" ] || kill -9 "-$group"`

// ready starts the guard unless it runs. It precedes the start of a command: the group of a command
// that began before its guard would outlive a performer that is killed in between.
func (g *guard) ready() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.send(0); g.pipe == nil {
		g.start()
	}
}

// watch sets the group that must not outlive this process; 0 clears it. Without a guard that is ready
// it has no effect.
func (g *guard) watch(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.send(group)
}

// send writes a group to the guard, if one runs, and stops a guard that was killed.
func (g *guard) send(group int) {
	if g.pipe == nil {
		return
	}
	line := "\n"
	if group != 0 {
		line = strconv.Itoa(group) + "\n"
	}
	if _, err := io.WriteString(g.pipe, line); err != nil {
		g.stop() // ready starts a new one
	}
}

// start starts the shell. Where that is not possible, commands run without a guard.
func (g *guard) start() {
	// A session of its own: Ctrl-C and the end of the terminal do not reach it.
	g.shell = &exec.Cmd{Path: "/bin/sh", Args: []string{"waybill-guard", "-c", guardScript}, Dir: "/", Env: []string{},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	pipe, err := g.shell.StdinPipe()
	if err == nil {
		err = g.shell.Start()
	}
	if err == nil {
		g.pipe = pipe
	}
}

// stop closes the pipe and waits for the shell. It kills the last group that was not cleared.
func (g *guard) stop() {
	_ = g.pipe.Close()
	_ = g.shell.Wait()
	g.pipe = nil
}

// close stops the shell if it runs.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		g.stop()
	}
}
