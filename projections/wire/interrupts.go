package wire

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	rules "github.com/waybill/waybill/durable/run/interrupt"
)

// Interrupt is what a run is suspended for.
type Interrupt struct {
	rules.Request
	// NodeID is the id of the suspended node for clients, ID that of the interrupt within the run.
	NodeID, ID string
	// At is the node, and Attempts the number of attempts at it so far: the next one answers the request.
	At       id.Node
	Attempts int64
	// Data is what is requested, without secrets, and AtMs when.
	Data canon.Value
	AtMs int64
	// Answers are those that a gate of the host has so far.
	Answers []event.Response
}

// Resolution is an interrupt that is resolved.
type Resolution struct {
	Interrupt
	// Given is the context of the attempt that resolved it, without secrets. Accepted reports that it completed the step.
	Given    canon.Value
	Accepted bool
	// Attempt is the attempt that resolved it.
	Attempt id.Attempt
}

// interrupt describes the open request of the node.
func (n *node) interrupt() Interrupt {
	o := n.open
	return Interrupt{Request: n.rules(o), NodeID: n.id, ID: o.id, At: o.at, Attempts: n.tries, Data: o.data, AtMs: o.atMs,
		Answers: slices.Clone(o.votes)}
}

// Open returns what the run is suspended for, false if it is not suspended.
func (l *Log) Open() (Interrupt, bool) {
	if l.Ended() || l.current == nil || l.current.open == nil {
		return Interrupt{}, false
	}
	return l.current.interrupt(), true
}

// Resolved returns the interrupts of a node that are resolved, the newest first.
func (l *Log) Resolved(nodeID string) []Resolution {
	st, ok := l.states[nodeID]
	if !ok {
		return nil
	}
	out := slices.Clone(st.resolved)
	slices.Reverse(out)
	return out
}

// Requested reports that a node has requested an interrupt, open or not.
func (l *Log) Requested(nodeID string) bool {
	st, ok := l.states[nodeID]
	return ok && st.interrupts > 0
}
