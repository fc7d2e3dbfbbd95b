package runs

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// Gap is an open gap: one that was recorded and that no later record resolves.
type Gap struct {
	ID       id.Gap          `json:"gapId"` // zero if another program wrote it
	Index    int64           `json:"index"` // event index of the record
	Pointer  *reason.Pointer `json:"pointer,omitzero"`
	Reason   reason.Code     `json:"reason"`
	Severity event.Severity  `json:"severity"`
	Summary  string          `json:"summary"`

	foreign string // the id as stored by another program; not saved, as folds of such logs never are
}

// IDText returns the gap's id as it is stored in the log.
func (g Gap) IDText() string { return cmp.Or(g.ID.String(), g.foreign) }

// addGap adds an open gap to its node, or removes the gap that a record resolves. A record that
// resolves a gap is never open itself (docs/design.md#blocked-attempts).
func (r *Run) addGap(n *Node, e event.Event, p event.GapRecorded, g event.ForeignView) {
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
	for _, other := range r.Nodes { // in foreign logs the resolving record may be at another node
		other.OpenGaps = slices.DeleteFunc(other.OpenGaps, resolved)
	}
}

// Matches reports whether the gap has this reason and pointer. A repeated blocked attempt does not
// record such a gap again.
func (g Gap) Matches(code reason.Code, at reason.Pointer) bool {
	return g.Reason == code && g.Pointer != nil && *g.Pointer == at
}

// CriticalOnPath lists the open critical gaps at the nodes from the root to n, never nil. They
// decide between complete and complete_with_gaps for a run that ends at n; gaps of abandoned
// branches do not count (docs/design.md#blocked-attempts).
func (r *Run) CriticalOnPath(n id.Node) []Gap {
	out := []Gap{}
	for _, nodeID := range r.Path(n) {
		out = append(out, r.Nodes[nodeID].critical()...)
	}
	return out
}

// critical lists the open critical gaps of one node.
func (n *Node) critical() []Gap {
	return slices.DeleteFunc(slices.Clone(n.OpenGaps), func(g Gap) bool { return g.Severity != event.Critical })
}
