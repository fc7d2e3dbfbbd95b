package serve

import (
	"context"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/infra/workqueue"
)

// replaying has the replays of one store continued until they end. It keeps nothing but the ids of those that have not.
type replaying struct {
	forks hosting.Forks
	note  func(openRun, error, string)
	queue *workqueue.Queue[openRun]
}

// newReplaying returns the replays of a store, none of which is continued before queue runs.
func newReplaying(f hosting.Forks, note func(openRun, error, string)) *replaying {
	r := &replaying{forks: f, note: note}
	r.queue = workqueue.New(r.replay)
	return r
}

// add has a replay continued.
func (r *replaying) add(at engine.Position) { r.queue.Add(openRun{at.Session, at.Run}) }

// replay continues a replay to its end, and returns when it is to be tried again.
func (r *replaying) replay(ctx context.Context, run openRun) time.Time {
	err := r.forks.Continue(ctx, engine.Position{Session: run.session, Run: run.run})
	switch {
	case err == nil || ctx.Err() != nil:
		return time.Time{} // the next server continues
	case fault.Is(err, fault.Invariant), fault.Is(err, fault.ValidationError):
		r.note(run, err, "a replay cannot be continued")
		return time.Time{}
	}
	r.note(run, err, "a replay is tried again")
	return time.Now().Add(retryPause)
}

// ForkRun implements httpserver.Host.
func (h *host) ForkRun(ctx context.Context, by event.Actor, key, run string, in openwop.ForkRun) (out openwop.RunForked,
	replayed bool, err error) {
	seed, err := h.app.Seed()
	if err != nil {
		return out, false, err
	}
	created, err := h.forks.Fork(ctx, h.store.CallerOf(by), seed, hosting.ForkRequest{Source: run, Body: in, Key: key,
		Allow: h.allow, Observations: gitobserver.Observe(h.repository)})
	if err != nil {
		return out, false, err
	}
	if in.Mode == event.Replay {
		h.replaying.add(created.At)
	} else {
		h.performing.add(created.At)
	}
	forked := created.At.Run.String()
	return openwop.RunForked{RunID: forked, SourceRunID: run, FromSeq: in.FromSeq, Mode: in.Mode, Status: openwop.Pending,
		EventsURL: "/v1/runs/" + forked + "/events"}, created.Replayed, nil
}
