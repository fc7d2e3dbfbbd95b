// Package lineage reads in the log of a run what another run that follows from it takes over, beside the fold of the log:
// valid capability observations, and whether every kind of its events is known. It writes nothing. Start reading at
// Lineage.
package lineage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// Lineage folds a log and also keeps what a fold leaves out and a fork needs: its strong capability
// observations with their provenance, and the kinds of events that are not known.
type Lineage struct {
	*runs.Fold
	run      id.Run
	observed []event.Event
	unknown  []string
}

// New returns the lineage of a run of which nothing was read.
func New(run id.Run) *Lineage { return &Lineage{Fold: runs.NewFold(), run: run} }

// Visit implements ports.Visitor.
func (l *Lineage) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if g, foreign := event.Domain.ViewForeign(e); foreign && !e.Ignorable {
			if g.Known == nil && !slices.Contains(l.unknown, e.Data.Kind()) {
				l.unknown = append(l.unknown, e.Data.Kind())
			}
			if g.Known != nil {
				e.Data = g.Known
			}
		}
		if c, ok := e.Data.(event.CapabilityObserved); ok && e.Scope.RunID == l.run &&
			c.Provenance.EnforcementGrade == "strong" {
			l.observed = append(l.observed, e)
		}
	}
	return l.Fold.Visit(seg, head)
}

// unknownShown bounds the kinds that an error names.
const unknownShown = 8

// Known refuses a session with events of kinds that are not known: what they record would be lost
// without a notice.
func (l *Lineage) Known(s id.Session) error {
	if len(l.unknown) == 0 {
		return nil
	}
	slices.Sort(l.unknown)
	names := strings.Join(l.unknown[:min(len(l.unknown), unknownShown)], ", ")
	if more := len(l.unknown) - unknownShown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fault.New(fault.SessionUnhealthy,
		"session %s has events of kinds that this version does not know, so no run can be forked from it: %.512s",
		s, names).
		Suggest("%s reads the run; start the workflow again instead.", fault.Command{"runs", "show", l.run.String()}).
		With("sessionId", s.String()).With("unknownKinds", l.unknown)
}

// Capabilities returns the observations that are valid at a node, one per
// capability, in order of their names: the latest one made at the node, or at
// an ancestor before the path left it (docs/design.md#capabilities). Event
// indexes grow along a path, so the last match is the nearest.
func (l *Lineage) Capabilities(r *runs.Run, n *runs.Node) []event.CapabilityObserved {
	left := map[id.Node]int64{n.ID: l.Next} // the index at which the path left a node
	path := r.Path(n.ID)
	for i, nodeID := range path[1:] {
		left[path[i]] = r.Node(nodeID).CreatedIndex
	}
	latest := map[string]event.CapabilityObserved{}
	for _, e := range l.observed {
		if c := e.Data.(event.CapabilityObserved); e.Index < left[e.Scope.NodeID] {
			latest[c.Capability] = c
		}
	}
	var out []event.CapabilityObserved
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		out = append(out, latest[name])
	}
	return out
}
