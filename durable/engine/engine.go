// Package engine implements the use cases of one store: starting, advancing, cancelling, forking and showing runs. The
// packages below it have the others. Each use case is a method of Engine that takes a context, the caller, a clock
// reading and, where ids are made, one seed.
//
// The package works over ports only. It never runs a command, opens a file, reads a clock or draws entropy itself, and it
// does not parse command lines or print anything. Decisions are made by plain functions in durable/run/advance; this
// package collects their inputs under a lock and appends the result.
//
// Start reading at Engine.Advance in advance.go. Answer (answer.go) is the document that most run operations return;
// Position (position.go) names where a caller is.
package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Store is what the core requires of a store.
type Store interface {
	session.Source
	ledger.Store
	ports.Controls
}

// Engine implements the use cases that perform a run. It is safe for concurrent
// use.
type Engine struct {
	*Answers
	store    Store
	settings settings.Settings
	starts   startkey.Starts
	checks   Checks // nil: no checks are performed
	// BriefOf returns the brief of a session whose events were folded, with the objects that are appended with the last of them,
	// for a store with a catalogue (ports.Briefs); nil: it has none.
	BriefOf func(context.Context, id.Session, *runs.Fold, []manifest.Object) *manifest.Brief
}

// New returns the engine of a store that has its own settings.
func New(s Store) *Engine {
	l := ledger.New(s)
	return newEngine(s, l, settings.New(s, l))
}

// NewWithSettings returns the engine of a store whose settings are kept elsewhere: those of a store that many machines
// share are kept by each of them (docs/design.md#many-machines).
func NewWithSettings(s Store, own settings.Settings) *Engine { return newEngine(s, ledger.New(s), own) }

// newEngine returns the engine of a store.
func newEngine(s Store, l *ledger.Ledger, own settings.Settings) *Engine {
	return &Engine{Answers: &Answers{Reader: session.NewReader(s), ledger: l}, store: s, settings: own, starts: startkey.New(s, l)}
}

// Ledger returns the audit log of the store.
func (e *Engine) Ledger() *ledger.Ledger { return e.ledger }

// SettingsOf returns the settings of the store of an engine.
func SettingsOf(e *Engine) settings.Settings { return e.settings }

// Starts returns the starts of the store, by their keys.
func (e *Engine) Starts() startkey.Starts { return e.starts }

// Position names a node of a run.
type Position = session.Position

// Last is the reference to the run with the latest activity.
const Last = session.Last

// Caller identifies who makes a call, and when.
type Caller = ledger.Caller

// commit reads a history to its end under the session's lock and appends the plan for it, unless the session is handed
// over. An empty plan appends nothing and leaves appended false: what was requested is recorded already. A fold of another
// history, or one that left out what the plan needs, is replaced and the log read from its beginning.
func (e *Engine) commit(ctx context.Context, h *session.History,
	plan func(manifest.Verdict) (manifest.Plan, error)) (appended bool, err error) {
	inside := func(w ports.Witness, v manifest.Verdict) error {
		if err := e.ledger.RefuseHandedOver(ctx, h.Session, h.Fold); err != nil {
			return err
		}
		planned, err := plan(v)
		if err != nil || len(planned.Events) == 0 {
			return err
		}
		appended = true
		return e.append(ctx, w, h, planned)
	}
	// The gate brings the fold up to the head under the lock before it calls
	// inside.
	err = ports.WithHealthySession(ctx, e.store, e.store, h.Log, h.Fold.Head, h.Visitor(), inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		err = ports.WithHealthySession(ctx, e.store, e.store, h.Log, manifest.Head{}, h.Visitor(), inside)
	}
	return appended, err
}

// append commits a plan under the witness of a lock and applies it to the fold, so that the fold's head equals the log's.
// It also notes the new head as durable and the plan's facts as due for the audit log; Ledger.WritePending writes those
// after the lock is released.
func (e *Engine) append(ctx context.Context, w ports.Witness, h *session.History, plan manifest.Plan) error {
	at, seg := h.Fold.Head, manifest.Segment{Events: plan.Events}
	if e.BriefOf != nil {
		// The brief is of the state after the append. A fold that is ahead of its log is dropped.
		if err := h.Fold.Visit(seg, at); err != nil {
			return err
		}
		plan.Brief = e.BriefOf(ctx, h.Session, h.Fold, plan.Objects)
	}
	head, err := e.store.Append(ctx, w, at, plan)
	if err != nil {
		if e.BriefOf != nil {
			h.Fold = runs.NewFold()
		}
		return err
	}
	e.NoteDurable(plan.Log, head, true)
	e.ledger.Note(plan)
	if e.BriefOf != nil {
		h.Fold.Head = head
		return nil
	}
	return h.Fold.Visit(seg, head)
}
