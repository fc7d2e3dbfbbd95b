package serve

import (
	"context"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/seams"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/perform"
	hoststep "github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/store/httpkeys"
	flow "github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/infra/discovery"
)

// openSeams makes the store of a host a test store, and adds what tests of the protocol need. A store that holds other runs
// is refused.
func (h *host) openSeams(ctx context.Context) error {
	s := seams.New(h.store.Engine, h.store.Logs(), h.runs, h.wire, h.workflows.definition)
	marked := settings.IsTestStore(ctx, h.store.Settings)
	err := s.Refuse(ctx, marked)
	if err == nil && !marked {
		err = h.store.MarkTest(ctx)
	}
	if err != nil {
		return err
	}
	h.test = &s
	h.workflows.fixtures = append(h.workflows.fixtures, discovery.SeamWorkflows()...)
	h.performing.test, h.performing.asked = h.testOf, h.mocks.asked
	h.served.Testing = &capabilities.Testing{MockProviders: []string{hoststep.MockProvider}, TestKeyPrefix: httpkeys.Prefix,
		ForceEngineVersionRange: &capabilities.VersionRange{Min: openwop.EngineVersionMin, Max: openwop.EngineVersionMax}}
	return nil
}

// fixtureIDs are the ids of the fixtures that the host performs, and of the one whose runs it has to refuse: a conversation.
func fixtureIDs(ctx context.Context, h *host) (out []string, err error) {
	for _, id := range discovery.FixtureIDs() {
		e, err := h.workflows.find(ctx, id)
		if err != nil {
			return nil, err
		}
		missing := hoststep.Unsupported(e.Compiled, h.test != nil)
		if len(missing) == 0 || slices.Equal(missing, []string{flow.ConversationCapability}) {
			out = append(out, id)
		}
	}
	return out, nil
}

// testOf is what the steps of a run have that only a host with test seams performs.
func (h *host) testOf(ctx context.Context, at engine.Position) (*hoststep.Test, error) {
	list, err := h.store.Installed(ctx, h.app.Flags.Workspace)
	if err != nil {
		return nil, err
	}
	options, err := h.runs.Options(ctx, at)
	if err != nil {
		return nil, err
	}
	t := &hoststep.Test{Agents: agentsOf(list.Installed), Program: h.mocks.take}
	if t.Prompts, err = promptsOf(ctx, h); err == nil && options != nil {
		t.Mock = options.Configurable.At("/mockProvider/config")
	}
	return t, err
}

// agentsOf returns the manifests of the agents that are installed.
func agentsOf(all cli.Installations) (out []canon.Value) {
	for _, i := range all {
		if i.Slot.Kind == proposal.AgentPack {
			out = slices.Concat(out, installable.Manifests(i.Value))
		}
	}
	return out
}

// performWith has a performer perform the steps of a test too.
func (p *performing) performWith(ctx context.Context, r openRun, to *perform.Performer) error {
	if p.test == nil {
		return nil
	}
	t, err := p.test(ctx, engine.Position{Session: r.session, Run: r.run})
	to.Hosts = func(s hoststep.Step) (hoststep.Result, error) {
		s.Test = t
		r, err := hoststep.Perform(s)
		p.asked(r)
		return r, err
	}
	return err
}

// Emit implements httpserver.Host.
func (h *host) Emit(ctx context.Context, by event.Actor, e openwop.Emission) (openwop.RunEvent, error) {
	seed, err := h.app.Seed()
	if err != nil {
		return openwop.RunEvent{}, err
	}
	return h.test.Emit(ctx, h.store.CallerOf(by), seed, e)
}

// Emitted implements httpserver.Host.
func (h *host) Emitted(ctx context.Context, by event.Actor, run, kind, cause, node string) ([]openwop.RunEvent, error) {
	return h.test.Events(ctx, h.store.CallerOf(by), run, seams.Filter{Type: kind, CausationID: cause, NodeID: node})
}

// Reset implements httpserver.Host.
func (h *host) Reset(ctx context.Context, by event.Actor) (int, error) {
	return h.test.Reset(ctx, h.store.CallerOf(by))
}
