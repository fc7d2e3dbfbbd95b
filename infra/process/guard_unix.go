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

// watch sets the group that must not outlive this process; 0 clears it.
func (g *guard) watch(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil && (group == 0 || !g.start()) {
		return
	}
	line := "\n"
	if group != 0 {
		line = strconv.Itoa(group) + "\n"
	}
	if _, err := io.WriteString(g.pipe, line); err != nil {
		g.stop() // the next command starts a new one
	}
}

// start starts the shell. It returns false where that is not possible.
func (g *guard) start() bool {
	// A session of its own: Ctrl-C and the end of the terminal do not reach it.
	g.shell = &exec.Cmd{Path: "/bin/sh", Args: []string{"waybill-guard", "-c", guardScript}, Dir: "/", Env: []string{},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	pipe, err := g.shell.StdinPipe()
	if err == nil {
		err = g.shell.Start()
	}
	if err != nil {
		return false
	}
	g.pipe = pipe
	return true
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
