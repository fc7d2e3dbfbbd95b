package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Briefs is the catalogue of a store that many share: what lists show of its runs, without reading their sessions
// (docs/design.md#briefs). Only a store that keeps briefs in the commits of sessions implements it; the lists of others
// begin in the index of SessionStates. What it returns is a hint, as that of the index: a run is read before anything
// is appended or signed about it.
type Briefs interface {
	// Briefs returns the sessions of the store, in the order of their ids, with the runs that a query selects. Left out are
	// sessions without commits, and those of which no run is selected, unless they changed.
	Briefs(ctx context.Context, q BriefQuery) ([]BriefSession, error)

	// EachBrief passes what Briefs returns to a function without holding it: first the sessions that changed, without a run, then each
	// run that is selected, in the order of a list, with its session, whose Runs are nil. All is of one state of the store. The
	// function may use the store; its error ends the call, and is returned.
	EachBrief(ctx context.Context, q BriefQuery, visit func(*BriefSession, *manifest.BriefRun) error) error

	// KeepBrief keeps the brief of a session that was read, if the events still end at head and the annotations
	// at b.Notes. It promises no durability, and takes no lock.
	KeepBrief(ctx context.Context, s id.Session, head manifest.Head, b manifest.Brief) error
}

// BriefQuery selects runs: those that meet all members; the zero value selects all.
type BriefQuery struct {
	Run      string   // the beginning of the id
	States   []string // alternatives
	Workflow string
	Branch   string
	SinceMs  int64 // the earliest time of the last event
	Open     bool  // only runs that may wait for a person
	Pending  bool  // only runs of which a performer that asks no person can do something
	// After is where a page continues in the order of a list: the latest event first, by time, then by index, then in the
	// order of ids. The zero value is its beginning.
	After BriefPlace
	Limit int // the most runs, the first ones in that order; 0: all
}

// Selects reports that the query may exclude runs.
func (q BriefQuery) Selects() bool {
	return q.Run != "" || len(q.States) > 0 || q.Workflow != "" || q.Branch != "" || q.SinceMs != 0 || q.Open || q.Pending ||
		q.After != BriefPlace{} || q.Limit > 0
}

// BriefPlace is the place of a run in the order of a list.
type BriefPlace struct {
	LastAtMs, LastIndex int64
	Run                 string
}

// BriefSession is a session with its selected runs.
type BriefSession struct {
	Session id.Session
	Head    manifest.Head // of its events
	// Marked reports a keep mark.
	Marked bool
	// Changed reports that there is no brief of the present logs: every query returns the session, which has to be read. It has no
	// Runs.
	Changed bool
	Runs    []manifest.BriefRun // in the order of their start
}
