package projections

import (
	"runtime"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// What a fingerprint cannot decide is decided by names, in a second reading: whether
// two events that look alike have one key, and whether an event that is said to be a
// cause stands far in front. A log in which neither is asked is read once.

// eventKey is what makes an event the one that it is.
type eventKey struct {
	fingerprint uint64 // of the dedupeKey; 0 where the event is foreign
	derives     bool   // the eventId follows from it
}

// keysOf derives keys and ids again, which is the most that there is to do for a log:
// of many events side by side.
func keysOf(events []event.Event) []eventKey {
	out := make([]eventKey, len(events))
	parts := runtime.GOMAXPROCS(0)
	if len(events) < 1024 {
		parts = 1
	}
	each := (len(events) + parts - 1) / max(1, parts)
	var done sync.WaitGroup
	for from := 0; from < len(events); from += each {
		to := min(len(events), from+each)
		work := func() {
			for i := from; i < to; i++ {
				out[i] = keyOf(&events[i])
			}
		}
		if parts == 1 {
			work()
		} else {
			done.Go(work)
		}
	}
	done.Wait()
	return out
}

func keyOf(e *event.Event) eventKey {
	if e.Foreign() { // a foreign line's key follows a recipe that is not ours
		return eventKey{}
	}
	key := e.DedupeKey()
	// Other programs write lines that could be ours, with ids by recipes of their own;
	// but no actors (R4).
	return eventKey{fingerprint(key), e.Actor.Kind == "" || e.ID == id.EventOf(e.Owner, key)}
}

func (r *References) identity(e *event.Event, k eventKey) {
	if k.fingerprint == 0 {
		return
	}
	r.keys.add(k.fingerprint)
	if !k.derives {
		r.find(e, manifest.EventIDMismatch, "its eventId %s does not follow from its dedupeKey", e.ID)
	}
}

// lateCause is an edge whose cause was not among the events just before it.
type lateCause struct {
	cause id.Event
	edge  event.Event
}

// causeNear is how far back a cause is looked for: it comes with its edge.
const causeNear = 64

func (r *References) cause(events []event.Event, i int, cause id.Event) {
	for j := i; j >= max(0, i-causeNear); j-- {
		if events[j].ID == cause {
			return
		}
	}
	if !r.unread {
		r.late = append(r.late, lateCause{cause, event.Event{Index: events[i].Index, Data: event.EdgeCreated{}}})
	}
}

// Finish settles what is in doubt. again reads the same log once more and hands it to
// the visitor; it is called only where there is something to settle.
func (r *References) Finish(again func(visit func(manifest.Segment) error, reset func()) error) error {
	s := &secondLook{r: r, suspects: map[uint64]bool{}, causes: map[id.Event]bool{}}
	for _, f := range r.keys.twice() {
		s.suspects[f] = true
	}
	for _, l := range r.late {
		s.causes[l.cause] = true
	}
	r.keys = &tally{}
	if len(s.suspects)+len(s.causes) == 0 {
		return nil
	}
	s.reset()
	if err := again(s.visit, s.reset); err != nil {
		return err
	}
	r.Findings = append(s.found, r.Findings...)
	for _, l := range r.late {
		if at, met := s.met[l.cause]; !met || at > l.edge.Index {
			r.Findings = append(r.Findings,
				r.finding(&l.edge, manifest.BrokenReference, "its cause %s is no event of the log", l.cause))
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b manifest.Finding) int { return int(*a.Event - *b.Event) })
	return nil
}

// secondLook goes by names, but only of what is in doubt.
type secondLook struct {
	r        *References
	suspects map[uint64]bool
	causes   map[id.Event]bool

	first map[string]int64 // event by dedupeKey
	met   map[id.Event]int64
	found []manifest.Finding
}

func (s *secondLook) reset() {
	s.first, s.met, s.found = map[string]int64{}, map[id.Event]int64{}, nil
}

func (s *secondLook) visit(seg manifest.Segment) error {
	for i := range seg.Events {
		e := &seg.Events[i]
		if e.Index >= s.r.next {
			return nil // somebody went on writing
		}
		if _, met := s.met[e.ID]; s.causes[e.ID] && !met {
			s.met[e.ID] = e.Index
		}
		if e.Foreign() {
			continue
		}
		key := e.DedupeKey()
		if !s.suspects[fingerprint(key)] {
			continue
		}
		if first, twice := s.first[key]; twice {
			s.found = append(s.found, s.r.finding(e, manifest.DuplicateKey, "its dedupeKey is that of event %d", first))
		}
		s.first[key] = e.Index
	}
	return nil
}
