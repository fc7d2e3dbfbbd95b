package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
)

// annotationsLog is the side log of a session with its annotations.
func annotationsLog(s id.Session) manifest.Log { return manifest.SessionSide(s, feedback.Table) }

// proposalsLog is the log of a store with its proposals.
func proposalsLog(s id.Store) manifest.Log { return manifest.StoreLog(s, proposal.Table) }

// requireProvided refuses with CAPABILITY_NOT_PROVIDED a family of commands
// that the store's configuration turns off. A configuration that cannot be read
// is an error as well. It returns the configuration.
func (g *Engine) requireProvided(ctx context.Context, family config.Key, on func(config.Config) bool) (config.Config,
	error) {
	c, err := g.config(ctx)
	if err != nil {
		return c, err
	}
	if !on(c) {
		err = fault.New(fault.CapabilityNotProvided, "this store does not provide %s", family).
			Suggest("'waybill config set %s on' turns it on.", family).With("capability", string(family))
	}
	return c, err
}
