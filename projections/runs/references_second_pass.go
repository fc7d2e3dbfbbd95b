package runs

import (
	"runtime"
	"sync"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
)

// Finish decides by full names, in a second reading, what fingerprints leave open: whether events
// with equal fingerprints have equal dedupeKeys, and whether an event named as the cause of a
// distant edge exists. A log without such cases is read once.

// eventKey is the identity of an event.
type eventKey struct {
	fingerprint uint64 // of the dedupeKey; 0 for a foreign event
	idMatches   bool   // the eventId is derived from the dedupeKey
}

// eventKeys derives the dedupeKeys and ids of events again. Hashing is the largest part of a check,
// so long segments are divided among all processors.
func eventKeys(events []event.Event) []eventKey {
	out := make([]eventKey, len(events))
	derive := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = eventKeyOf(&events[i])
		}
	}
	if len(events) < 1024 {
		derive(0, len(events))
		return out
	}
	each := len(events)/runtime.GOMAXPROCS(0) + 1
	var done sync.WaitGroup
	for from := 0; from < len(events); from += each {
		done.Go(func() { derive(from, min(len(events), from+each)) })
	}
	done.Wait()
	return out
}

// eventKeyOf derives the key of one event and compares the id.
func eventKeyOf(e *event.Event) eventKey {
	if e.Foreign() { // other programs may derive keys differently
		return eventKey{}
	}
	key := e.DedupeKey()
	// Other programs write events of known form with ids of their own derivation, but without
	// actors (docs/design.md#lines-and-files): their ids are not checked.
	return eventKey{fingerprint(key), e.Actor.Kind == "" || e.ID == id.EventOf(e.Owner, key)}
}

// identity records the fingerprint of an event's dedupeKey and checks its id.
func (r *References) identity(e *event.Event, k eventKey) {
	if k.fingerprint == 0 {
		return
	}
	r.keys.add(k.fingerprint)
	if !k.idMatches {
		r.find(e, manifest.EventIDMismatch, "its eventId %s does not follow from its dedupeKey", e.ID)
	}
}

// farCause is an edge whose cause was not found among the preceding events.
type farCause struct {
	cause id.Event
	edge  event.Event
}

// causeLookback is how many events before an edge are searched for its cause. Writers put both into
// one segment.
const causeLookback = 64

// cause searches the events before an edge for its cause, and leaves the edge to Finish if it is
// not found. Only the index of the edge's event is stored.
func (r *References) cause(events []event.Event, i int, cause id.Event) {
	for j := i; j >= max(0, i-causeLookback); j-- {
		if events[j].ID == cause {
			return
		}
	}
	if !r.hasUnknown {
		r.farCauses = append(r.farCauses, farCause{cause,
			event.Event{Index: events[i].Index, Data: event.EdgeCreated{}}})
	}
}

// Finish completes Findings, sorted by event. reread has to read the same log from its beginning
// and pass each segment to the function that visitor returns; a reading that starts over calls
// visitor again. reread is called at most once and only if something is undecided. Finish returns
// its error.
func (r *References) Finish(reread func(visitor func() func(manifest.Segment) error) error) error {
	s := &secondPass{r: r, duplicateKeys: map[uint64]bool{}, causes: map[id.Event]bool{}}
	for _, f := range r.keys.duplicates() {
		s.duplicateKeys[f] = true
	}
	for _, l := range r.farCauses {
		s.causes[l.cause] = true
	}
	r.keys = &fingerprintList{}
	if len(s.duplicateKeys)+len(s.causes) == 0 {
		return nil
	}
	if err := reread(s.restart); err != nil {
		return err
	}
	r.Findings = append(s.findings, r.Findings...)
	for _, l := range r.farCauses {
		if at, found := s.causeAt[l.cause]; !found || at > l.edge.Index {
			r.Findings = append(r.Findings,
				r.finding(&l.edge, manifest.BrokenReference, "its cause %s is not an event of the log", l.cause))
		}
	}
	sorting.Stable(r.Findings, func(a, b manifest.Finding) int { return int(*a.Event - *b.Event) })
	return nil
}

// secondPass compares full names of the undecided events.
type secondPass struct {
	r             *References
	duplicateKeys map[uint64]bool   // fingerprints of dedupeKeys that occurred more than once
	causes        map[id.Event]bool // causes that were not found

	first    map[string]int64   // event index by dedupeKey
	causeAt  map[id.Event]int64 // event index of each cause that was met
	findings []manifest.Finding
}

// restart forgets what was visited and returns the visitor of another reading.
func (s *secondPass) restart() func(manifest.Segment) error {
	s.first, s.causeAt, s.findings = map[string]int64{}, map[id.Event]int64{}, nil
	return s.visit
}

// visit compares the events of one segment.
func (s *secondPass) visit(seg manifest.Segment) error {
	for i := range seg.Events {
		e := &seg.Events[i]
		if e.Index >= s.r.next {
			return nil // appended after the first reading
		}
		if _, found := s.causeAt[e.ID]; s.causes[e.ID] && !found {
			s.causeAt[e.ID] = e.Index
		}
		if e.Foreign() {
			continue
		}
		key := e.DedupeKey()
		if !s.duplicateKeys[fingerprint(key)] {
			continue
		}
		if first, duplicates := s.first[key]; duplicates {
			s.findings = append(s.findings, s.r.finding(e, manifest.DuplicateKey,
				"its dedupeKey is that of event %d", first))
		}
		s.first[key] = e.Index
	}
	return nil
}
