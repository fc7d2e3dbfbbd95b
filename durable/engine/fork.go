package engine

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// ForkRequest requests a run that continues from a node of another run.
type ForkRequest struct {
	From ForkPoint
	// Title is that of the new run; "" means the title of the source run.
	Title string
	// Definition replaces the workflow of the source run, if it is not nil. It has the step that is
	// pending at the node, in the same loops.
	Definition   *Definition
	Observations []event.ObservationRecorded
	// Client is what a client of the protocol asks for, nil for any other fork.
	Client *ClientFork
}

// ClientFork is a fork that a client of the protocol asks for (docs/design.md#openwop-forks).
type ClientFork struct {
	// Key is an idempotency key as of Start, "" for none, and RequestDigest that of the request.
	Key           string
	RequestDigest canon.Digest
	// Sequence is that of the first run event that is the fork's own.
	Sequence int64
	// Context is set at the first node; an object, or null. Tags and Options take the place of the source's, if not nil.
	Context canon.Value
	Tags    []string
	Options *event.RunOptions
}

// of returns what the fork copies, with what the client sent.
func (c *ClientFork) of(from advance.Source) (advance.Source, error) {
	if err := advance.CheckContext(c.Context); err != nil {
		return from, err
	}
	from.From.Mode, from.From.Sequence = event.Branch, c.Sequence
	from.Context = event.MergeContext(from.Context, c.Context)
	if c.Tags != nil {
		from.Started.Tags = c.Tags
	}
	if c.Options != nil {
		from.Started.Options = c.Options
	}
	return from, advance.CheckOptions(from.Started.Tags, from.Started.Options)
}

// Definition is a compiled workflow with its source, as a start records it.
type Definition struct {
	Workflow   compile.Compiled
	SourceKind event.SourceKind
	SourceRef  string
}

// Fork creates a session with a run that continues from a node of another run,
// and returns the answer for its first step (docs/design.md#ends-and-branches).
// The source is read and never written; it may be complete or closed at its
// tip. A repeated call with the same seed returns the answer of the first.
//
// Errors: VALIDATION_ERROR if no step is pending at the node, or the definition
// does not fit.
func (e *Engine) Fork(ctx context.Context, by Caller, seed id.Seed, req ForkRequest) (Answer, error) {
	w, source, err := req.From.with(req.Definition)
	if err != nil {
		return Answer{}, err
	}
	mark, err := e.settings.Mark(ctx)
	if err != nil {
		return Answer{}, err
	}
	fork := advance.Fork{Session: id.NewSession(seed), Run: id.NewRun(seed), Title: req.Title,
		Signers: mark, Observations: req.Observations, Actor: by.Actor, AtMs: by.AtMs}
	key := ""
	if c := req.Client; c != nil {
		if source, err = c.of(source); err != nil {
			return Answer{}, err
		}
		fork.RequestDigest = c.RequestDigest
		if key = c.Key; key != "" {
			store, err := e.store.StoreID(ctx, ports.MayCreate)
			if err != nil {
				return Answer{}, err
			}
			fork.Session, fork.Run = id.KeyedSession(store, key), id.KeyedRun(store, key)
		}
	}
	// The budget of the title is that of the text as it was sent.
	if _, _, err := advance.Branch(w, source, fork); err != nil {
		return Answer{}, err
	}
	var found redact.Findings
	fork.Title = advance.StoredText(&found, "/title", req.Title, limits.TitleBytesMax)
	plan, dropped, err := advance.Branch(w, source, fork)
	if err != nil {
		return Answer{}, err
	}
	a, err := e.begin(ctx, Position{Session: fork.Session, Run: fork.Run, Node: id.RootNode(fork.Run)}, plan, key,
		source.Started.WorkflowID)
	a.Warnings = append(a.Warnings, warning.Dropped(dropped)...)
	a.Redactions = found.List()
	return a, err
}

// with returns what a fork copies, with another definition of the workflow if one is given. The
// source run's workflow is recorded then.
func (p ForkPoint) with(d *Definition) (compile.Compiled, advance.Source, error) {
	from := p.from
	if d == nil {
		return p.workflow, from, nil
	}
	state, err := interpreter.Adopt(d.Workflow, from.State, from.Context)
	if err != nil {
		return d.Workflow, from, fault.Wrap(err, fault.ValidationError,
			"the workflow %q does not fit the node %s of run %s: %s", d.Workflow.WorkflowID, from.From.NodeID,
			from.From.RunID, err).
			Suggest("Keep the step that is pending there, in the same loops, or fork at an earlier node; %s lists them.",
				fault.Command{"runs", "show", from.From.RunID.String()})
	}
	from.From.WorkflowHash = p.pinned
	if d.Workflow.Hash() == p.pinned {
		from.From.WorkflowHash = canon.Digest{}
	}
	from.State = state
	from.Started.WorkflowID, from.Started.WorkflowHash = d.Workflow.WorkflowID, d.Workflow.Hash()
	from.Started.WorkflowSourceKind, from.Started.WorkflowSourceRef = d.SourceKind, d.SourceRef
	return d.Workflow, from, nil
}
