// Package process runs the commands of steps as processes of the operating
// system: each in a group of its own that ends with it, its output passed on and
// kept within bounds. It decides neither whether a command may run nor what its
// outcome means.
package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/waybill/waybill/ports"
)

// Runner implements ports.Commands. It runs one command at a time.
//
// What ends with what: a command is the leader of a session of its own. When it
// exits, is stopped or is given up, whatever is left in its process group is
// stopped too. When this process is killed and can do nothing any more, Linux
// kills the command itself (Pdeathsig) and a guard, a small shell that waits for
// our end of a pipe to close, kills the whole group on every Unix. A process that
// left the group on purpose (setsid) goes on. On Windows only the command itself
// is stopped.
type Runner struct {
	Dir    string    // what a relative Cwd is relative to; "" is the current folder
	Env    []string  // the performer's environment, as os.Environ gives it; nil: this process's
	Output io.Writer // gets output as it comes; nil: nobody does

	// Grace is how long a command may take to end after it was asked to; 0 stands
	// for graceDefault.
	Grace time.Duration

	guard guard
}

const (
	// graceDefault lets a program remove its temporary files, and keeps a person who
	// pressed Ctrl-C waiting no longer than they put up with.
	graceDefault = 3 * time.Second
	// drain is how long the output of a command that has exited may still come: its
	// last children, such as a tee, write after it. Only a command that left something
	// behind is waited for.
	drain = time.Second
	// poll is the pause between two looks at whether a group is gone.
	poll = 5 * time.Millisecond
)

// Close ends the guard. The Runner may be used again after it.
func (r *Runner) Close() { r.guard.close() }

// Try runs a command once.
func (r *Runner) Try(ctx context.Context, c ports.Command) (ports.CommandOutcome, error) {
	if err := ctx.Err(); err != nil {
		return ports.CommandOutcome{}, err
	}
	// Linux delivers Pdeathsig when the thread that forked ends, not the process:
	// the thread is kept until the command is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd, failed := r.prepare(c)
	if failed != nil {
		return failed.outcome(), nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return (&notStarted{clause: "its output cannot be read: " + reason(err)}).outcome(), nil
	}
	cmd.Stdout, cmd.Stderr = to, to
	began := time.Now()
	err = cmd.Start()
	_ = to.Close()
	if err != nil {
		_ = from.Close()
		return explain(err, cmd, c).outcome(), nil
	}
	r.guard.watch(cmd.Process.Pid)
	defer r.guard.watch(0)
	t := try{cmd: cmd, from: from, kept: newCapture(r.Output), grace: r.Grace, exited: make(chan struct{}),
		read: make(chan struct{})}
	if t.grace == 0 {
		t.grace = graceDefault
	}
	why, err := t.attend(ctx, time.Duration(c.TimeoutMs)*time.Millisecond)
	if err != nil {
		return ports.CommandOutcome{}, err
	}
	out := t.outcome(why)
	out.DurationMs = time.Since(began).Milliseconds()
	return out, nil
}

// try is a command that has started.
type try struct {
	cmd    *exec.Cmd
	from   *os.File // its output
	kept   *capture
	grace  time.Duration
	exited chan struct{} // closed when the command itself is gone
	read   chan struct{} // closed when no more output comes
}

// attend waits for the command's end, or brings it about. It returns what kept
// the command from ending by itself, or ctx's error.
func (t *try) attend(ctx context.Context, timeout time.Duration) (why string, err error) {
	go func() {
		_ = t.cmd.Wait() // the status is in ProcessState
		close(t.exited)
	}()
	go func() {
		t.kept.readAll(t.from)
		close(t.read)
	}()
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.exited:
	case <-late:
		why = fmt.Sprintf("it ran longer than %s and was stopped", timeout)
		t.stop()
	case <-ctx.Done():
		select {
		case <-t.exited: // it was faster: what it did is known
		default:
			err = ctx.Err()
			t.stop()
		}
	}
	t.settle(err)
	return why, err
}

// stop asks the group to end, and after a while no longer asks.
func (t *try) stop() {
	terminate(t.cmd.Process)
	if !within(t.exited, t.grace) {
		kill(t.cmd.Process)
		<-t.exited
	}
}

// settle ends what the command left behind and the reading of its output. In the
// common case, where all writers are gone and so is the group, it waits for nothing.
func (t *try) settle(interrupted error) {
	within(t.read, drain)
	if alive(t.cmd.Process) {
		terminate(t.cmd.Process)
		for deadline := time.Now().Add(t.grace); alive(t.cmd.Process) && time.Now().Before(deadline); {
			time.Sleep(poll)
		}
		kill(t.cmd.Process)
	}
	// A process outside the group may hold the pipe for ever.
	if !within(t.read, drain) {
		_ = t.from.SetReadDeadline(time.Now())
	}
	if interrupted != nil {
		// Nobody will look at the output; a terminal that does not take any more of it
		// must not keep us here.
		within(t.read, drain)
		return
	}
	<-t.read
	_ = t.from.Close()
}

func within(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// outcome tells how it ended. It is called when nothing is read any more.
func (t *try) outcome(why string) ports.CommandOutcome {
	out := t.kept.outcome()
	out.ExitStatus, out.Failure = ended(t.cmd.ProcessState)
	if why != "" {
		out.ExitStatus, out.Failure = -1, why
	}
	return out
}
