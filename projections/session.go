// Package projections folds a log into views: which nodes a run has, where its
// preferred tip is, what is open, what is current (locks section 2.1; R16 to R20).
//
// Every projection is a fold: its state can be saved and taken up again, and a
// saved one equals a fresh one. Projections read nothing but events and decide
// nothing; they fill the facts that package advance decides on.
package projections

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Session is the fold of one session's events.
type Session struct {
	ID           string                            `json:"sessionId"`
	Next         int64                             `json:"next"`         // index of the next event
	LastAtMs     int64                             `json:"lastAtMs"`     // stored time of the last event that has one
	Observations map[string]event.ObservationValue `json:"observations"` // latest by key
	Runs         map[id.Run]*Run                   `json:"runs"`
	Order        []id.Run                          `json:"order"` // as started
}

// NewSession is the fold of an empty log.
func NewSession() *Session {
	return &Session{Observations: map[string]event.ObservationValue{}, Runs: map[id.Run]*Run{}, Order: []id.Run{}}
}

// Apply folds one event. Events of runs that were never started, which only a
// foreign or damaged log has, are passed over.
func (s *Session) Apply(e event.Event) {
	s.ID, s.Next = e.Owner, e.Index+1
	if e.TimestampMs != 0 {
		s.LastAtMs = e.TimestampMs
	}
	e, g := sighted(e)
	switch p := e.Data.(type) {
	case event.SessionCreated:
		return
	case event.ObservationRecorded:
		s.Observations[p.Key] = p.Value
		return
	case event.RunStarted:
		if s.Runs[e.Scope.RunID] == nil {
			s.Runs[e.Scope.RunID] = newRun(e.Scope.RunID, e, p)
			s.Order = append(s.Order, e.Scope.RunID)
		}
		return
	}
	if r := s.Runs[e.Scope.RunID]; r != nil {
		r.apply(e, g)
	}
}

// Fold is a Session that is kept up with a log: the visitor of a reading.
type Fold struct {
	*Session
	Head manifest.Head
	// Last is the index of the first event of the last segment, and Ahead how many
	// segments were folded since the state was saved or begun.
	Last  int64
	Ahead int
	// Loaded: the state was saved and taken up again, and what is before its head was
	// not read.
	Loaded bool
}

// NewFold starts from an empty log.
func NewFold() *Fold { return &Fold{Session: NewSession()} }

// Reset starts over.
func (f *Fold) Reset() { *f = *NewFold() }

// Visit folds one committed segment.
func (f *Fold) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		f.Apply(e)
	}
	if len(seg.Events) > 0 {
		f.Last = seg.Events[0].Index
	}
	f.Head = head
	f.Ahead++
	for _, r := range f.Runs {
		r.endSegment()
	}
	return nil
}
