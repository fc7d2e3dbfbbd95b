package rewrite

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// approvalKind is the kind of the artifact whose outputs count as approvals (R20).
const approvalKind = "wr.human_approval"

// Renaming gives the events of one session to another: an import as new. Every id that
// was derived is derived again by the recipe that made it (R3), so that whoever decides
// the new log once more comes to the same bytes. An id that follows no recipe gets one
// that is the import's own. Texts, context and artifacts are nobody's ids and stay.
//
// Segments are handed in in their order, each once. What later ones cannot name (traces,
// changes, context, observations, divergences) is forgotten with its segment.
type Renaming struct {
	from, to id.Session
	origin

	runs     book[id.Run]
	nodes    map[[16]byte]*place
	attempts book[id.Attempt]
	outputs  book[id.Output]
	gaps     book[id.Gap]
	events   book[id.Event]

	runOrder, nodeOrder [][16]byte // old ones, as the log names them first
}

// place is a node's new id, and what is recorded there of each operation.
type place struct {
	is                          [16]byte
	acks, checkpoints, approval int32
}

// hintMax bounds what is set aside for events that a bundle says it has.
const hintMax = 1 << 20

// NewRenaming begins an import as new: of the session from, whose log has that head
// and that many events, into store.
func NewRenaming(from, to id.Session, store id.Store, head canon.Digest, events int64) *Renaming {
	n := int(max(0, min(events, hintMax)))
	return &Renaming{from: from, to: to, origin: origin{store, head},
		runs: book[id.Run]{}, nodes: make(map[[16]byte]*place, n/8), attempts: make(book[id.Attempt], n/8),
		outputs: make(book[id.Output], n/8), gaps: book[id.Gap]{}, events: make(book[id.Event], n)}
}

// Segment is a segment's events for the new session, at the same indices. The events
// that were handed in stay as they are. BUNDLE_UNSUPPORTED_VERSION says that one of them
// is foreign: what it names is not known, so that a session with such keeps its ids.
func (r *Renaming) Segment(events []event.Event) ([]event.Event, error) {
	for _, e := range events {
		if e.Foreign() {
			return nil, fault.New(fault.BundleUnsupportedVersion, "event %d (%s) has a shape that this version does not know, so that its session cannot get other ids", e.Index, e.Data.Kind()).
				Suggest("Import the session under the ids that it has.")
		}
		if e.Owner != r.from.String() {
			return nil, fault.New(fault.Invariant, "event %d is of %s, not of session %s", e.Index, e.Owner, r.from)
		}
	}
	s := &renamedSegment{Renaming: r}
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
	return out, nil
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
	m := Mapping{Session: Pair[id.Session]{r.from, r.to}, Runs: []Pair[id.Run]{}, Nodes: []Pair[id.Node]{}}
	for _, raw := range r.runOrder {
		old := id.Run{}.OfRaw(raw)
		m.Runs = append(m.Runs, Pair[id.Run]{old, r.run(old)})
	}
	for _, raw := range r.nodeOrder {
		m.Nodes = append(m.Nodes, Pair[id.Node]{id.Node{}.OfRaw(raw), id.Node{}.OfRaw(r.nodes[raw].is)})
	}
	return m
}

// Run is what became of a run that the log names; ok is false for any other.
func (r *Renaming) Run(old id.Run) (is id.Run, ok bool) { return r.runs.get(old) }

// Node is what became of a node that the log names; ok is false for any other.
func (r *Renaming) Node(old id.Node) (is id.Node, ok bool) {
	p, ok := r.nodes[old.Raw()]
	if !ok {
		return is, false
	}
	return is.OfRaw(p.is), true
}

// Event is what became of an event of the log, or of a side log's line that was handed
// in; ok is false for any other.
func (r *Renaming) Event(old id.Event) (is id.Event, ok bool) { return r.events.get(old) }

// run is the new id of a run. All have the same recipe: runs are random.
func (r *Renaming) run(old id.Run) id.Run {
	is, ok := r.runs.get(old)
	if !ok {
		is = id.ImportedRun(r.store, r.head.String(), old)
		r.runs.set(old, is)
		r.runOrder = append(r.runOrder, old.Raw())
	}
	return is
}

// place is what is known of a node. One that is named before any recipe made it gets an
// id of the import's own.
func (r *Renaming) place(old id.Node) *place {
	p, ok := r.nodes[old.Raw()]
	if !ok {
		p = r.addNode(old, elsewise(r.origin, old))
	}
	return p
}

func (r *Renaming) addNode(old, is id.Node) *place {
	p := &place{is: is.Raw()}
	r.nodes[old.Raw()] = p
	r.nodeOrder = append(r.nodeOrder, old.Raw())
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
	return elsewise(r.origin, old)
}
