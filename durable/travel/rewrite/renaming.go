package rewrite

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// approvalKind is the kind of the artifact whose outputs count as approvals (R20).
const approvalKind = "wr.human_approval"

// Renaming gives the events of one session to another: an import as new. Every id that
// was derived is derived again by the recipe that made it (R3), so that whoever decides
// the new log once more comes to the same bytes. An id that follows no recipe gets one
// that is the import's own. Texts, context and artifacts are nobody's ids and stay.
//
// Segments are shown twice, in their order: all of them to Foresee, which learns what is
// named from elsewhere, and then each once to Segment. What nothing later names is
// forgotten with its segment; nodes and runs are kept, for the mapping.
type Renaming struct {
	from, to id.Session
	origin

	runs     map[[16]byte][16]byte
	runOrder [][16]byte // old ones, as the log names them first
	nodes    places
	attempts book[id.Attempt]
	outputs  book[id.Output]
	gaps     book[id.Gap]
	events   book[id.Event]

	recorded   map[attemptMark]struct{} // while the log is foreseen
	unforeseen error
}

// NewRenaming begins an import as new: of the session from, whose log has that head,
// into store.
func NewRenaming(from, to id.Session, store id.Store, head canon.Digest) *Renaming {
	return &Renaming{from: from, to: to, origin: origin{store, head}, runs: map[[16]byte][16]byte{}, nodes: newPlaces(),
		attempts: newBook[id.Attempt](), outputs: newBook[id.Output](), gaps: newBook[id.Gap](),
		events:   newBook[id.Event](),
		recorded: map[attemptMark]struct{}{}}
}

// Segment is a segment's events for the new session, at the same indices. The events
// that were handed in stay as they are. BUNDLE_UNSUPPORTED_VERSION says that one of them
// is foreign: what it names is not known, so that a session with such keeps its ids.
// INVARIANT_VIOLATION says that one names what was not foreseen.
func (r *Renaming) Segment(events []event.Event) ([]event.Event, error) {
	if err := r.mine(events); err != nil {
		return nil, err
	}
	s := &renamedSegment{Renaming: r}
	s.turn()
	for _, e := range events {
		s.learn(e)
	}
	for _, e := range events {
		s.own(e)
	}
	out := make([]event.Event, len(events))
	for i, e := range events {
		out[i] = s.rename(e)
	}
	for i := range out {
		out[i].Data = s.causes(out[i].Data)
	}
	return out, r.unforeseen
}

// mine refuses events that cannot be renamed here.
func (r *Renaming) mine(events []event.Event) error {
	for _, e := range events {
		if e.Foreign() {
			return fault.New(fault.BundleUnsupportedVersion,
				"event %d (%s) has a shape that this version does not know, so that its session cannot get other ids",
				e.Index, e.Data.Kind()).
				Suggest("Import the session under the ids that it has.")
		}
		if e.Owner != r.from.String() {
			return fault.New(fault.Invariant, "event %d is of %s, not of session %s", e.Index, e.Owner, r.from)
		}
	}
	return nil
}

// turn forgets the segment before, and what only looking ahead was for.
func (r *Renaming) turn() {
	r.recorded = nil
	r.attempts.turn()
	r.outputs.turn()
	r.gaps.turn()
	r.events.turn()
}

// Pair is an old id and the one that stands for it now.
type Pair[T any] struct {
	Was T `json:"was"`
	Is  T `json:"is"`
}

// Mapping is what became of the ids that people and other programs hold.
type Mapping struct {
	Session Pair[id.Session] `json:"session"`
	Runs    []Pair[id.Run]   `json:"runs"`  // as started
	Nodes   []Pair[id.Node]  `json:"nodes"` // as created
}

// Mapping is that of the segments so far.
func (r *Renaming) Mapping() Mapping {
	m := Mapping{Session: Pair[id.Session]{r.from, r.to}, Runs: []Pair[id.Run]{}}
	for _, raw := range r.runOrder {
		old := id.Run{}.OfRaw(raw)
		m.Runs = append(m.Runs, Pair[id.Run]{old, r.run(old)})
	}
	m.Nodes = make([]Pair[id.Node], r.nodes.n)
	for i := range m.Nodes {
		p := r.nodes.at(i)
		m.Nodes[i] = Pair[id.Node]{id.Node{}.OfRaw(p.was), id.Node{}.OfRaw(p.is)}
	}
	return m
}

// Run is what became of a run that the log names; ok is false for any other.
func (r *Renaming) Run(old id.Run) (is id.Run, ok bool) {
	raw, ok := r.runs[old.Raw()]
	if !ok {
		return is, false
	}
	return is.OfRaw(raw), true
}

// Node is what became of a node that the log names; ok is false for any other.
func (r *Renaming) Node(old id.Node) (is id.Node, ok bool) {
	p := r.nodes.get(old)
	if p == nil {
		return is, false
	}
	return is.OfRaw(p.is), true
}

// run is the new id of a run. All have the same recipe: runs are random.
func (r *Renaming) run(old id.Run) id.Run {
	is, ok := r.Run(old)
	if !ok {
		is = id.ImportedRun(r.store, r.head.String(), old)
		r.runs[old.Raw()] = is.Raw()
		r.runOrder = append(r.runOrder, old.Raw())
	}
	return is
}

// place is what is known of a node. One that is named before any recipe made it gets an
// id of the import's own.
func (r *Renaming) place(old id.Node) *place {
	p := r.nodes.get(old)
	if p == nil {
		p = r.nodes.add(old, elsewise(r.origin, old))
	}
	return p
}

func (r *Renaming) node(old id.Node) id.Node { return id.Node{}.OfRaw(r.place(old).is) }

func (r *Renaming) nodeAt(old *id.Node) *id.Node {
	if old == nil {
		return nil
	}
	is := r.node(*old)
	return &is
}

// event is the new id of an event that another names. One that is not there yet, or
// never, is none that verification lets pass; it still must not be the old one.
func (r *Renaming) event(old id.Event) id.Event {
	if is, ok := r.events.get(old); ok {
		return is
	}
	if !r.events.foreseen(old) {
		r.missed(old.String())
	}
	return elsewise(r.origin, old)
}
