// Package upkeep implements the use cases that maintain a store: deletion and
// restoration of sessions, cleanup, erasure, disk usage, keys, and repair.
//
// What may be removed is decided by durable/store/retention. Start reading at
// Upkeep.GC and Upkeep.Repair.
package upkeep

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/ports"
)

// Store is what maintenance requires of a store.
type Store interface {
	engine.Store
	ports.SideLogs
	ports.Trash
	ports.Retention
	ports.Repairs
}

// Upkeep maintains one store. It is safe for concurrent use.
type Upkeep struct {
	e        *engine.Engine
	store    Store
	verifier *verify.Verifier
	ledger   *ledger.Ledger
	settings settings.Settings
	// Index has what lists show of sessions that did not change; nil: every session is read. What is removed from the
	// store is removed from it.
	Index index.Catalogue
}

// forget removes what the index has, before facts are removed that it may contain: it is computed again.
func (u *Upkeep) forget(ctx context.Context) {
	if u.Index != nil {
		u.Index.Forget(ctx)
	}
}

// New returns the maintenance of the store of an engine.
func New(e *engine.Engine, s Store, v *verify.Verifier) *Upkeep {
	return &Upkeep{e: e, store: s, verifier: v, ledger: e.Ledger(), settings: engine.SettingsOf(e)}
}
