// Package enginetest is every part of the engine over one store as one value, as
// the commands have it, for tests.
//
// It adds no behavior to the parts.
package enginetest

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/lines"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/engine/working"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// Store is what all parts together require.
type Store interface {
	engine.Store
	ports.UnknownEntries
	ports.Inspector
	ports.Digests
	ports.ObjectStreams
	ports.Tombstones
	ports.SideLogs
	ports.SessionImporter
	ports.Trash
	ports.Retention
	ports.Repairs
	ports.Tenancy
	ports.PerformerStatus
	Performers() ports.Performers
}

// Engine has the use cases of one store.
type Engine struct {
	*engine.Engine
	*views.Views
	*unattended.Finder
	*lists.Lists
	*verify.Verifier
	*verify.Auditor
	*verify.Replayer
	*travel.Exchange
	*upkeep.Upkeep
	*learning.Learning
	candidates.Offers
	settings.Settings
	Wire   *wire.Wire
	Pauses pausing.Pauses
	Work   *working.Work

	// Store is what the parts use.
	Store Store
}

// Over returns the parts of the engine over a store.
func Over(s Store) *Engine {
	e := engine.New(s)
	here := views.Here{Imported: e.Ledger().ImportedOfLog, Approval: e.PendingApprovalAt, HandedOver: e.Ledger().IsHandedOver}
	v := views.New(e.Reader, s, here)
	finder, listed := unattended.New(e.Reader, s, here), lists.New(e.Reader, s, v)
	listed.FindPending(finder.PendingOf)
	audit := verify.NewAuditor(e.Ledger(), s)
	verifier := verify.New(e.Reader, s, audit)
	return &Engine{Engine: e, Views: v, Finder: finder, Lists: listed, Verifier: verifier, Auditor: audit, Replayer: verify.NewReplayer(e, s),
		Exchange: travel.New(e, s, v), Upkeep: upkeep.New(e, s, verifier), Learning: learning.New(e, s), Offers: candidates.New(e.Answers, s),
		Work:     working.New(listed, finder, s.Performers(), 0),
		Settings: engine.SettingsOf(e), Wire: wire.New(e.Reader, s, wire.About{Version: "test", Tenancy: s}), Pauses: pausing.New(e, s),
		Store: s}
}

// Approve is Decide for an approval of what a node holds, without a comparison to what was shown.
func (e *Engine) Approve(ctx context.Context, by ledger.Caller, at engine.Position, comment string) (engine.Answer, error) {
	return e.Decide(ctx, by, engine.Approvable{Position: at}, event.Approved, comment)
}

// ForkAt is Fork from a node of the same store.
func (e *Engine) ForkAt(ctx context.Context, by ledger.Caller, seed id.Seed, at engine.Position,
	req engine.ForkRequest) (engine.Answer, error) {
	var err error
	if req.From, err = e.ForkPoint(ctx, at); err != nil {
		return engine.Answer{}, err
	}
	return e.Fork(ctx, by, seed, req)
}

// Set sets a key of the configuration as a person does who was shown the change.
func (e *Engine) Set(ctx context.Context, key, text string) error {
	change, err := e.PlanSet(ctx, key, text)
	if err == nil {
		_, err = e.ChangeConfig(ctx, ledger.Caller{Actor: event.Actor{Kind: event.Human, Ref: "ada"}, AtMs: 1}, change)
	}
	return err
}

// InMemory returns the parts of the engine over a store in memory.
func InMemory(s *memstore.Store) *Engine { return Over(memory{s}) }

// Catalogued lets the parts of the engine list by the briefs of their store, as the commands do.
func Catalogued(e *Engine, b ports.Briefs) *index.Shared {
	x := index.NewShared(b)
	e.Lists.KeepIn(x, e.Store)
	e.Lists.FindWaits(inbox.New(e.Reader, e.Store, e.Views, e.Learning).Kept)
	e.Engine.BriefOf = e.Lists.BriefOf
	e.Engine.Index, e.Offers.Index, e.Upkeep.Index, e.Finder.Index = x, x, x, x
	return x
}

// memory is a store in memory as a Store.
type memory struct{ *memstore.Store }

// UnknownEntries implements ports.UnknownEntries.
func (memory) UnknownEntries(context.Context) ([]string, error) { return nil, nil }

// WithoutHeads returns a store whose head caches are neither read nor written.
func WithoutHeads(s Store) Store { return headless{s} }

// headless is a store without head caches.
type headless struct{ Store }

// CachedHead implements ports.HeadCache: nothing is cached.
func (headless) CachedHead(context.Context, manifest.Log, int, int64) ([]byte, error) {
	return nil, nil
}

// StoreHead implements ports.HeadCache: it stores nothing.
func (headless) StoreHead(context.Context, manifest.Log, int, []byte) error { return nil }

// Events returns the events of a run.
func (e *Engine) Events(ctx context.Context, ref string) ([]event.Event, manifest.Verdict, error) {
	return lines.Events(ctx, e.Reader, ref)
}

// Graph returns a run as its graph.
func (e *Engine) Graph(ctx context.Context, ref string) (views.Graph, error) {
	g, err := views.ReadGraph(ctx, e.Views, ref)
	if err != nil {
		return views.Graph{}, err
	}
	out := g.Head()
	_ = g.Nodes(func(n views.GraphNode) error { out.Nodes = append(out.Nodes, n); return nil })
	_ = g.Edges(func(e views.GraphEdge) error { out.Edges = append(out.Edges, e); return nil })
	return out, nil
}
