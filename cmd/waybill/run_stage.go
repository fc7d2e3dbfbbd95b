package main

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/waybill/waybill/cmd/waybill/runview"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/infra/process"
	"github.com/waybill/waybill/ports"
)

// stage is everything that one call of run works with: the store, the performer
// and its adapters.
type stage struct {
	app       *app
	store     *opened
	view      *runview.View
	commands  *process.Runner
	performer *perform.Performer
}

// newStage wires the performer. With --json the run is shown on stderr: stdout is
// for the one document.
func (a *app) newStage(o *opened, in *runInput, args []string) *stage {
	s := &stage{app: a, store: o}
	shown := a.out
	if a.common.json {
		shown = a.errOut
	}
	inspect := a.command("workflows", "inspect", "FILE|ID")
	if len(args) > 0 {
		inspect = a.command("workflows", "inspect", args[0])
	}
	s.view = runview.New(runview.Options{In: a.in, Out: shown, Getenv: a.getenv, NoColor: a.common.noColor,
		Quiet: in.quiet, Commands: inspect, Short: shortRun, Read: func(name string) (advance.Artifact, error) { return a.typedFile(name) }})
	s.commands = &process.Runner{Env: a.env, Output: s.view.Output()}
	s.performer = &perform.Performer{
		Engine: o.Engine, Logs: o.Logs, Commands: s.commands, Person: s.view, Display: s.view,
		Performers: o.performers(),
		Trusted: func(ctx context.Context, hash canon.Digest) (bool, error) {
			list, err := o.Trusted(ctx)
			_, ok := list.Of(hash)
			return ok, err
		},
		Remember: func(ctx context.Context, w compile.Compiled) error {
			_, err := o.Trust(ctx, a.caller(), w)
			return err
		},
		Actor: a.actor(), NowMs: a.nowMs, Pause: pause,
		GoOn:        func(run id.Run, more ...string) string { return a.goOn(run, more...) },
		HandIn:      func(run id.Run, more ...string) string { return a.handIn(run, more...) },
		ApproveLine: func(run id.Run) string { return a.command("approve", shortRun(run)) },
	}
	return s
}

func (s *stage) close() { s.commands.Close() }

// pause waits unless ctx ends first.
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

// performers gives the locks that say who carries out the runs of this store.
func (o *opened) performers() ports.Performers { return performers{lock.Files(osfs.NewDir(o.dir))} }

// performers implements ports.Performers with a lock file beside the log.
type performers struct{ locks *lock.Locks }

// Hold implements ports.Performers.
func (p performers) Hold(ctx context.Context, s id.Session) (func() error, error) {
	held, err := p.locks.Acquire(ctx, "sessions/"+s.String()+"/.performer.lock", lock.Exclusive, 0)
	if err == nil {
		return held.Unlock, nil
	}
	var busy *lock.Busy
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, fault.Wrap(err, fault.StoreReadOnly,
			"the store cannot be written to, and so nobody can perform its runs")
	}
	if !errors.As(err, &busy) {
		return nil, fault.Wrap(err, fault.StoreIO, "the performer's lock cannot be taken: %v", err)
	}
	f := fault.New(fault.RunBusy, "another 'waybill run' carries out this run").With("sessionId", s.String())
	if busy.PID != 0 {
		f.Message += ", " + busy.Error()
		f.With("holderPid", busy.PID)
	}
	return nil, f
}
