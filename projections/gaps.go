package projections

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// Gap is an open gap: recorded, and resolved by no later record.
type Gap struct {
	ID       id.Gap          `json:"gapId"` // zero where another program made it
	Index    int64           `json:"index"`
	Pointer  *reason.Pointer `json:"pointer,omitzero"`
	Reason   reason.Code     `json:"reason"`
	Severity event.Severity  `json:"severity"`
	Summary  string          `json:"summary"`

	foreign string // the id as another program spelled it; never saved, as nothing of such a log is
}

// IDText is the gap's id as it was spelled by whoever recorded it.
func (g Gap) IDText() string { return cmp.Or(g.ID.String(), g.foreign) }

// addGap opens a gap at its node, or closes the one that a record resolves. A
// resolving record is never open itself (R16).
func (r *Run) addGap(n *Node, e event.Event, p event.GapRecorded, g event.Glimpse) {
	if n == nil {
		return
	}
	if p.Resolution.Kind == event.Unresolved {
		n.OpenGaps = append(n.OpenGaps, Gap{p.GapID, e.Index, p.Pointer, p.Reason, p.Severity, p.Summary, g.ID})
		return
	}
	resolves := g.Refers
	if p.Resolution.ResolvesGapID != nil {
		resolves = p.Resolution.ResolvesGapID.String()
	}
	resolved := func(g Gap) bool { return resolves != "" && g.IDText() == resolves }
	if slices.ContainsFunc(n.OpenGaps, resolved) {
		n.OpenGaps = slices.DeleteFunc(n.OpenGaps, resolved)
		return
	}
	for _, other := range r.Nodes { // a foreign log may resolve from another node
		other.OpenGaps = slices.DeleteFunc(other.OpenGaps, resolved)
	}
}

// Same reports a gap for this reason at this place: a blocked attempt does not
// record it again.
func (g Gap) Same(code reason.Code, at reason.Pointer) bool {
	return g.Reason == code && g.Pointer != nil && *g.Pointer == at
}

// CriticalOnPath lists the open critical gaps from the root to n: what taints a
// run that ends there. Abandoned branches do not (R16).
func (r *Run) CriticalOnPath(n id.Node) []Gap {
	out := []Gap{}
	for _, nodeID := range r.Path(n) {
		out = append(out, r.Nodes[nodeID].critical()...)
	}
	return out
}

func (n *Node) critical() []Gap {
	var out []Gap
	for _, g := range n.OpenGaps {
		if g.Severity == event.Critical {
			out = append(out, g)
		}
	}
	return out
}
