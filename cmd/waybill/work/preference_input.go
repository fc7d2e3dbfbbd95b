package work

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
)

// preferenceInput holds the flags that set preferences: how far a run may continue without a
// person (docs/design.md#preferences).
type preferenceInput struct {
	autonomy string // "" keeps the present one
	risk     string // "" keeps the present one
	preset   string // sets both; "" for none
}

// flags adds the flags of the preferences to a command.
func (in *preferenceInput) flags(cmd *cobra.Command) {
	cli.WithOptions(cmd,
		cli.OptOf(&in.autonomy, "autonomy LEVEL", config.Words(config.Autonomy),
			"autonomy LEVEL from this step on: guided, full_auto_stop_on_user_deps or full_auto_never_stop"),
		cli.OptOf(&in.risk, "risk POLICY", config.Words(config.RiskPolicy),
			"risk POLICY from this step on: conservative, balanced or aggressive"),
		cli.OptOf(&in.preset, "preset LEVEL", config.Words(config.Autonomy),
			"set autonomy and the matching risk policy: LEVEL as for --autonomy"))
}

// changes returns the preferences to set. A preset sets both, so that it excludes the single
// flags; that and an unknown preset are a USAGE_ERROR. Unknown levels and policies are rejected
// by the engine, which lists the valid ones.
func (in *preferenceInput) changes() ([]event.PreferenceChange, error) {
	p := event.Preferences{Autonomy: event.Autonomy(in.autonomy), RiskPolicy: event.RiskPolicy(in.risk)}
	if in.preset != "" {
		if in.autonomy+in.risk != "" {
			return nil, fault.New(fault.UsageError, "--preset cannot be combined with --autonomy or --risk").
				Suggest("Give --preset, or --autonomy and --risk.")
		}
		var ok bool
		if p, ok = event.Preset(event.Autonomy(in.preset)); !ok {
			return nil, fault.New(fault.UsageError, "unknown preset %q", in.preset).
				Suggest("Use guided, full_auto_stop_on_user_deps or full_auto_never_stop.")
		}
	}
	// The order of the changes is fixed, since they are part of the recorded request.
	var out []event.PreferenceChange
	if p.Autonomy != "" {
		out = append(out, event.PreferenceChange{Key: "autonomy", Value: string(p.Autonomy)})
	}
	if p.RiskPolicy != "" {
		out = append(out, event.PreferenceChange{Key: "riskPolicy", Value: string(p.RiskPolicy)})
	}
	return out, nil
}
