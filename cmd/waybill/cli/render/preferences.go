package render

import (
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// Preferences returns the preferences in force, each with where it comes from: "autonomy guided
// (default)".
func Preferences(p event.Preferences, from runs.PreferenceSources) []string {
	return []string{"autonomy " + string(p.Autonomy) + " (" + string(from.Autonomy) + ")",
		"risk policy " + string(p.RiskPolicy) + " (" + string(from.RiskPolicy) + ")"}
}
