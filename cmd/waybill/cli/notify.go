package cli

import (
	"cmp"
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/durable/engine/notice"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/ports"
)

// Notifications are what a process does about the command of notifications (docs/design.md#notifications). All
// stores that the process opens share it.
type Notifications struct {
	notifier ports.Notifier

	mu      sync.Mutex
	refused bool     // it was reported that a command may not run
	late    []func() // reports that are logged at the end
	direct  bool     // stderr may be written at any time
	started bool     // a command was
}

// NewNotifications returns notifications that are started by n.
func NewNotifications(n ports.Notifier) *Notifications { return &Notifications{notifier: n} }

// notifyingEnv is set in the environment of the command of notifications. What it calls of waybill does not
// notify: a command that continues runs would be started again and again.
const notifyingEnv = "WAYBILL_NOTIFY"

// OnMachine returns the settings of the store on this machine.
func (o *Store) OnMachine() settings.OnMachine {
	machine, err := o.app.Machine()
	if err != nil {
		return settings.OnMachine{Settings: o.Settings}
	}
	return settings.OnMachine{Settings: o.Settings, Machine: machine}
}

// report logs what happened to a notification. The diagnostics of a command come after its answer: a view
// may be on the terminal.
func (n *Notifications) report(write func()) {
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

// end waits a short time for the commands, after the answer of the call was printed, and logs the reports.
func (n *Notifications) end() {
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

// noticesMax bounds the facts of one store that wait for their notification.
const noticesMax = 1024

// notifying notifies of what this process appends to the logs of one opened store. The appends only add to a
// queue; another goroutine reads the runs and starts the command. Its zero value notifies of nothing.
type notifying struct {
	app   *App
	store *Store

	mu      sync.Mutex
	queue   []notice.Recorded
	dropped int
	working bool
	work    sync.WaitGroup
	hurry   context.Context // ends when the store is closed
	close   context.CancelFunc
}

// newNotifying returns the notifications of a store that is not connected yet.
func newNotifying(a *App) *notifying {
	n := &notifying{app: a}
	n.hurry, n.close = context.WithCancel(context.Background())
	return n
}

// appended notes what an append recorded. It does not block.
func (n *notifying) appended(p manifest.Plan) {
	if n.app.Notifications == nil || n.app.Getenv(notifyingEnv) != "" {
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
func (n *notifying) run() {
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

// settle returns when the command of each fact was started. The store may be closed then.
func (n *notifying) settle() {
	n.close()
	n.work.Wait()
	if n.dropped > 0 {
		log := n.app.Log()
		log.Warn().Int("count", n.dropped).Msg("notifications were left out: too many waited")
	}
}

// notify starts the command for one fact, if a person is notified of it. Nothing that goes wrong here concerns
// the call that recorded the fact.
func (n *notifying) notify(rec notice.Recorded) {
	ctx, all := context.Background(), n.app.Notifications
	argv, err := n.store.OnMachine().NotifyCommand(ctx)
	if err == nil && len(argv) == 0 {
		return
	}
	if err != nil {
		all.refuse(n.app, err)
		return
	}
	fact, ok, err := n.store.Notices.After(ctx, rec)
	if err == nil && !ok {
		return
	}
	var text []byte
	if err == nil {
		fact.Next.Command = n.app.WithStoreFlags(fact.Next.Command)
		text, err = fact.Document()
	}
	if err != nil {
		n.log(rec, zerolog.WarnLevel).Err(err).Msg("a notification was left out: the run cannot be read")
		return
	}
	all.mu.Lock()
	all.started = true
	all.mu.Unlock()
	all.notifier.Notify(n.hurry, ports.Notification{Argv: argv, Dir: cmp.Or(n.app.home(), "/"), Document: text,
		Env: map[string]string{"WAYBILL_RUN_ID": fact.RunID.String(), "WAYBILL_STATUS": string(fact.Status),
			notifyingEnv: "1"}},
		func(out ports.CommandOutcome) { all.report(func() { n.ended(rec, out) }) })
}

// ended logs the end of a command: a failure as a warning, with the end of its output.
func (n *notifying) ended(rec notice.Recorded, out ports.CommandOutcome) {
	level := zerolog.WarnLevel
	if out.OK() {
		level = zerolog.DebugLevel
	}
	record := n.log(rec, level).Int64("exit", out.ExitStatus).Int64("durationMs", out.DurationMs).
		Int64("outputBytes", out.OutputBytes)
	if out.Failure != "" {
		record.Str("failure", out.Failure)
	}
	if out.OutputTail != "" {
		record.Str("output", out.OutputTail)
	}
	record.Msg("the command of notifications ended")
}

// log begins a record about a notification.
func (n *notifying) log(rec notice.Recorded, level zerolog.Level) *zerolog.Event {
	log := n.app.Log()
	return log.WithLevel(level).Str("runId", rec.Run.String())
}

// refuse logs once for the process that the command of a store is not started, and why.
func (n *Notifications) refuse(a *App, err error) {
	n.mu.Lock()
	again := n.refused
	n.refused = true
	n.mu.Unlock()
	if again {
		return
	}
	f := faults.Redact(a.SuggestForStore(fault.Of(err)))
	n.report(func() {
		log := a.Log()
		log.Warn().Str("code", string(f.Code)).Msg("no notification is sent: " + f.Message + ". " + f.Suggestion.String())
	})
}
