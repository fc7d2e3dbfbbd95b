package runs

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/sorting"
)

// ApprovalKind is the artifact kind of a person's approval
// (docs/design.md#requirements-on-the-caller).
const ApprovalKind = event.ApprovalKind

// Output is a current output of a node: one that no later output replaced.
type Output struct {
	ID      id.Output           `json:"outputId"` // zero if another program wrote it
	Index   int64               `json:"index"`    // event index of the record
	Attempt int64               `json:"attempt"`  // number of attempts recorded before it
	Channel event.OutputChannel `json:"channel"`
	Payload event.OutputPayload `json:"payload"`
	// Decision is what a person's decision about the step says; nil for any other output.
	Decision *event.StepDecision `json:"decision,omitzero"`
	// Replaced is, in Node.Left, the number of the attempt that recorded another output.
	Replaced int64 `json:"replaced,omitzero"`

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
	if p.Payload.ArtifactKind == ApprovalKind || p.Decision != nil {
		n.Approvals++
		n.LastAtMs = max(n.LastAtMs, e.TimestampMs)
	}
	_, hadRecap := n.Recap()
	o := Output{ID: p.OutputID, Index: e.Index, Attempt: int64(len(n.Attempts)), Channel: p.OutputChannel,
		Payload: p.Payload, foreign: g.ID, handedIn: handedIn(e, p)}
	if p.Payload.ArtifactKind == event.DecisionKind {
		o.Decision = p.Decision // that of an approval is beside it
	}
	replaced := func(old Output) bool {
		if p.SupersedesOutputID != nil && old.ID == *p.SupersedesOutputID || g.Refers != "" && old.hasID(g.Refers) {
			return true
		}
		if o.Payload.Voids(old.Payload) {
			return old.Attempt < o.Attempt
		}
		return o.Payload.Replaces(old.Payload) && (o.Channel == event.Recap || old.Attempt < o.Attempt)
	}
	n.Outputs = append(slices.DeleteFunc(n.Outputs, func(old Output) bool {
		gone := replaced(old)
		if gone && n.leftWith(old, o) {
			kept := old
			kept.Replaced = o.Attempt
			n.Left = append(n.Left, kept)
		}
		return gone
	}), o)
	if _, has := n.Recap(); hadRecap && !has {
		r.missed = r.missed || r.Evicted // a recap of an ancestor may have been left out
	}
}

// leftWith reports that an accepted attempt left the node with an output before another one replaced
// it.
func (n *Node) leftWith(old, by Output) bool {
	from, to := max(old.Attempt, 1)-1, min(by.Attempt-1, int64(len(n.Attempts)))
	return from < to && slices.ContainsFunc(n.Attempts[from:to], Attempt.accepted)
}

// Before returns the parent of a node with the outputs that it had when the path to the node left
// it, nil without a parent. What other branches recorded there later is not part of the path
// (docs/design.md#going-back).
func (r *Run) Before(n *Node) *Node {
	if n.Parent == nil || r.find(*n.Parent) == nil {
		return nil
	}
	parent := r.find(*n.Parent)
	at := slices.IndexFunc(parent.Attempts, func(a Attempt) bool {
		return a.Outcome.ToNodeID != nil && *a.Outcome.ToNodeID == n.ID
	})
	if at < 0 {
		return parent
	}
	left, k := *parent, int64(at+1)
	left.Outputs = []Output{}
	for _, o := range slices.Concat(parent.Left, parent.Outputs) {
		if o.Attempt <= k && (o.Replaced == 0 || o.Replaced > k) {
			left.Outputs = append(left.Outputs, o)
		}
	}
	sorting.By(left.Outputs, func(a, b Output) int { return cmp.Compare(a.Index, b.Index) })
	return &left
}

// AtBranch reports that nothing is recorded at the node for a branch that begins there: its last
// attempt was accepted.
func (n *Node) AtBranch() bool {
	return len(n.Attempts) > 0 && n.Attempts[len(n.Attempts)-1].accepted()
}

// OfBranch reports that an output is of the branch that the next attempt at the node begins or
// continues, and not of one that left the node earlier.
func (n *Node) OfBranch(o Output) bool {
	from := min(max(o.Attempt, 1)-1, int64(len(n.Attempts)))
	return !slices.ContainsFunc(n.Attempts[from:], Attempt.accepted)
}

// handedIn reports whether an event records the result of a command, a check or a host step, or the end of a wait,
// and no performer wrote it.
func handedIn(e event.Event, p event.NodeOutputAppended) bool {
	switch p.Payload.ArtifactKind {
	case command.Kind, wait.Kind, check.Kind, host.Kind:
		return e.Actor.Kind != event.Engine
	}
	return false
}

// IsDecision reports an approval or another decision of a person: no output of the step
// (docs/design.md#decisions).
func (o Output) IsDecision() bool {
	return o.Payload.ArtifactKind == ApprovalKind || o.Decision != nil
}

// Performers returns the accounts that handed in the outputs of the step among some; decisions are
// none. Without any output of the step they are those of the refused attempts since the node was last
// left. It is empty where the log records no account (docs/design.md#decisions).
func (n *Node) Performers(outputs []Output) (accounts []string) {
	add := func(account string) {
		if account != "" && !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	empty := true
	for _, o := range outputs {
		if o.IsDecision() || o.Payload.ArtifactKind == check.Kind {
			continue
		}
		empty = false
		if o.Attempt >= 1 && o.Attempt <= int64(len(n.Attempts)) {
			add(n.Attempts[o.Attempt-1].Account)
		}
	}
	for i := len(n.Attempts) - 1; empty && i >= 0 && !n.Attempts[i].accepted(); i-- {
		add(n.Attempts[i].Account)
	}
	return accounts
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
