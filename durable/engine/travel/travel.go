// Package travel implements the use cases that move sessions between stores:
// export, import from a bundle or from another store, and the comparison of a
// bundle with another history.
//
// It opens no files: bundles are ports. Start reading at Exchange.Export,
// Exchange.Source and Exchange.Import.
package travel

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Store is what export and import require of a store.
type Store interface {
	engine.Store
	ports.ObjectStreams
	ports.Tombstones
	ports.SideLogs
	ports.SessionImporter
	ports.PerformerStatus
	// WithoutChanges is that of ports.Inspector.
	WithoutChanges(ctx context.Context, log manifest.Log, do func() error) error
	// Performers keeps the performers of sessions apart.
	Performers() ports.Performers
}

// Exchange exports sessions of one store and imports bundles into it.
type Exchange struct {
	e      *engine.Engine
	store  Store
	views  *views.Views
	ledger *ledger.Ledger
}

// New returns the exchange of the store of an engine.
func New(e *engine.Engine, s Store, v *views.Views) *Exchange {
	return &Exchange{e: e, store: s, views: v, ledger: e.Ledger()}
}
