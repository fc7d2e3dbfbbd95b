package work

import (
	"context"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/process"
)

// stage is what one call of run works with: the store, the performer, and the
// adapters that the performer needs.
type stage struct {
	app       *cli.App
	store     *cli.Store
	view      *runview.View
	commands  *process.Runner
	performer *perform.Performer
}

// newStage wires the performer to the terminal, to processes and to the store.
// With --json the run is shown on stderr, since stdout is for the one document.
//
// Trust is read and written through the store's settings, each time anew:
// another process may change it. The performer's lock keeps a second 'run' of
// the same session out.
func newStage(a *cli.App, o *cli.Store, in *runInput, args []string) *stage {
	s := &stage{app: a, store: o}
	// The view must not write where the document goes.
	shown := a.Out
	if a.Flags.JSON {
		shown = a.Err
	}
	// The command that shows all commands of the workflow, for the question of
	// trust.
	inspect := a.Command("workflows", "inspect", "FILE|ID")
	if len(args) > 0 {
		inspect = a.Command("workflows", "inspect", args[0])
	}
	s.view = runview.New(runview.Options{In: a.In, Out: shown, Getenv: a.Getenv, NoColor: a.Flags.NoColor,
		Quiet: in.quiet, Commands: inspect, Short: page.ShortRun,
		Read: func(name string) (advance.Artifact, error) { return typedFile(a, name) }})
	s.commands = &process.Runner{Env: a.Env, Output: s.view.Output()}
	s.performer = &perform.Performer{
		Engine: o.Engine, Logs: o.Logs, Commands: s.commands, Person: s.view, Display: s.view,
		Performers: o.Performers(),
		Trusted: func(ctx context.Context, hash canon.Digest) (bool, error) {
			list, err := o.Trusted(ctx)
			_, ok := list.Of(hash)
			return ok, err
		},
		Remember: func(ctx context.Context, w compile.Compiled) error {
			_, err := o.Trust(ctx, a.Caller(), w)
			return err
		},
		Actor: a.Actor(), NowMs: a.NowMs, Pause: pause,
		GoOn:        func(run id.Run, more ...string) string { return goOn(a, run, more...) },
		HandIn:      func(run id.Run, more ...string) string { return handIn(a, run, more...) },
		ApproveLine: func(run id.Run) string { return a.Command("approve", page.ShortRun(run)) },
	}
	return s
}

// close ends what the commands left running.
func (s *stage) close() { s.commands.Close() }

// pause waits so many milliseconds unless ctx ends first, whose error it then
// returns.
func pause(ctx context.Context, ms int64) error {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
