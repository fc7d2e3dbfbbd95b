package serve

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/interrupts"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/ports"
)

// Resolve implements httpserver.Interrupts.
func (h *host) Resolve(ctx context.Context, by event.Actor, run, nodeID string, in openwop.Resolution) (openwop.Resolved, error) {
	return h.interrupts.Resolve(ctx, h.store.CallerOf(by), run, nodeID, in)
}

// Callback implements httpserver.Interrupts.
func (h *host) Callback(ctx context.Context, run string) (*openwop.Callback, error) {
	return h.interrupts.Callback(ctx, run)
}

// Inspect implements httpserver.Interrupts.
func (h *host) Inspect(ctx context.Context, token string) (openwop.OpenInterrupt, error) {
	return h.interrupts.Inspect(ctx, token)
}

// ResolveToken implements httpserver.Interrupts. Who calls is not known: the token is all there is.
func (h *host) ResolveToken(ctx context.Context, token string, read func() (openwop.Resolution, error)) (openwop.Resolved, error) {
	by := h.store.CallerOf(event.Actor{Kind: event.Agent, Ref: interrupts.CallbackActor})
	return h.interrupts.ResolveToken(ctx, by, token, read)
}

// answers are those that wait for a worker, by run.
type answers struct {
	mu  sync.Mutex
	all map[openRun][]*given
}

// given is an answer that a worker performs.
type given struct {
	by   engine.Caller
	opts perform.Options
	done chan error // has room for the one error
}

// add puts an answer behind the others of its run.
func (a *answers) add(r openRun, g *given) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[openRun][]*given{}
	}
	a.all[r] = append(a.all[r], g)
}

// take returns the first answer of a run, nil for none.
func (a *answers) take(r openRun) *given {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.all[r]
	if len(list) == 0 {
		return nil
	}
	if a.all[r] = list[1:]; len(list) == 1 {
		delete(a.all, r)
	}
	return list[0]
}

// answer has the pending step of a run performed with an answer, by the worker of the run, and returns when the call is over
// or the log of the run has changed: what follows the step is no part of it. It implements interrupts.Perform.
func (p *performing) answer(ctx context.Context, by engine.Caller, at engine.Position, w interrupts.Work) error {
	r := openRun{at.Session, at.Run}
	changed := ports.WaiterOf(p.store.Ports, session.LogsOf(at.Session)...)
	defer changed.Close()
	g := &given{by: by, done: make(chan error, 1), opts: perform.Options{Context: w.Context, Yes: w.Confirmed, Only: true, Answer: w.Answer, Expect: w.Expect}}
	p.answers.add(r, g)
	p.queue.Add(r)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-g.done:
			return err
		case <-changed.Woken():
			if p.moved(ctx, at, w) {
				return nil
			}
		}
	}
}

// moved reports that the attempt of an answer is on record, or another one.
func (p *performing) moved(ctx context.Context, at engine.Position, w interrupts.Work) bool {
	a, err := p.store.Engine.Rehydrate(ctx, at)
	return err == nil && a.AttemptID != w.Expect
}

// performAnswer performs the pending step with an answer. The change of the log wakes the run, if the server performs it.
func (p *performing) performAnswer(ctx context.Context, r openRun, g *given) {
	_, err := p.call(ctx, r, g.by, g.opts)
	if errors.Is(err, perform.ErrStepped) {
		err = nil
	}
	if g.done <- err; err != nil {
		p.note(r, err, "a run with an answer waits")
	}
}
