//go:build unix

package process

import (
	"io"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// guard outlives this process by a moment, to kill what it was running. It is one
// shell for all commands of a run, so that a step pays a write into a pipe for it.
//
// It is a courtesy on top of Pdeathsig: where there is no /bin/sh, or somebody
// kills it, commands run all the same.
type guard struct {
	mu    sync.Mutex
	shell *exec.Cmd
	pipe  io.WriteCloser
}

// guardScript remembers the last group that it was told. Its input ends when the
// last process that holds the pipe is gone, and that is only ever ours.
const guardScript = `group=; while read -r line; do group=$line; done; [ -z "$group" ] || kill -9 "-$group"`

// watch names the group that must not outlive this process; 0 takes it back.
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
		g.stop() // the next command gets a new one
	}
}

func (g *guard) start() bool {
	// A session of its own keeps a Ctrl-C and the end of the terminal from it.
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

func (g *guard) stop() {
	_ = g.pipe.Close()
	_ = g.shell.Wait()
	g.pipe = nil
}

func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		g.stop()
	}
}
