// Package notifier starts commands of notifications so that the caller does not wait for them
// (docs/design.md#notifications). Each command has a keeper: a process of this program, in a session of
// its own, that gives the command its document, ends it after the time limit, and outlives the caller. It
// does not decide whether a command may run, nor what its document says. Start with Launcher.
package notifier

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/waybill/waybill/infra/process"
	"github.com/waybill/waybill/ports"
)

// Limit is how long a command may run. graceMax is how long its processes may take to end after SIGTERM.
const (
	Limit    = 30 * time.Second
	graceMax = time.Second
)

// Patience is how long Wait waits for commands: long enough for one that shows a message or sends a
// request, so that its failure is reported, and short enough for a caller that waits for the end of this process.
const Patience = time.Second

// runningMax bounds the commands that run at a time.
const runningMax = 8

// KeepArg is the only argument of a keeper. It is the name of no command of waybill.
const KeepArg = "notify:keep"

// Launcher implements ports.Notifier.
type Launcher struct {
	// Keeper is the program whose call with KeepArg is Keep, as an absolute path; "" is this program.
	Keeper string
	// Env is the environment of the commands, in the form of os.Environ.
	Env []string
	// Limit and Patience replace the constants; 0: they do not.
	Limit, Patience time.Duration

	mu    sync.Mutex
	slots chan struct{}
	open  sync.WaitGroup
	left  bool // Wait has returned: no report follows
}

// job is what a keeper reads. Its document is text: a JSON document.
type job struct {
	Argv     []string          `json:"argv"`
	Dir      string            `json:"dir"`
	Env      map[string]string `json:"env"`
	Document string            `json:"document"`
	LimitMs  int64             `json:"limitMs"`
}

// Notify implements ports.Notifier.
func (l *Launcher) Notify(ctx context.Context, n ports.Notification, report func(ports.CommandOutcome)) {
	slot := l.slot(ctx)
	limit := l.Limit
	if limit == 0 {
		limit = Limit
	}
	text, err := json.Marshal(job{n.Argv, n.Dir, n.Env, string(n.Document), limit.Milliseconds()})
	var k *keeper
	if err == nil {
		k, err = l.start(text)
	}
	if err != nil {
		slot()
		report(ports.CommandOutcome{ExitStatus: -1, Failure: "it could not be started: " + err.Error()})
		return
	}
	l.open.Go(func() {
		out := k.outcome()
		slot()
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.left {
			report(out)
		}
	})
}

// slot waits for one of the running commands to end, until ctx ends. It returns what gives the place back.
func (l *Launcher) slot(ctx context.Context) (free func()) {
	l.mu.Lock()
	if l.slots == nil {
		l.slots = make(chan struct{}, runningMax)
	}
	slots := l.slots
	l.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }
	default:
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }
	case <-ctx.Done():
		return func() {}
	}
}

// Wait implements ports.Notifier.
func (l *Launcher) Wait() {
	patience := l.Patience
	if patience == 0 {
		patience = Patience
	}
	done := make(chan struct{})
	go func() {
		l.open.Wait()
		close(done)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

// keeper is a started keeper.
type keeper struct {
	cmd    *exec.Cmd
	report *os.File
}

// start starts a keeper, and gives it its job.
func (l *Launcher) start(text []byte) (*keeper, error) {
	program, err := l.program()
	if err != nil {
		return nil, err
	}
	in, job, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	report, out, err := os.Pipe()
	if err != nil {
		_ = job.Close()
		return nil, err
	}
	defer out.Close()
	cmd := &exec.Cmd{Path: program, Args: []string{"waybill", KeepArg}, Dir: "/", Env: l.Env, Stdin: in, Stdout: out,
		SysProcAttr: process.Apart()}
	if err = cmd.Start(); err == nil {
		_, err = job.Write(text) // the keeper reads it whole before anything else
	}
	_ = job.Close()
	if err != nil {
		_ = report.Close()
		return nil, err
	}
	return &keeper{cmd, report}, nil
}

// program returns the path of the keeper. On Linux this program is named by the kernel's link, which still
// leads to it after the file was replaced by another version.
func (l *Launcher) program() (string, error) {
	if l.Keeper != "" {
		return l.Keeper, nil
	}
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// outcome waits for the report of the keeper.
func (k *keeper) outcome() (out ports.CommandOutcome) {
	defer k.report.Close()
	err := json.NewDecoder(k.report).Decode(&out)
	_ = k.cmd.Wait()
	if err != nil {
		return ports.CommandOutcome{ExitStatus: -1, Failure: "its keeper ended early"}
	}
	return out
}
