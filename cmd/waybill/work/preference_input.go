package work

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// preferenceInput is how far a run may continue without a person, as flags say
// it.
type preferenceInput struct {
	autonomy string
	risk     string
	preset   string
}

// flags adds the flags of the preferences to a command.
func (in *preferenceInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.autonomy, "autonomy", "",
		"from this step on: `LEVEL` is guided, full_auto_stop_on_user_deps or full_auto_never_stop")
	f.StringVar(&in.risk, "risk", "", "from this step on: `POLICY` is conservative, balanced or aggressive")
	f.StringVar(&in.preset, "preset", "", "set both as they go together: `LEVEL` as for --autonomy")
}

// changes are the preferences to send. A preset sets both of them, and so it
// excludes the single flags. A level or policy that does not exist is refused
// by the engine, which names all of them.
func (in *preferenceInput) changes() ([]event.PreferenceChange, error) {
	p := event.Preferences{Autonomy: event.Autonomy(in.autonomy), RiskPolicy: event.RiskPolicy(in.risk)}
	if in.preset != "" {
		if in.autonomy+in.risk != "" {
			return nil, fault.New(fault.UsageError, "--preset sets both autonomy and risk").
				Suggest("Give --preset, or --autonomy and --risk.")
		}
		var ok bool
		if p, ok = event.Preset(event.Autonomy(in.preset)); !ok {
			return nil, fault.New(fault.UsageError, "there is no preset %q", in.preset).
				Suggest("Use guided, full_auto_stop_on_user_deps or full_auto_never_stop.")
		}
	}
	var out []event.PreferenceChange
	if p.Autonomy != "" {
		out = append(out, event.PreferenceChange{Key: "autonomy", Value: string(p.Autonomy)})
	}
	if p.RiskPolicy != "" {
		out = append(out, event.PreferenceChange{Key: "riskPolicy", Value: string(p.RiskPolicy)})
	}
	return out, nil
}
