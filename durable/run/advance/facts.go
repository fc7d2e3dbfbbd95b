// Package advance decides what an attempt at a step comes to: the events and
// objects that one append commits, or a refusal that records nothing (R15, R16,
// R18). It is a plain function of the pinned workflow, the facts on record about
// one node, and what the caller sent. Projections fill the facts; this package
// does not know them.
package advance

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
)

// Facts is all that a decision may look at besides workflow and request: what is
// on record about the attempted node.
type Facts struct {
	Session     id.Session
	Run         id.Run
	Node        id.Node
	Next        int64 // index of the next event
	State       snapshot.State
	SnapshotRef canon.Digest // of State
	Preferences event.Preferences
	Context     canon.Value // effective at the node
	HasChild    bool        // an acked_step edge leaves the node
	OpenGaps    []OpenGap
	Outputs     []Output // current ones of the node
	// Capabilities are the statuses of strong observations, nearest on the path.
	Capabilities map[string]string
	// Checkpoints and Approvals count what was recorded of them at the node.
	Checkpoints int
	Approvals   int
}

// OpenGap is an open gap of the node.
type OpenGap struct {
	ID       id.Gap
	Reason   reason.Code
	Pointer  *reason.Pointer
	Severity event.Severity
}

// Output is a current output of the node. JSON is the artifact's value, where it
// is one that a step can require.
type Output struct {
	ID      id.Output
	Payload event.OutputPayload
	JSON    canon.Value
}

// Attempt is one try to acknowledge the node's pending step.
type Attempt struct {
	ID      id.Attempt
	Request Request
	// Digest is what a re-drive takes for the digest of the request, since notes that
	// were cut cannot be had back; zero: it is computed.
	Digest canon.Digest
	Actor  event.Actor
	AtMs   int64 // clock reading in milliseconds since 1970
}
