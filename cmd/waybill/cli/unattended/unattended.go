// Package unattended performs runs of a store where no person is present: for 'waybill serve', 'waybill work' and 'waybill due
// --run'. Commands run only under trust that a person recorded (docs/design.md#performing-runs). It does not choose which runs
// are performed, and prints nothing.
package unattended

import (
	"context"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/process"
)

// Pool performs runs of one store, several at once. Its methods may be called from many goroutines.
type Pool struct {
	app     *cli.App
	store   *cli.Store
	root    string
	runners chan *process.Runner // one for each run at a time: a runner runs one command at a time
}

// NewPool returns a pool that performs at most a number of runs at once. Commands run in dir, "" for the current directory; root
// is the folder where trust counts.
func NewPool(a *cli.App, o *cli.Store, root, dir string, most int) *Pool {
	p := &Pool{app: a, store: o, root: root, runners: make(chan *process.Runner, most)}
	for range most {
		p.runners <- &process.Runner{Dir: dir, Root: root, Env: a.Env}
	}
	return p
}

// Perform performs a run as far as it goes without a person. It waits while as many runs as the pool allows are performed.
// change changes the performer before, nil: it stays. The report and the error are those of perform.Performer.Perform, and the
// error of change.
func (p *Pool) Perform(ctx context.Context, s id.Session, run id.Run, o perform.Options,
	change func(*perform.Performer) error) (perform.Report, error) {
	runner := <-p.runners
	defer func() { p.runners <- runner }()
	o.NoWait = true
	performer := p.performer(runner)
	if change != nil {
		if err := change(performer); err != nil {
			return perform.Report{}, err
		}
	}
	return performer.Perform(ctx, s, run, o)
}

// Allow returns WORKFLOW_UNTRUSTED for a workflow whose commands the pool would not run.
func (p *Pool) Allow(ctx context.Context, d engine.Definition) error {
	return p.performer(nil).Allow(ctx, d.Workflow, string(d.SourceKind), perform.Options{})
}

// Close ends the processes that stop commands. No run is performed any more.
func (p *Pool) Close() {
	for range cap(p.runners) {
		(<-p.runners).Close()
	}
}

// Caller is an agent, as of a run without a terminal: what is performed here, no person decides.
func (p *Pool) Caller() engine.Caller {
	return p.store.CallerOf(event.Actor{Kind: event.Agent, Ref: p.app.Flags.As})
}

// performer performs one run. It asks no person, and believes recorded trust alone, which it reads for each step: a person may
// revoke it meanwhile.
func (p *Pool) performer(commands *process.Runner) *perform.Performer {
	return &perform.Performer{Engine: p.store.Engine, Logs: p.store.Logs(), Commands: commands, Person: absent{},
		Display: perform.NoDisplay{}, Performers: p.store.Performers(), Pins: p.app.Pins(p.root), Trusted: p.store.TrustedHere,
		TrustedBefore: p.store.TrustedBefore, Remember: func(context.Context, compile.Compiled, trust.Fixed) error { return nil },
		EachStep: true, By: p.Caller(), NowMs: p.app.NowMs, Pause: Pause, OfStore: p.app.OfStore,
		ContinueLine: p.line("run", "--run"), SubmitLine: p.line("continue", "--run"), ApproveLine: p.line("approve")}
}

// line returns the command lines about a run, for the suggestions of errors.
func (p *Pool) line(words ...string) func(id.Run, ...string) fault.Command {
	return func(run id.Run, more ...string) fault.Command {
		return p.app.StoreCommand(append(append(append([]string{}, words...), page.ShortRun(run)), more...)...)
	}
}

// Explain returns an error of Perform as it is shown: WORKFLOW_UNTRUSTED with the command by which a person trusts the version.
func (p *Pool) Explain(err error) *fault.Fault {
	f := fault.Of(err)
	if hash, ok := f.Details["workflowHash"].(string); ok && f.Code == fault.WorkflowUntrusted {
		f.Suggest("A person allows its commands here with %s, which shows them.", p.app.StoreCommand("trust", hash))
	}
	return p.app.SuggestForStore(f)
}

// Imported is why an imported run is left alone: a bundle must not start commands, and a person who continues the run takes it over.
func (p *Pool) Imported(run id.Run) *fault.Fault {
	return fault.New(fault.RunWaiting, "the run was imported, and no person has continued it here").
		Suggest("Continue it with %s at a terminal.", p.line("run", "--run")(run))
}

// Pause waits for a number of milliseconds, or returns the error of ctx.
func Pause(ctx context.Context, ms int64) error {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
