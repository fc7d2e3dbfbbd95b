package projections

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// ApprovalKind is the kind of the artifact that records a person's approval (R20).
const ApprovalKind = "wr.human_approval"

// Output is a current output of a node: one that no later output supersedes.
type Output struct {
	ID      id.Output           `json:"outputId"` // zero where another program made it
	Index   int64               `json:"index"`
	Attempt int64               `json:"attempt"` // how many attempts were recorded when it was appended
	Channel event.OutputChannel `json:"channel"`
	Payload event.OutputPayload `json:"payload"`

	foreign string // the id as another program spelled it; never saved, as nothing of such a log is
}

// addOutput makes an output current. It replaces the one it names, a recap
// replaces the node's recap, and an artifact those of its kind (without one: of
// its content type) that earlier attempts brought (locks 2.1; R20).
func (r *Run) addOutput(n *Node, e event.Event, p event.NodeOutputAppended, g event.Glimpse) {
	if n == nil {
		return
	}
	if p.Payload.ArtifactKind == ApprovalKind {
		n.Approvals++
	}
	_, hadRecap := n.Recap()
	o := Output{p.OutputID, e.Index, int64(len(n.Attempts)), p.OutputChannel, p.Payload, g.ID}
	n.Outputs = slices.DeleteFunc(n.Outputs, func(old Output) bool {
		if p.SupersedesOutputID != nil && old.ID == *p.SupersedesOutputID || g.Refers != "" && old.named(g.Refers) {
			return true
		}
		return o.Payload.SameSort(old.Payload) && (o.Channel == event.Recap || old.Attempt < o.Attempt)
	})
	n.Outputs = append(n.Outputs, o)
	if _, has := n.Recap(); hadRecap && !has {
		r.missed = r.missed || r.Evicted // the one before it may have been left out
	}
}

func (o Output) named(text string) bool { return o.ID.String() == text || o.foreign == text }

// Recap is the node's current notes, if it has any.
func (n *Node) Recap() (Output, bool) {
	for _, o := range n.Outputs {
		if o.Channel == event.Recap {
			return o, true
		}
	}
	return Output{}, false
}

// Artifacts lists the node's current artifacts, oldest first.
func (n *Node) Artifacts() []Output {
	var out []Output
	for _, o := range n.Outputs {
		if o.Channel == event.Artifact {
			out = append(out, o)
		}
	}
	return out
}

// RecapOnPath is the nearest recap of a node and its ancestors (R18).
func (r *Run) RecapOnPath(n id.Node) (Output, bool) {
	for node := r.Nodes[n]; node != nil; node = r.above(node) {
		if o, ok := node.Recap(); ok {
			return o, true
		}
	}
	return Output{}, false
}
