// Package retention decides what a cleanup removes from a store (docs/design.md#retention):
// sessions without new events for longer than the retention time, sessions that were in the trash
// for longer than the trash time, and objects to which no log refers.
//
// It is pure: it lists no files and removes nothing. Start reading at Policy and ObjectFilter.
package retention

import (
	"github.com/waybill/waybill/durable/id"
)

// Policy states how long sessions are kept, and the current time.
type Policy struct {
	RetentionDays int64 // of a session without new events; 0: forever
	TrashDays     int64 // of a session in the trash; 0: forever
	EmptyTrash    bool  // the whole trash is removed, regardless of its age
	NowMs         int64 // in Unix milliseconds
}

// Reason is the closed set of reasons for a removal.
type Reason string

// The reasons. They are part of documents: never renamed.
const (
	Expired  Reason = "expired"   // no new events for longer than the retention time
	Unborn   Reason = "unborn"    // a session to which nothing was ever committed
	TrashOld Reason = "trash_old" // in the trash for longer than the trash time
	Asked    Reason = "asked"     // the user requested to empty the trash
	Orphan   Reason = "orphan"    // no log refers to the object
	Erased   Reason = "erased"    // bytes whose tombstone exists
	Leftover Reason = "leftover"  // a temporary file of an interrupted call
)

// Reasons lists all of them, for consumers that describe each.
var Reasons = []Reason{Expired, Unborn, TrashOld, Asked, Orphan, Erased, Leftover}

// Session describes a session outside of the trash.
type Session struct {
	ID       id.Session
	Unborn   bool
	Kept     bool  // the user marked it as kept
	LastAtMs int64 // the latest time stored in its logs, in Unix milliseconds; 0: none
}

// Trashed describes a session in the trash.
type Trashed struct {
	Name string
	AtMs int64 // when it was moved there, in Unix milliseconds; 0: unknown
}

// day is one day in milliseconds.
const day = 24 * 60 * 60 * 1000

// older reports whether atMs is more than days before now. It is false for 0 days, which means
// forever, and for an unknown time: what has no known age is kept.
func (p Policy) older(atMs, days int64) bool {
	return days > 0 && atMs > 0 && p.NowMs-atMs > days*day
}

// Session returns why a session is removed, "" when it stays. The caller moves an expired session
// to the trash, and removes an unborn one permanently.
func (p Policy) Session(s Session) Reason {
	switch {
	case s.Kept:
		return ""
	case s.Unborn:
		return Unborn
	case p.older(s.LastAtMs, p.RetentionDays):
		return Expired
	}
	return ""
}

// Trash returns why a session in the trash is removed, "" when it stays.
func (p Policy) Trash(t Trashed) Reason {
	switch {
	case p.EmptyTrash:
		return Asked
	case p.older(t.AtMs, p.TrashDays):
		return TrashOld
	}
	return ""
}
