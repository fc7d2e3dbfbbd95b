package serve

import (
	"context"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/idempotency"
	"github.com/waybill/waybill/durable/engine/interrupts"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/seams"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	hoststep "github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/infra/httpserver"
	projection "github.com/waybill/waybill/projections/wire"
)

// host implements httpserver.Host for one store, which stays open while the server runs.
type host struct {
	app        *cli.App
	store      *cli.Store
	wire       *wire.Wire
	runs       hosting.Runs
	feedback   hosting.Feedback
	proposals  hosting.Proposals
	pausing    hosting.Pausing
	interrupts interrupts.Interrupts
	notices    *notices
	performing *performing
	forks      hosting.Forks
	replaying  *replaying
	workflows  *workflows
	served     capabilities.Options
	builtIn    []promptref.Template // of the fixtures
	test       *seams.Seams         // nil without test seams
	mocks      mocks
	repository string // root of the repository of the working directory, "" outside of one
}

var _ httpserver.Host = (*host)(nil)

// Keys implements httpserver.Host.
func (h *host) Keys(ctx context.Context) ([]httpkeys.Key, error) { return h.store.HTTPKeys(ctx) }

// CreateRun implements httpserver.Host.
func (h *host) CreateRun(ctx context.Context, by event.Actor, key string, in openwop.CreateRun) (out openwop.RunCreated,
	replayed bool, err error) {
	if err := openwop.CheckMockProvider(in, h.test != nil, hoststep.MockProvider); err != nil {
		return out, false, err
	}
	seed, err := h.app.Seed()
	if err != nil {
		return out, false, err
	}
	created, err := h.runs.Create(ctx, h.store.CallerOf(by), seed, hosting.Request{Body: in, Key: key,
		Definition: h.workflows.definition, Allow: h.allow, Observations: gitobserver.Observe(h.repository)})
	if err != nil {
		return out, false, err
	}
	h.performing.add(created.At)
	run := created.At.Run.String()
	return openwop.RunCreated{RunID: run, Status: openwop.Pending, EventsURL: "/v1/runs/" + run + "/events",
		StatusURL: "/v1/runs/" + run}, created.Replayed, nil
}

// allow refuses a workflow whose steps the server would not perform.
func (h *host) allow(ctx context.Context, d engine.Definition) error {
	if types := hoststep.Unsupported(d.Workflow, h.test != nil); len(types) > 0 {
		return fault.New(fault.CapabilityRequired, "the workflow %q has steps that this host does not perform: %s",
			d.Workflow.WorkflowID, strings.Join(types, ", ")).With("requiredCapability", types[0])
	}
	return h.performing.pool.Allow(ctx, d)
}

// Cancel implements httpserver.Host.
func (h *host) Cancel(ctx context.Context, by event.Actor, run, reason string) (openwop.RunState, error) {
	return h.runs.Cancel(ctx, h.store.CallerOf(by), run, reason)
}

// FeedbackProvided implements httpserver.Host.
func (h *host) FeedbackProvided(ctx context.Context) (bool, error) {
	c, err := h.store.Config(ctx)
	return c.Feedback(), err
}

// Discovery implements httpserver.Host.
func (h *host) Discovery(ctx context.Context) (canon.Value, error) {
	c, err := h.store.Config(ctx)
	if err != nil {
		return canon.Value{}, err
	}
	return capabilities.Discovery(c, h.app.Version, h.served)
}

// Annotate implements httpserver.Host. A repeated request is found again by the id of the annotation, which follows from the
// key.
func (h *host) Annotate(ctx context.Context, by event.Actor, key, run string, in canon.Value) (canon.Value, error) {
	if key != "" {
		key = startkey.OfRequest(by.Ref, key)
	}
	seed, err := h.app.Seed()
	if err != nil {
		return canon.Value{}, err
	}
	return h.feedback.Annotate(ctx, h.store.CallerOf(by), seed, key, run, in)
}

// Annotations implements httpserver.Host.
func (h *host) Annotations(ctx context.Context, run string) ([]canon.Value, error) {
	return h.feedback.List(ctx, run)
}

// Snapshot implements httpserver.Host.
func (h *host) Snapshot(ctx context.Context, run string) (openwop.Snapshot, error) {
	at, err := h.runs.Find(ctx, run)
	if err != nil {
		return openwop.Snapshot{}, err
	}
	out, health, err := h.wire.Snapshot(ctx, at.Run.String())
	if err == nil && health != manifest.Healthy {
		err = fault.New(fault.SessionUnhealthy, "the session of the run is %s", health)
	}
	return out, err
}

// Workflow implements httpserver.Host.
func (h *host) Workflow(ctx context.Context, workflowID string) (canon.Value, error) {
	e, err := h.workflows.find(ctx, workflowID)
	if err != nil {
		return canon.Value{}, err
	}
	return projection.Definition(e.Compiled), nil
}

// Replay implements httpserver.Host.
func (h *host) Replay(ctx context.Context, by event.Actor, key, route string, body canon.Digest) (*httpserver.Recorded,
	error) {
	found, err := h.store.Idempotency.Replay(ctx, startkey.OfRequest(by.Ref, key), route, body, h.app.NowMs())
	if err != nil || found == nil {
		return nil, err
	}
	out := httpserver.Recorded(*found)
	return &out, nil
}

// Record implements httpserver.Host.
func (h *host) Record(ctx context.Context, by event.Actor, key, route string, body canon.Digest,
	out httpserver.Recorded) error {
	return h.store.Idempotency.Record(ctx, startkey.OfRequest(by.Ref, key), route, body, idempotency.Recorded(out),
		h.app.NowMs())
}

// ProposalsProvided implements httpserver.Host.
func (h *host) ProposalsProvided(ctx context.Context) (bool, error) {
	c, err := h.store.Config(ctx)
	return c.Proposals(), err
}

// Proposals implements httpserver.Host.
func (h *host) Proposals(ctx context.Context, state, kind string) ([]proposal.Proposal, error) {
	list, err := h.store.Proposals(ctx, learning.ProposalQuery{Workspace: h.app.Flags.Workspace,
		State: proposal.State(state), Kind: proposal.Kind(kind)})
	return list.Proposals, err
}

// Proposal implements httpserver.Host.
func (h *host) Proposal(ctx context.Context, ref string) (proposal.Proposal, error) {
	if err := wholeID(ref); err != nil {
		return proposal.Proposal{}, err
	}
	p, _, err := h.store.Proposal(ctx, h.app.Flags.Workspace, ref)
	return p, err
}

// wholeID refuses a text that is not the whole id of a proposal.
func wholeID(ref string) error {
	if _, err := id.ParseProposal(ref); err != nil {
		return fault.New(fault.ProposalNotFound, "no proposal has this id")
	}
	return nil
}

// Revise implements httpserver.Host.
func (h *host) Revise(ctx context.Context, by event.Actor, ref string, patch canon.Value) (proposal.Proposal, error) {
	if err := wholeID(ref); err != nil {
		return proposal.Proposal{}, err
	}
	return h.proposals.Revise(ctx, h.store.CallerOf(by), ref, patch)
}

// Apply implements httpserver.Host.
func (h *host) Apply(ctx context.Context, by event.Actor, ref string) (proposal.Proposal, *httpserver.PendingGate, error) {
	if err := wholeID(ref); err != nil {
		return proposal.Proposal{}, nil, err
	}
	req := decision(h, ref, "")
	req.Check, req.Replaced = cli.CheckInstallable(ctx, h.app), cli.FindReplaced(h.app)
	out, gate, err := h.proposals.Apply(ctx, h.store.CallerOf(by), learning.ApplyRequest{DecideRequest: req})
	if err != nil || gate == nil {
		return out, nil, err
	}
	return out, &httpserver.PendingGate{Have: gate.Have, Want: gate.Want, Role: gate.Role}, nil
}

// decision is a request of a key about a proposal. A key has no account, and is at no terminal.
func decision(h *host, ref, reason string) learning.DecideRequest {
	return learning.DecideRequest{Ref: ref, Workspace: h.app.Flags.Workspace, Reason: reason}
}

// Reject implements httpserver.Host.
func (h *host) Reject(ctx context.Context, by event.Actor, ref, reason string) (proposal.Proposal, error) {
	if err := wholeID(ref); err != nil {
		return proposal.Proposal{}, err
	}
	out, err := h.store.RejectProposal(ctx, h.store.CallerOf(by), decision(h, ref, reason))
	return out.Proposal, err
}

// Archive implements httpserver.Host.
func (h *host) Archive(ctx context.Context, by event.Actor, ref, reason string) (proposal.Proposal, error) {
	if err := wholeID(ref); err != nil {
		return proposal.Proposal{}, err
	}
	out, err := h.store.ArchiveProposal(ctx, h.store.CallerOf(by), decision(h, ref, reason))
	return out.Proposal, err
}
