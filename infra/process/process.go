// Package process runs the commands of steps as processes of the operating system: each in a
// process group of its own that ends with it, with its output forwarded and captured within bounds.
// It does not decide whether a command may run (docs/design.md#commands-and-trust), nor what its
// outcome means. It runs no shell: the argv of a step is executed as it is. Start with Runner.Try.
package process

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/waybill/waybill/ports"
)

// Runner implements ports.Commands. It runs one command at a time.
//
// Each command is the leader of a session of its own. When it exits, is stopped or is canceled, the
// rest of its process group is stopped too. When this process is killed, Linux kills the command
// itself (Pdeathsig), and on every Unix a guard kills the whole group: a small shell that reads
// from a pipe which only this process holds. A process that left the group on purpose (setsid)
// continues, and so does one that a command had started before the guard knew the group, a fraction of a
// millisecond after the start. On Windows only the command itself is stopped.
type Runner struct {
	Dir    string    // directory for relative Cwd values; "" is the current one
	Env    []string  // environment of the performer, as from os.Environ; nil: that of this process
	Output io.Writer // receives output as it is read; may be nil
	Root   string    // root of the project, for commands whose folder must be below it; "" is Dir

	// Grace is how long a command may take to end after SIGTERM; 0 selects graceDefault.
	Grace time.Duration

	guard guard
	swept bool // private folders that killed performers left were removed
}

const (
	// graceDefault lets a program remove its temporary files without delaying a user who pressed
	// Ctrl-C for long.
	graceDefault = 3 * time.Second
	// drainMax bounds the wait for output after a command has exited: its last children, such as a
	// tee, write after it. The wait occurs only when a process still holds the pipe.
	drainMax = time.Second
	// pollInterval is the pause between two checks whether a group has ended.
	pollInterval = 5 * time.Millisecond
)

// Close stops the guard. The Runner may be used again; the next command starts a new guard.
func (r *Runner) Close() { r.guard.close() }

// Try runs a command once and returns its outcome. A command that cannot start, times out or exits
// with a status is an outcome, not an error; the error is that of ctx, or ports.ErrOutside. Failure and Fix are texts
// for the user without absolute paths.
func (r *Runner) Try(ctx context.Context, c ports.Command) (ports.CommandOutcome, error) {
	if err := ctx.Err(); err != nil {
		return ports.CommandOutcome{}, err
	}
	// Linux delivers Pdeathsig when the thread that forked ends, not the process, so this goroutine
	// keeps its thread until the command has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd, failed, err := r.prepare(c)
	switch {
	case err != nil:
		return ports.CommandOutcome{}, err
	case failed != nil:
		return failed.outcome(), nil
	}
	folder, problem := r.open(c)
	if problem != nil {
		return problem.outcome(), nil
	}
	defer folder.remove()
	cmd.Env = append(cmd.Env, folder.env()...)
	r.guard.ready()
	began := time.Now()
	e, problem := r.start(cmd, c)
	if problem != nil {
		return problem.outcome(), nil
	}
	defer r.guard.watch(0)
	why, err := e.wait(ctx, time.Duration(c.TimeoutMs)*time.Millisecond)
	if err != nil {
		return ports.CommandOutcome{}, err
	}
	out := e.outcome(why)
	out.DurationMs = time.Since(began).Milliseconds()
	out.Written, out.Unread = folder.output()
	return out, nil
}

// start starts a command with a pipe for each of its outputs.
func (r *Runner) start(cmd *exec.Cmd, c ports.Command) (*execution, *startFailure) {
	e := &execution{cmd: cmd, captured: newCapture(r.Output), grace: cmp.Or(r.Grace, graceDefault),
		exited: make(chan struct{}), drained: make(chan struct{})}
	e.captured.max = c.Whole
	writers := make([]*os.File, 2)
	var err error
	for i := range e.outputs {
		if e.outputs[i], writers[i], err = os.Pipe(); err != nil {
			e.close(writers)
			return nil, &startFailure{clause: "its output cannot be read: " + reason(err)}
		}
	}
	cmd.Stdout, cmd.Stderr = writers[0], writers[1]
	if e.input, err = inputOf(cmd, c.Input); err == nil {
		err = cmd.Start()
	}
	if cmd.Stdin != nil {
		writers = append(writers, cmd.Stdin.(*os.File))
	}
	if err != nil {
		e.close(writers)
		return nil, startFailureOf(err, cmd, c)
	}
	r.guard.watch(cmd.Process.Pid) // first, for the time in which a kill leaves processes is until here
	closeAll(writers)
	if e.input != nil {
		go func() {
			_, _ = e.input.Write(c.Input) // ends at the latest when finish closes the pipe
			_ = e.input.Close()
		}()
	}
	return e, nil
}

// inputOf gives a command its standard input and returns the end of the pipe to write it to; nil for the
// null device.
func inputOf(cmd *exec.Cmd, input []byte) (*os.File, error) {
	if input == nil {
		return nil, nil
	}
	reader, writer, err := os.Pipe()
	if err == nil {
		cmd.Stdin = reader
	}
	return writer, err
}

// execution is a started command.
type execution struct {
	cmd      *exec.Cmd
	input    *os.File    // write end of the pipe for stdin; nil: it has none
	outputs  [2]*os.File // read ends of the pipes for stdout and stderr
	captured *capture
	grace    time.Duration
	exited   chan struct{} // closed when the command itself has exited
	drained  chan struct{} // closed at the end of both outputs
}

// close closes the pipes of a command that did not start.
func (e *execution) close(writers []*os.File) {
	closeAll(writers)
	closeAll(e.outputs[:])
	closeAll([]*os.File{e.input})
}

// closeAll closes the files that are open; nil stands for one that is not.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait waits for the end of the command, or stops it after timeout (0: never) or when ctx ends. why
// is the failure text for a timeout; err is ctx's error.
func (e *execution) wait(ctx context.Context, timeout time.Duration) (why string, err error) {
	go func() {
		_ = e.cmd.Wait() // the status is in ProcessState
		close(e.exited)
	}()
	go func() {
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(e.captured.stdout(), e.outputs[0]) })
		both.Go(func() { _, _ = io.Copy(later{e.captured.stderr()}, e.outputs[1]) })
		both.Wait()
		close(e.drained)
	}()
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if !closedBefore(e.exited, limited.Done()) {
		if err = ctx.Err(); err == nil {
			why = fmt.Sprintf("it ran longer than %s and was stopped", timeout)
		}
		e.stop()
	}
	e.finish(err)
	return why, err
}

// stderrDelay holds stderr back, so that what a command wrote to stdout right before comes first, as
// it does at a terminal: the readers of two pipes wake in any order.
const stderrDelay = time.Millisecond

// later is a writer that waits for stderrDelay before each write.
type later struct{ io.Writer }

// Write waits and writes.
func (l later) Write(p []byte) (int, error) {
	time.Sleep(stderrDelay)
	return l.Writer.Write(p)
}

// stop sends SIGTERM to the group, and SIGKILL after the grace period.
func (e *execution) stop() {
	terminate(e.cmd.Process)
	if !waitAtMost(e.exited, e.grace) {
		kill(e.cmd.Process)
		<-e.exited
	}
}

// finish stops what the command left in its group and ends the reading of its output. When all
// writers and the group have ended already, as is usual, it does not wait.
func (e *execution) finish(interrupted error) {
	closeAll([]*os.File{e.input}) // of a command that did not read it, or left it to another process
	waitAtMost(e.drained, drainMax)
	if groupExists(e.cmd.Process) {
		terminate(e.cmd.Process)
		for deadline := time.Now().Add(e.grace); groupExists(e.cmd.Process) && time.Now().Before(deadline); {
			time.Sleep(pollInterval)
		}
		kill(e.cmd.Process)
	}
	// A process outside the group may keep a pipe open without limit.
	if !waitAtMost(e.drained, drainMax) {
		for _, pipe := range e.outputs {
			_ = pipe.SetReadDeadline(time.Now())
		}
	}
	if interrupted != nil {
		// The output is not used any more; a terminal that accepts no more of it must not block
		// here.
		waitAtMost(e.drained, drainMax)
		return
	}
	<-e.drained
	closeAll(e.outputs[:])
}

// waitAtMost waits for done, at most for d, and reports whether it was closed.
func waitAtMost(done <-chan struct{}, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return closedBefore(done, ctx.Done())
}

// closedBefore waits for done, at most until end, and reports whether it was closed: it was where
// both are.
func closedBefore(done, end <-chan struct{}) bool {
	select {
	case <-done:
	case <-end:
		select {
		case <-done:
		default:
			return false
		}
	}
	return true
}

// outcome returns the result after the output has been read. why overrides the exit status.
func (e *execution) outcome(why string) ports.CommandOutcome {
	out := e.captured.outcome()
	out.ExitStatus, out.Failure = exitOf(e.cmd.ProcessState)
	if why != "" {
		out.ExitStatus, out.Failure = -1, why
	}
	return out
}
