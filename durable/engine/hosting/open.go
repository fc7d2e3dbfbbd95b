package hosting

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Open calls each for every run of the store that a request created and that has not ended, in no order: a server that
// was killed performs them again, and continues the replays among them. Imported sessions are left out: any program can write a bundle whose first event
// names a key. A run
// whose last event came with a bundle is left out as well, until a person continues it. A session that cannot be read is reported to unread, and does not hide the others.
func (r Runs) Open(ctx context.Context, each func(at engine.Position, replays bool), unread func(id.Session, error)) error {
	all, err := r.e.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		at, replays, ok, err := r.openIn(ctx, s)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			unread(s, err)
		case ok:
			each(at, replays)
		}
	}
	return nil
}

// openIn returns the run of a session that a request created, false for one that has ended and for any other one.
func (r Runs) openIn(ctx context.Context, s id.Session) (at engine.Position, replays, ok bool, err error) {
	fold, v, err := r.e.ReadWindowed(ctx, s)
	if err != nil || v.Health != manifest.Healthy || len(fold.Order) != 1 {
		return at, false, false, err
	}
	run := fold.Runs[fold.Order[0]]
	r.e.NoteHome(run.ID, s)
	if run.Closed != nil || run.Node(run.Tip) == nil {
		return at, false, false, nil
	}
	state, err := r.e.State(ctx, run.Node(run.Tip))
	if err != nil || state.IsComplete() {
		return at, false, false, err
	}
	if mine, err := r.isRequested(ctx, s, run); err != nil || !mine {
		return at, false, false, err
	}
	came, err := r.e.Ledger().ImportedOf(ctx, s)
	replays = run.Started.ForkedFrom.IsReplay()
	return engine.Position{Session: s, Run: run.ID, Node: run.Tip}, replays, !came.Has(0) && !came.Has(run.LastIndex), err
}

// errRead ends a reading after the first segment.
var errRead = errors.New("read")

// isRequested reports that a key of the server started a run.
func (r Runs) isRequested(ctx context.Context, s id.Session, run *runs.Run) (mine bool, err error) {
	_, err = r.logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				if started, ok := e.Data.(event.RunStarted); ok && e.Scope.RunID == run.ID {
					mine = Requested(started, e.Actor)
				}
			}
			return errRead
		}))
	if errors.Is(err, errRead) {
		err = nil
	}
	return mine, err
}
