// Package learning implements the use cases of what is learned from runs:
// annotations and their sums, proposals with their review and activation, what is
// installed, and which automations are due.
//
// It installs nothing outside the store and starts no run.
package learning

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
)

// Store is what learning requires of a store.
type Store interface {
	engine.Store
	ports.Tenancy
	ports.Trash
}

// Learning has the use cases of one store. It is safe for concurrent use.
type Learning struct {
	e        *engine.Engine
	store    Store
	ledger   *ledger.Ledger
	settings settings.Settings
}

// CheckFeedback returns CAPABILITY_NOT_PROVIDED if the configuration turns feedback off. Callers ask before
// they read a request for it: what is not provided is refused before the request is read.
func (l *Learning) CheckFeedback(ctx context.Context) error {
	_, err := l.settings.Provided(ctx, config.Feedback, config.Config.Feedback)
	return err
}

// CheckProposals is CheckFeedback for proposals.
func CheckProposals(ctx context.Context, l *Learning) error {
	_, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals)
	return err
}

// New returns the use cases of the store of an engine.
func New(e *engine.Engine, s Store) *Learning {
	return &Learning{e: e, store: s, ledger: e.Ledger(), settings: engine.SettingsOf(e)}
}
