package runs

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// PreferenceSource is where a preference in force comes from, the nearest first in the order in which
// they take precedence (docs/design.md#preferences).
type PreferenceSource string

// The sources of preferences. PreferenceOfFork was in force at the node that the run was forked from;
// PreferenceOfWorkflow is read from logs of other programs.
const (
	PreferenceOfNode     PreferenceSource = "node"
	PreferenceOfWorkflow PreferenceSource = "workflow"
	PreferenceOfSession  PreferenceSource = "session"
	PreferenceOfFork     PreferenceSource = "fork"
	PreferenceOfStore    PreferenceSource = "store"
	PreferenceByDefault  PreferenceSource = "default"
)

// PreferenceSources are the sources of the preferences at a node.
type PreferenceSources struct {
	Autonomy   PreferenceSource `json:"autonomy"`
	RiskPolicy PreferenceSource `json:"riskPolicy"`
}

// defaultSources are those of a node before any record.
func defaultSources() PreferenceSources {
	return PreferenceSources{PreferenceByDefault, PreferenceByDefault}
}

// setPreferences stores the effective preferences of the record, and where its changes come from.
func (r *Run) setPreferences(n *Node, p event.PreferencesChanged) {
	if n == nil {
		return
	}
	n.Preferences = p.Effective
	for _, c := range p.Delta {
		from := r.sourceOf(n, p, c)
		switch c.Key {
		case "autonomy":
			n.Sources.Autonomy = from
		case "riskPolicy":
			n.Sources.RiskPolicy = from
		}
	}
}

// sourceOf returns the source of a change at a node. What was recorded at the root before any attempt
// belongs to the session: the start and the fork record it.
func (r *Run) sourceOf(n *Node, p event.PreferencesChanged, c event.PreferenceChange) PreferenceSource {
	usual := event.DefaultPreferences()
	isUsual := c.Value == string(usual.Autonomy) || c.Value == string(usual.RiskPolicy)
	switch {
	case p.Source == event.FromRecommendation:
		return PreferenceOfWorkflow
	case n.ID != r.Root || len(n.Attempts) > 0:
		return PreferenceOfNode
	case p.Source == event.FromUser:
		// The first record contains built-in defaults, if the store has no others.
		if isUsual && p.ChangeID == id.FromStart(n.ID).Change(0) {
			return PreferenceByDefault
		}
		return PreferenceOfSession
	case r.Started.ForkedFrom != nil && !r.Started.ForkedFrom.IsReplay():
		return PreferenceOfFork
	case isUsual:
		return PreferenceByDefault
	}
	return PreferenceOfStore
}
