// Package runs folds the events of a session into views: nodes and preferred tip of each run, open
// gaps and current outputs (Session, Fold, Run, Node), the timeline of a session (Timeline), and the
// check of references inside a log (References). See docs/design.md#preferred-tip and
// docs/design.md#run-status.
//
// The folds implement ports.Visitor. States that can be saved are equal, after loading, to a fold
// of the whole log.
//
// It reads events and nothing else: no files, no clock, no random ids. It makes no decisions;
// package advance decides on the facts that it returns. Start with Fold in session.go.
package runs

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Session is the fold of the events of one session.
type Session struct {
	ID           string                            `json:"sessionId"`
	Next         int64                             `json:"next"`         // event index of the next event
	LastAtMs     int64                             `json:"lastAtMs"`     // of the last event that is not ignorable
	Observations map[string]event.ObservationValue `json:"observations"` // latest by key
	// Earlier are the values that were observed before those, by key, the oldest first.
	Earlier map[string][]string `json:"earlier,omitzero"`
	Runs    map[id.Run]*Run     `json:"runs"`
	Order   []id.Run            `json:"order"` // in the order of their start
	// HandedOver is the last event, if it hands the session over. HandOvers is how many did.
	HandedOver *event.SessionHandedOver `json:"handedOver,omitzero"`
	HandOvers  int64                    `json:"handOvers,omitzero"`
}

// NewSession returns the fold of an empty log.
func NewSession() *Session {
	return &Session{Observations: map[string]event.ObservationValue{}, Runs: map[id.Run]*Run{}, Order: []id.Run{}}
}

// Apply folds one event. Events have to be applied in the order of the log, each once. Events of
// runs that were never started are skipped; only foreign and damaged logs have such.
func (s *Session) Apply(e event.Event) { s.apply(e, s.Runs[e.Scope.RunID]) }

// apply is Apply for an event of the run r, nil if it was not started.
func (s *Session) apply(e event.Event, r *Run) {
	s.ID, s.Next, s.HandedOver = e.Owner, e.Index+1, nil
	if e.TimestampMs != 0 && !e.Ignorable {
		s.LastAtMs = e.TimestampMs
	}
	// g is the zero value for events that this version can write.
	var g event.ForeignView
	if e.Foreign() {
		e, g = readForeign(e)
	}
	switch p := e.Data.(type) {
	case event.SessionCreated, event.SessionReclaimed:
	case event.SessionHandedOver:
		s.HandedOver, s.HandOvers = &p, s.HandOvers+1
	case event.ObservationRecorded:
		s.observe(p)
	case event.RunStarted:
		if r == nil {
			s.Runs[e.Scope.RunID] = newRun(e.Scope.RunID, e, p)
			s.Order = append(s.Order, e.Scope.RunID)
		}
	default:
		if r != nil {
			r.apply(e, g)
		}
	}
}

// observe makes a value the latest of its key.
func (s *Session) observe(p event.ObservationRecorded) {
	if old, ok := s.Observations[p.Key]; ok {
		if s.Earlier == nil {
			s.Earlier = map[string][]string{}
		}
		s.Earlier[p.Key] = append(s.Earlier[p.Key], old.Value)
	}
	s.Observations[p.Key] = p.Value
}

// Observed returns every value that was observed for a key, the oldest first.
func (s *Session) Observed(key string) []string {
	latest, ok := s.Observations[key]
	if !ok {
		return nil
	}
	return append(slices.Clone(s.Earlier[key]), latest.Value)
}

// Fold is a Session with its position in the log. It implements ports.Visitor: pass it to
// ports.Logs.Read with its Head to bring it up to date.
type Fold struct {
	*Session
	// Head is the head of the log after the last visited segment.
	Head manifest.Head
	// Last is the index of the first event of the last segment. Ahead is the number of segments
	// that were folded since the state was loaded or created.
	Last  int64
	Ahead int
	// Loaded reports that the state was loaded, so that events before its head were not read.
	Loaded bool

	segment []event.Event // not saved
}

// LastSegment returns the events of the last segment, nil if the state was loaded and nothing was folded since.
func (f *Fold) LastSegment() []event.Event { return f.segment }

// NewFold returns the fold of an empty log.
func NewFold() *Fold { return &Fold{Session: NewSession()} }

// Visit implements ports.Visitor: it folds one committed segment. It never returns an error.
func (f *Fold) Visit(seg manifest.Segment, head manifest.Head) error {
	var r *Run // of the event before
	for _, e := range seg.Events {
		if r == nil || r.ID != e.Scope.RunID {
			r = f.Runs[e.Scope.RunID]
		}
		f.apply(e, r)
	}
	if len(seg.Events) > 0 {
		f.Last, f.segment = seg.Events[0].Index, seg.Events
	}
	f.Head = head
	f.Ahead++
	for _, r := range f.Runs {
		r.endSegment()
	}
	return nil
}
