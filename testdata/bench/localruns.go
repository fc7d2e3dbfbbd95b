package main

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// localRuns creates and performs runs in this process, with the use cases of the server.
type localRuns struct {
	store     *filestore.Store
	runs      hosting.Runs
	performer *perform.Performer
	d         engine.Definition
	seed      uint64
}

func newLocalRuns(dir string, text []byte) (*localRuns, error) {
	_, w, problems := compile.File("bench.json", source.SourceProject, text)
	if source.HasErrors(problems) {
		return nil, fmt.Errorf("%v", problems)
	}
	s, err := open(dir)
	if err != nil {
		return nil, err
	}
	g := engine.New(s)
	line := func(id.Run, ...string) fault.Command { return fault.Command{"runs", "show"} }
	return &localRuns{store: s, runs: hosting.NewRuns(g, s, s.Performers()),
		d: engine.Definition{Workflow: w, SourceKind: event.SourceProject, SourceRef: "bench.json"},
		performer: &perform.Performer{Engine: g, Logs: s, Person: absent{}, Performers: s.Performers(), Display: perform.NoDisplay{},
			Hosts: host.Perform, By: engine.Caller{Actor: agent}, NowMs: now,
			Pause:        pause,
			OfStore:      func(c fault.Command) fault.Command { return c },
			ContinueLine: line, SubmitLine: line, ApproveLine: line}}, nil
}

func now() int64 { return time.Now().UnixMilli() }

// pause waits for a number of milliseconds, or returns the error of ctx.
func pause(ctx context.Context, ms int64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return nil
	}
}

func (l *localRuns) close() { _ = l.store.Close() }

// run creates a run and performs it to its end.
func (l *localRuns) run() error {
	ctx := context.Background()
	l.seed++
	seed := id.Seed{1, byte(l.seed), byte(l.seed >> 8)}
	created, err := l.runs.Create(ctx, engine.Caller{Actor: agent, AtMs: now()}, seed, hosting.Request{
		Body: openwop.CreateRun{WorkflowID: l.d.Workflow.WorkflowID}, Key: fmt.Sprint(l.seed),
		Definition: func(context.Context, string) (engine.Definition, error) { return l.d, nil },
		Allow:      func(context.Context, engine.Definition) error { return nil }})
	if err != nil {
		return err
	}
	report, err := l.performer.Perform(ctx, created.At.Session, created.At.Run, perform.Options{NoWait: true})
	if err == nil && !perform.After(report, err).Done {
		err = fmt.Errorf("the run has not ended: %+v", report)
	}
	return err
}

// absent is a person who is not present: no other method is called.
type absent struct{ ports.Person }

func (absent) Present() bool    { return false }
func (absent) CanConsent() bool { return false }
