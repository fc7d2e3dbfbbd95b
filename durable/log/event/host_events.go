package event

import (
	"cmp"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

// RunEventRecorded records a run event of the protocol that follows from no other event: what a host step did beside its
// result, or what a test of the protocol sent (docs/design.md#recorded-run-events). It changes nothing of the run: its
// events are ignorable, so that a version which does not know the kind continues the run.
type RunEventRecorded struct {
	// CausationID and NodeID are those of the run event; "": those of a fact of the node.
	CausationID string      `json:"causationId,omitzero"`
	NodeID      string      `json:"nodeId,omitzero"`
	Number      int64       `json:"number"`  // the index of the event: no two are the same
	Payload     canon.Value `json:"payload"` // an object
	Type        string      `json:"type"`
}

// Kind is "run_event_recorded".
func (RunEventRecorded) Kind() string { return "run_event_recorded" }

// DedupeKey allows each event: two may say the same.
func (r RunEventRecorded) DedupeKey(owner string, _ Scope) string {
	return "run_event_recorded:" + owner + ":" + strconv.FormatInt(r.Number, 10)
}

var runEventType = pattern.New(`^[a-z][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)+$`)

// Check returns an error for a type of another form, ids and payloads over their limits, a payload that is no object,
// and a number that is none. Which types there are, and the forms of their payloads, is no part of the
// format.
func (r RunEventRecorded) Check(Scope) error {
	err := cmp.Or(
		errorIf(len(r.Type) > limits.RunEventIDBytesMax || !runEventType.MatchString(r.Type), "type: want two or more segments"),
		within("nodeId of %d bytes", len(r.NodeID), 0, limits.RunEventIDBytesMax),
		within("causationId of %d bytes", len(r.CausationID), 0, limits.RunEventIDBytesMax),
		errorIf(r.Number < 1, "number: want the index of the event"),
		errorIf(r.Payload.Kind() != canon.Object, "payload: want an object"))
	if err != nil {
		return err
	}
	return cmp.Or(within("payload of %d bytes", len(r.Payload.JCS()), 2, limits.RunEventBytesMax),
		r.Payload.CheckStrict(limits.ContextDepthMax))
}

func (RunEventRecorded) ignorable() {}
