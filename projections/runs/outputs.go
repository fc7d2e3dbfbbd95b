package runs

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/command"
)

// ApprovalKind is the artifact kind of a person's approval
// (docs/design.md#requirements-on-the-caller).
const ApprovalKind = "wr.human_approval"

// Output is a current output of a node: one that no later output replaced.
type Output struct {
	ID      id.Output           `json:"outputId"` // zero if another program wrote it
	Index   int64               `json:"index"`    // event index of the record
	Attempt int64               `json:"attempt"`  // number of attempts recorded before it
	Channel event.OutputChannel `json:"channel"`
	Payload event.OutputPayload `json:"payload"`

	foreign  string // the id as stored by another program; not saved, as folds of such logs never are
	handedIn bool   // not saved: only views use it, which read whole logs
}

// HandedIn reports that the output is the result of a command and that no performer recorded it as
// its observation: a caller handed it in, or an older version recorded it, which did not make the
// difference (docs/design.md#commands-and-trust).
func (o Output) HandedIn() bool { return o.handedIn }

// HandedInNote is shown with an output that HandedIn reports.
const HandedInNote = "result handed in, or recorded by an older version"

// addOutput adds an output to the current ones. It replaces the output that it names; a recap
// replaces the node's recap and voids the whole text of earlier notes; an artifact replaces those of
// its kind (without a kind: of its content type) from earlier attempts (docs/design.md#run-status,
// docs/design.md#requirements-on-the-caller, docs/design.md#whole-notes).
func (r *Run) addOutput(n *Node, e event.Event, p event.NodeOutputAppended, g event.ForeignView) {
	if n == nil {
		return
	}
	if p.Payload.ArtifactKind == ApprovalKind {
		n.Approvals++
	}
	_, hadRecap := n.Recap()
	o := Output{p.OutputID, e.Index, int64(len(n.Attempts)), p.OutputChannel, p.Payload, g.ID,
		handedIn(e, p)}
	n.Outputs = slices.DeleteFunc(n.Outputs, func(old Output) bool {
		if p.SupersedesOutputID != nil && old.ID == *p.SupersedesOutputID || g.Refers != "" && old.hasID(g.Refers) {
			return true
		}
		if o.Payload.Voids(old.Payload) {
			return old.Attempt < o.Attempt
		}
		return o.Payload.Replaces(old.Payload) && (o.Channel == event.Recap || old.Attempt < o.Attempt)
	})
	n.Outputs = append(n.Outputs, o)
	if _, has := n.Recap(); hadRecap && !has {
		r.missed = r.missed || r.Evicted // a recap of an ancestor may have been left out
	}
}

// handedIn reports whether an event records the result of a command and no performer wrote it.
func handedIn(e event.Event, p event.NodeOutputAppended) bool {
	return p.Payload.ArtifactKind == command.Kind && e.Actor.Kind != event.Engine
}

// hasID reports whether the output has an id, in the spelling of any program.
func (o Output) hasID(text string) bool { return o.ID.String() == text || o.foreign == text }

// Recap returns the node's current notes, false if it has none.
func (n *Node) Recap() (Output, bool) {
	for _, o := range n.Outputs {
		if o.Channel == event.Recap {
			return o, true
		}
	}
	return Output{}, false
}

// WholeNotes returns the artifact with the whole text of the node's current notes, false if the recap
// holds all of them. It counts only with the recap of its own attempt
// (docs/design.md#whole-notes). In logs of older versions long notes have none.
func (n *Node) WholeNotes() (Output, bool) {
	recap, ok := n.Recap()
	if !ok {
		return Output{}, false
	}
	for _, o := range n.Outputs {
		if o.Channel == event.Artifact && o.Payload.IsFullNotes() && o.Attempt == recap.Attempt {
			return o, true
		}
	}
	return Output{}, false
}

// Artifacts lists the node's current artifacts, oldest first.
func (n *Node) Artifacts() []Output {
	return slices.DeleteFunc(slices.Clone(n.Outputs), func(o Output) bool { return o.Channel != event.Artifact })
}

// RecapOnPath returns the recap of the node n, or else of its nearest ancestor that has one
// (docs/design.md#event-order).
func (r *Run) RecapOnPath(n id.Node) (Output, bool) {
	for node := r.Nodes[n]; node != nil; node = r.above(node) {
		if o, ok := node.Recap(); ok {
			return o, true
		}
	}
	return Output{}, false
}
