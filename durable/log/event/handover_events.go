package event

import (
	"cmp"
	"strconv"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// SessionHandedOver states that a session continues elsewhere (docs/design.md#home). It is in force only in the store that
// it names, and only as long as no other event follows it: then the session takes no steps there.
type SessionHandedOver struct {
	FromStoreID id.Store `json:"fromStoreId"`
	// N is 1 for the first hand-over of the session, and counts the later ones.
	N  int64  `json:"n"`
	To string `json:"to,omitzero"` // a name of the caller's choice
}

// Kind is "session_handed_over".
func (SessionHandedOver) Kind() string { return "session_handed_over" }

// DedupeKey allows one event for each hand-over.
func (h SessionHandedOver) DedupeKey(owner string, _ Scope) string {
	return "session_handed_over:" + owner + ":" + strconv.FormatInt(h.N, 10)
}

// Check returns an error for a hand-over without a store or number, and for a name over its limit.
func (h SessionHandedOver) Check(Scope) error {
	return cmp.Or(errorIf(h.FromStoreID.IsZero(), "fromStoreId is missing"), errorIf(h.N < 1, "n is not positive"),
		within("to of %d bytes", len(h.To), 0, limits.ActorRefMax))
}

// SessionReclaimed ends a hand-over in the store that made it.
type SessionReclaimed struct {
	N int64 `json:"n"` // that of the hand-over
}

// Kind is "session_taken_back".
func (SessionReclaimed) Kind() string { return "session_taken_back" }

// DedupeKey allows one event for each hand-over.
func (b SessionReclaimed) DedupeKey(owner string, _ Scope) string {
	return "session_taken_back:" + owner + ":" + strconv.FormatInt(b.N, 10)
}

// Check returns an error for a number that no hand-over has.
func (b SessionReclaimed) Check(Scope) error { return errorIf(b.N < 1, "n is not positive") }
