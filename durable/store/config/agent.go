package config

import (
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// CheckAgentAutonomy returns VALIDATION_ERROR for an autonomy above the configured maximum for agents
// (docs/design.md#preferences). An unknown level is accepted here, and refused where preferences
// are applied.
func (c Config) CheckAgentAutonomy(wanted event.Autonomy) error {
	// From least to most.
	levels := []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop}
	most := c.AgentMaxAutonomy()
	if slices.Index(levels, wanted) <= slices.Index(levels, most) {
		return nil
	}
	return fault.New(fault.ValidationError, "autonomy %s is more than an agent may set in this store: the most is %s",
		wanted, most).
		Suggest("Use %s or less. Only the user may allow more, with %s.", most,
			fault.Command{"config", "set", string(AgentMaxAutonomy), string(wanted)}).
		With("wanted", string(wanted)).With("agentMaxAutonomy", string(most))
}
