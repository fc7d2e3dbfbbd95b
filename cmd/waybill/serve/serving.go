package serve

import (
	"context"
	"encoding/json"
	"os/signal"
	"runtime/debug"
	"sync"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/interrupts"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/httpserver"
	"github.com/waybill/waybill/infra/loopback"
)

// How the server works.
const (
	// workers bounds how many runs are performed at once; runs that wait take none.
	workers = 8
	// garbagePercent is the GC percentage of the server: streams keep little and allocate much.
	garbagePercent = 40
	// memoryAim is how much memory of the runtime, in bytes, the garbage collector works harder to stay below. A thousand
	// streams need less.
	memoryAim = 64 << 20
)

// input holds the flags of serve.
type input struct {
	addr     string
	tenants  []string
	fixtures bool
	seams    bool
}

// serve serves stores until a signal. The runs that were performed then continue when a server is started again.
func serve(ctx context.Context, a *cli.App, in input) error {
	a.SyncStderr() // requests are answered concurrently
	l, err := loopback.Listen(in.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryAim))
	hosts, err := openHosts(ctx, a, in)
	defer closeHosts(hosts)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, cli.StopSignals()...)
	defer stop()
	line, err := json.Marshal(map[string]any{"v": 1, "kind": "serve", "data": map[string]string{"url": "http://" + l.Addr().String()}})
	if err == nil {
		err = a.WriteJSON(append(line, '\n'))
	}
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, h := range hosts {
		running.Go(func() { h.performing.queue.Run(ctx, workers) })
		running.Go(func() { h.replaying.queue.Run(ctx, 1) })
		running.Go(func() { h.resume(ctx) })
		running.Go(func() { h.notices.follow(ctx) })
	}
	server := httpserver.Server{Version: a.Version, Seams: in.seams, Log: requestLog(a), Trace: tracing(a)}
	for _, h := range hosts {
		server.Hosts = append(server.Hosts, h)
	}
	err = server.Serve(ctx, l)
	stop()
	return err
}

// openHosts opens the stores that the flags name: the one of the call, or one for each tenant.
func openHosts(ctx context.Context, a *cli.App, in input) (hosts []*host, err error) {
	root, err := a.TrustRoot()
	if err != nil {
		return nil, err
	}
	tenants := in.tenants
	if len(tenants) == 0 {
		tenants = []string{""}
	}
	seen := map[string]bool{}
	for _, name := range tenants {
		one := &cli.App{Process: a.Process, Flags: a.Flags}
		if name != "" {
			one.Flags.Tenant = name
		}
		h, err := openHost(ctx, one, root, in)
		if err != nil {
			return hosts, err
		}
		if hosts = append(hosts, h); seen[h.store.Ports.Name()] {
			return hosts, fault.New(fault.UsageError, "the store %s is named twice", h.store.Ports.Name())
		}
		seen[h.store.Ports.Name()] = true
	}
	return hosts, nil
}

// openHost opens one store.
func openHost(ctx context.Context, a *cli.App, root string, in input) (*host, error) {
	if name, err := a.StoreName(); err == nil && in.seams && stores.IsURL(name) {
		return nil, fault.New(fault.UsageError, "--test-seams need a store of their own, and %s is one that other machines share", name).
			Suggest("Name a directory that does not exist yet: --store DIR.")
	}
	o, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	h := &host{app: a, store: o, wire: o.Wire, runs: hosting.NewRuns(o.Engine, o.Logs(), o.Performers()),
		proposals: hosting.NewProposals(o.Learning, a.Flags.Workspace), performing: newPerforming(a, o, root),
		notices: &notices{store: o, workspace: a.Flags.Workspace}, workflows: &workflows{app: a, store: o}}
	if _, h.repository, err = a.Workspace(); err != nil {
		return nil, err
	}
	h.interrupts = interrupts.New(o.Engine, o.Wire, h.runs, o.Logs(), o.Performers(), h.performing.answer)
	h.feedback = hosting.NewFeedback(o.Learning, h.wire, h.runs)
	h.served.DebugBundle, h.served.Prompts = true, true
	h.forks = hosting.NewForks(h.runs, h.wire, o.Logs())
	h.replaying = newReplaying(h.forks, h.performing.note)
	h.served.ReplayModes = []string{string(event.Replay), string(event.Branch)}
	h.pausing = hosting.NewPausing(h.runs, h.wire, o.Pauses)
	if in.fixtures {
		h.builtIn, h.workflows.fixtures = discovery.FixturePrompts(), discovery.Fixtures()
	}
	if in.seams {
		if err := h.openSeams(ctx); err != nil {
			o.Close()
			return nil, err
		}
	}
	if in.fixtures {
		if h.served.Fixtures, err = fixtureIDs(ctx, h); err != nil {
			o.Close()
			return nil, err
		}
	}
	return h, nil
}

// closeHosts ends the commands and closes the stores.
func closeHosts(hosts []*host) {
	for _, h := range hosts {
		h.performing.pool.Close()
		h.store.Close()
	}
}

// resume has the runs performed that an earlier server left.
func (h *host) resume(ctx context.Context) {
	log := h.app.Log()
	err := h.runs.Open(ctx, func(at engine.Position, replays bool) {
		if replays {
			h.replaying.add(at)
		} else {
			h.performing.add(at)
		}
	}, func(s id.Session, err error) {
		log.Warn().Str("session", s.String()).Str("code", string(fault.CodeOf(err))).
			Msg("a session cannot be read; its runs are not performed")
	})
	if err != nil && ctx.Err() == nil {
		log.Warn().Str("code", string(fault.CodeOf(err))).Msg("open runs cannot be listed; they are not performed")
	}
}

// tracing measures each request.
func tracing(a *cli.App) func(context.Context) (context.Context, func(method, route string)) {
	return func(ctx context.Context) (context.Context, func(string, string)) {
		ctx, ended := a.Traced(ctx, a.Log())
		return ctx, func(method, route string) { ended(method + " " + route) }
	}
}

// requestLog writes a record for each answered request.
func requestLog(a *cli.App) func(httpserver.Entry) {
	log := a.Log()
	return func(e httpserver.Entry) {
		record := log.Info()
		if e.Status >= 500 {
			record = log.Error()
		}
		record.Str("method", e.Method).Str("route", e.Route).Int("status", e.Status).Int64("bytes", e.Bytes).
			Int64("durationMs", e.Duration.Milliseconds()).Str("key", e.Key).Str("correlationId", e.CorrelationID)
		if e.Err != nil {
			record.Str("code", string(fault.CodeOf(e.Err)))
		}
		record.Msg("request")
	}
}
