// Package retention decides what a store may forget (locks section 2.2): which
// sessions nobody has touched for long, what has lain in the trash long enough, and
// which objects no log names. It is pure, and removes nothing itself.
package retention

import (
	"github.com/waybill/waybill/durable/id"
)

// Policy says for how long things are kept, at one moment.
type Policy struct {
	RetentionDays int64 // a session without anything new; 0: for ever
	TrashDays     int64 // in the trash; 0: for ever
	EmptyTrash    bool  // the trash is emptied whatever its age
	NowMs         int64
}

// Reason is the closed set of why something goes.
type Reason string

// The reasons.
const (
	Expired  Reason = "expired"   // nothing new for longer than sessions are kept
	Unborn   Reason = "unborn"    // a session that nothing was ever committed to
	TrashOld Reason = "trash_old" // longer in the trash than that is kept
	Asked    Reason = "asked"     // the trash is emptied because somebody said so
	Orphan   Reason = "orphan"    // no log names the object
	Erased   Reason = "erased"    // bytes that lie beside their own tombstone
	Leftover Reason = "leftover"  // on its way to a name when a crash came
)

// Reasons lists all of them, for those who have words for each.
var Reasons = []Reason{Expired, Unborn, TrashOld, Asked, Orphan, Erased, Leftover}

// Session is what is known about a session that is no trash.
type Session struct {
	ID       id.Session
	Unborn   bool
	Kept     bool  // a person said so
	LastAtMs int64 // the latest stored time of anything in it; 0: none is stored
}

// Trashed is what is known about a session in the trash.
type Trashed struct {
	Name string
	AtMs int64 // when it was put there
}

// day in milliseconds.
const day = 24 * 60 * 60 * 1000

// older reports that a moment lies more than so many days back; of 0 days, and of a
// moment that is not known, that is never said.
func (p Policy) older(atMs, days int64) bool {
	return days > 0 && atMs > 0 && p.NowMs-atMs > days*day
}

// Session decides about a session: why it goes, or "" when it stays. An expired one
// goes to the trash, an unborn one for good.
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

// Trash decides about a session in the trash.
func (p Policy) Trash(t Trashed) Reason {
	switch {
	case p.EmptyTrash:
		return Asked
	case p.older(t.AtMs, p.TrashDays):
		return TrashOld
	}
	return ""
}
