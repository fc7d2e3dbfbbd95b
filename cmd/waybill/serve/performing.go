package serve

import (
	"context"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/unattended"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	hoststep "github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/infra/workqueue"
)

// performing has the runs of one store performed that were created over HTTP: what 'waybill run' performs without a
// terminal, under trust that a person recorded, and host steps. It keeps nothing but the ids of open runs.
type performing struct {
	app     *cli.App
	store   *cli.Store
	pool    *unattended.Pool
	queue   *workqueue.Queue[openRun]
	watched watchedRuns
	// test is what the steps of a run have that only a host with test seams performs; nil without them.
	test    func(context.Context, engine.Position) (*hoststep.Test, error)
	asked   func(hoststep.Result) // with test: called for each result
	answers answers
}

// openRun is a run that the server performs.
type openRun struct {
	session id.Session
	run     id.Run
}

// How long a run rests: one that another process holds, or whose store cannot be written, and one that cannot be read.
const (
	retryPause  = time.Second
	unreadPause = 30 * time.Second
)

// newPerforming returns the runs of a store, none of which is performed before queue runs.
func newPerforming(a *cli.App, o *cli.Store, root string) *performing {
	p := &performing{app: a, store: o, pool: unattended.NewPool(a, o, root, root, workers)}
	p.queue = workqueue.New(p.perform)
	return p
}

// add has a run performed, now and whenever its log changes, until it ends.
func (p *performing) add(at engine.Position) {
	r := openRun{at.Session, at.Run}
	p.watched.add(r, func() (stop func()) {
		return p.store.Ports.Watch(func() { p.queue.Add(r) }, session.LogsOf(at.Session)...)
	})
	p.queue.Add(r)
}

// perform performs a run as far as it goes, and returns when it is to be tried again.
func (p *performing) perform(ctx context.Context, r openRun) time.Time {
	if a := p.answers.take(r); a != nil {
		p.performAnswer(ctx, r, a)
		return time.Time{}
	}
	state, err := p.store.PendingOfRun(ctx, r.session, r.run)
	switch {
	case err != nil && ctx.Err() == nil:
		p.note(r, err, "a run cannot be read")
		return time.Now().Add(unreadPause)
	case err != nil:
		return time.Time{}
	case state.Ended:
		p.watched.remove(r)
		return time.Time{}
	case state.Kind == manifest.NothingPending || state.Imported:
		return time.Time{} // a person, an agent or another program is next; the log wakes the run
	case state.AtMs > p.app.NowMs():
		return time.UnixMilli(state.AtMs)
	}
	report, err := p.call(ctx, r, p.pool.Caller(), perform.Options{})
	next := perform.After(report, err)
	switch {
	case ctx.Err() != nil:
		return time.Time{} // the next server continues
	case next.Done:
		p.watched.remove(r)
	case next.Retry:
		p.note(r, err, "a run is tried again")
		return time.Now().Add(retryPause)
	case next.AtMs != 0:
		return time.UnixMilli(next.AtMs)
	}
	if err != nil {
		p.note(r, err, "a run waits")
	}
	return time.Time{}
}

// call performs a run.
func (p *performing) call(ctx context.Context, r openRun, by engine.Caller, o perform.Options) (perform.Report, error) {
	return p.pool.Perform(ctx, r.session, r.run, o, func(to *perform.Performer) error {
		to.By, to.Hosts = by, hoststep.Perform
		return p.performWith(ctx, r, to)
	})
}

// note writes a diagnostic about a run.
func (p *performing) note(r openRun, err error, what string) {
	log := p.app.Log()
	log.Info().Str("run", r.run.String()).Str("code", string(fault.CodeOf(err))).Msg(what)
}
