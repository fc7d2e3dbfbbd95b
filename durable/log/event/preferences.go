package event

import (
	"fmt"
	"slices"
)

// Autonomy is how far a run goes on without a person (locks section 4).
type Autonomy string

// The autonomy levels, least first.
const (
	Guided                 Autonomy = "guided"
	FullAutoStopOnUserDeps Autonomy = "full_auto_stop_on_user_deps"
	FullAutoNeverStop      Autonomy = "full_auto_never_stop"
)

// RiskPolicy shifts warnings and defaults between correct paths (locks section 4).
type RiskPolicy string

// The risk policies, least first.
const (
	Conservative RiskPolicy = "conservative"
	Balanced     RiskPolicy = "balanced"
	Aggressive   RiskPolicy = "aggressive"
)

// Preferences is the full effective snapshot at a node.
type Preferences struct {
	Autonomy   Autonomy   `json:"autonomy"`
	RiskPolicy RiskPolicy `json:"riskPolicy"`
}

// DefaultPreferences is the guided preset, the global default.
func DefaultPreferences() Preferences { return Preferences{Guided, Conservative} }

// Preset is the pair of preferences that goes with a level of autonomy (locks
// section 4, mode presets): who lets a run go on alone takes no more risk for it.
func Preset(a Autonomy) (Preferences, bool) {
	switch a {
	case Guided, FullAutoNeverStop:
		return Preferences{a, Conservative}, true
	case FullAutoStopOnUserDeps:
		return Preferences{a, Balanced}, true
	}
	return Preferences{}, false
}

// Check refuses values outside the closed sets.
func (p Preferences) Check() error {
	if !slices.Contains([]Autonomy{Guided, FullAutoStopOnUserDeps, FullAutoNeverStop}, p.Autonomy) {
		return fmt.Errorf("unknown autonomy %q", p.Autonomy)
	}
	if !slices.Contains([]RiskPolicy{Conservative, Balanced, Aggressive}, p.RiskPolicy) {
		return fmt.Errorf("unknown riskPolicy %q", p.RiskPolicy)
	}
	return nil
}

// PreferenceChange is one changed key of a delta.
type PreferenceChange struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Apply is p with the change made, or an error for a key or value of no set.
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
