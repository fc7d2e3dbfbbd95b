package event

import (
	"cmp"
	"fmt"
)

// Autonomy is how far a run continues without a person (docs/design.md#preferences).
type Autonomy string

// The autonomy levels, least first.
const (
	Guided                 Autonomy = "guided"
	FullAutoStopOnUserDeps Autonomy = "full_auto_stop_on_user_deps"
	FullAutoNeverStop      Autonomy = "full_auto_never_stop"
)

// RiskPolicy selects warnings and defaults between paths that are all correct
// (docs/design.md#preferences).
type RiskPolicy string

// The risk policies, least first.
const (
	Conservative RiskPolicy = "conservative"
	Balanced     RiskPolicy = "balanced"
	Aggressive   RiskPolicy = "aggressive"
)

// Preferences is the complete set of effective preferences at a node.
type Preferences struct {
	Autonomy   Autonomy   `json:"autonomy"`
	RiskPolicy RiskPolicy `json:"riskPolicy"`
}

// DefaultPreferences returns the guided preset, with which a run starts unless another is
// requested.
func DefaultPreferences() Preferences { return Preferences{Guided, Conservative} }

var presets = map[Autonomy]Preferences{Guided: {Guided, Conservative},
	FullAutoStopOnUserDeps: {FullAutoStopOnUserDeps, Balanced}, FullAutoNeverStop: {FullAutoNeverStop, Conservative}}

// Preset returns the preferences that belong to a level of autonomy (docs/design.md#preferences);
// ok is false for an unknown level. More autonomy does not imply a more aggressive risk policy.
func Preset(a Autonomy) (Preferences, bool) {
	p, ok := presets[a]
	return p, ok
}

// Check returns an error for values outside of the closed sets.
func (p Preferences) Check() error {
	return cmp.Or(oneOf("autonomy", p.Autonomy, Guided, FullAutoStopOnUserDeps, FullAutoNeverStop),
		oneOf("riskPolicy", p.RiskPolicy, Conservative, Balanced, Aggressive))
}

// PreferenceChange is one changed key of a delta.
type PreferenceChange struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Apply returns p with the change, and an error for an unknown key or value.
func (p Preferences) Apply(c PreferenceChange) (Preferences, error) {
	switch c.Key {
	case "autonomy":
		p.Autonomy = Autonomy(c.Value)
	case "riskPolicy":
		p.RiskPolicy = RiskPolicy(c.Value)
	default:
		return p, fmt.Errorf("unknown preference %q", c.Key)
	}
	return p, p.Check()
}
