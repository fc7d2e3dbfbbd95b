// Package notify starts the command of notifications for what a process appends (docs/design.md#notifications). It
// decides nothing: package notice does. Start with Queue.
package notify

import (
	"cmp"
	"context"
	"log/slog"
	"sync"

	"github.com/waybill/waybill/durable/engine/notice"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/ports"
)

// Process is what a process does about the command of notifications. All stores that the process opens share it.
type Process struct {
	notifier ports.Notifier

	mu      sync.Mutex
	refused bool     // it was reported that a command may not run
	late    []func() // reports that are logged at the end
	direct  bool     // stderr may be written at any time
	started bool     // a command was
}

// New returns the notifications that n starts.
func New(n ports.Notifier) *Process { return &Process{notifier: n} }

// Env is set in the environment of the command of notifications. What it calls of waybill does not
// notify: a command that continues runs would be started again and again.
const Env = "WAYBILL_NOTIFY"

// report logs what happened to a notification. The diagnostics of a command come after its answer: a view
// may be on the terminal.
func (n *Process) report(write func()) {
	n.mu.Lock()
	direct := n.direct
	if !direct {
		n.late = append(n.late, write)
	}
	n.mu.Unlock()
	if direct {
		write()
	}
}

// End waits a short time for the commands, after the answer of the call was printed, and logs the reports.
func (n *Process) End() {
	if n == nil {
		return
	}
	n.mu.Lock()
	started := n.started
	n.mu.Unlock()
	if started {
		n.notifier.Wait()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, write := range n.late {
		write()
	}
	n.late = nil
}

// Directly lets reports be logged at once: stderr may be written at any time.
func (n *Process) Directly() {
	if n == nil {
		return
	}
	n.mu.Lock()
	n.direct = true
	n.mu.Unlock()
}

// noticesMax bounds the facts of one store that wait for their notification.
const noticesMax = 1024

// Store is what the notifications of one opened store require.
type Store struct {
	// Command returns the command of notifications, nil if there is none. An error says why it may not run.
	Command func(context.Context) ([]string, error)
	// Notice returns what a person is notified of; ok is false for nothing. Its next command is complete.
	Notice func(context.Context, notice.Recorded) (n notice.Notice, ok bool, err error)
	Log    func() *slog.Logger
	// Explain returns a fault as it is shown.
	Explain func(*fault.Fault) *fault.Fault
	Home    string // the directory in which the command runs
}

// Queue notifies of what this process appends to the logs of one opened store. The appends only add to a
// queue; another goroutine reads the runs and starts the command. A nil Queue notifies of nothing.
type Queue struct {
	all   *Process
	store Store

	mu      sync.Mutex
	queue   []notice.Recorded
	dropped int
	working bool
	work    sync.WaitGroup
	hurry   context.Context // ends when the store is closed
	close   context.CancelFunc
}

// Of returns the notifications of a store. nil of a nil Process.
func (n *Process) Of(s Store) *Queue {
	if n == nil {
		return nil
	}
	q := &Queue{all: n, store: s}
	q.hurry, q.close = context.WithCancel(context.Background())
	return q
}

// Appended notes what an append recorded. It does not block.
func (n *Queue) Appended(p manifest.Plan) {
	if n == nil {
		return
	}
	recorded := notice.RecordedBy(p)
	if len(recorded) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if room := noticesMax - len(n.queue); room < len(recorded) {
		n.dropped += len(recorded) - room
		recorded = recorded[:room]
	}
	n.queue = append(n.queue, recorded...)
	if !n.working {
		n.working = true
		n.work.Go(n.run)
	}
}

// run works until the queue is empty.
func (n *Queue) run() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.working = false
			n.mu.Unlock()
			return
		}
		next := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		n.notify(next)
	}
}

// Settle returns when the command of each fact was started. The store may be closed then.
func (n *Queue) Settle() {
	if n == nil {
		return
	}
	n.close()
	n.work.Wait()
	if n.dropped > 0 {
		n.store.Log().Warn("notifications were left out: too many waited", "count", n.dropped)
	}
}

// notify starts the command for one fact, if a person is notified of it. Nothing that goes wrong here concerns
// the call that recorded the fact.
func (n *Queue) notify(rec notice.Recorded) {
	ctx, all := context.Background(), n.all
	argv, err := n.store.Command(ctx)
	if err == nil && len(argv) == 0 {
		return
	}
	if err != nil {
		all.refuse(n.store, err)
		return
	}
	fact, ok, err := n.store.Notice(ctx, rec)
	if err == nil && !ok {
		return
	}
	var text []byte
	if err == nil {
		text, err = fact.Document()
	}
	if err != nil {
		n.store.Log().Warn("a notification was left out: the run cannot be read", "runId", rec.Run.String(), "error", err.Error())
		return
	}
	all.mu.Lock()
	all.started = true
	all.mu.Unlock()
	all.notifier.Notify(n.hurry, ports.Notification{Argv: argv, Dir: cmp.Or(n.store.Home, "/"), Document: text,
		Env: map[string]string{"WAYBILL_RUN_ID": fact.RunID.String(), "WAYBILL_STATUS": string(fact.Status),
			Env: "1"}},
		func(out ports.CommandOutcome) { all.report(func() { n.ended(rec, out) }) })
}

// ended logs the end of a command: a failure as a warning, with the end of its output.
func (n *Queue) ended(rec notice.Recorded, out ports.CommandOutcome) {
	level := slog.LevelWarn
	if out.OK() {
		level = slog.LevelDebug
	}
	about := []any{"runId", rec.Run.String(), "exit", out.ExitStatus, "durationMs", out.DurationMs, "outputBytes", out.OutputBytes}
	if out.Failure != "" {
		about = append(about, "failure", out.Failure)
	}
	if out.OutputTail != "" {
		about = append(about, "output", out.OutputTail)
	}
	n.store.Log().Log(context.Background(), level, "the command of notifications ended", about...)
}

// refuse logs once for the process that the command of a store is not started, and why.
func (n *Process) refuse(s Store, err error) {
	n.mu.Lock()
	again := n.refused
	n.refused = true
	n.mu.Unlock()
	if again {
		return
	}
	f := faults.Redact(s.Explain(fault.Of(err)))
	n.report(func() {
		s.Log().Warn("no notification is sent: "+f.Message+". "+f.Suggestion.String(), "code", string(f.Code))
	})
}
