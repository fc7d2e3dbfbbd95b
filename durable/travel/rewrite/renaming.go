package rewrite

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// approvalKind is the artifact kind whose outputs count as approvals
// (docs/design.md#requirements-on-the-caller).
const approvalKind = event.ApprovalKind

// Renaming assigns the events of one session to another, for an import as a new session.
// Every derived id is derived again in the same way (docs/design.md#ids), so that
// re-executing the new log gives the same bytes. An id without a derivation gets one derived
// from the import. Texts, contexts and artifacts are kept: ids in them are content.
//
// Segments are passed twice, in log order: all of them to the first pass, which collects
// references across segments, and then each once to Segment. Ids without such references are dropped
// with their segment; nodes and runs are kept for the mapping.
type Renaming struct {
	from, to id.Session
	origin

	runs     map[[16]byte][16]byte
	runOrder [][16]byte // old ids, in order of appearance
	nodes    nodeTable
	attempts idMap[id.Attempt]
	outputs  idMap[id.Output]
	gaps     idMap[id.Gap]
	events   idMap[id.Event]

	seen        map[attemptMark]struct{} // attempts seen in the first pass; nil afterwards
	uncollected error                    // the first reference that the first pass did not collect

	collecting, renaming texts // what the two passes do with ids in lines of side logs
}

// NewRenaming begins an import as new of the session from, whose log has the given head, as
// the session to in store.
func NewRenaming(from, to id.Session, store id.Store, head canon.Digest) *Renaming {
	r := &Renaming{
		from:     from,
		to:       to,
		origin:   origin{store, head},
		runs:     map[[16]byte][16]byte{},
		nodes:    newNodeTable(),
		attempts: newIDMap[id.Attempt](),
		outputs:  newIDMap[id.Output](),
		gaps:     newIDMap[id.Gap](),
		events:   newIDMap[id.Event](),
		seen:     map[attemptMark]struct{}{},
	}
	r.collecting, r.renaming = r.collectedTexts(), r.renamedTexts()
	return r
}

// Segment returns a segment's events for the new session, at the same indices; the arguments
// are not changed. BUNDLE_UNSUPPORTED_VERSION: an event is foreign, so its references are
// unknown and the session cannot get other ids. INVARIANT_VIOLATION: an event has a reference
// that the first pass did not collect.
func (r *Renaming) Segment(events []event.Event) ([]event.Event, error) {
	if err := r.checkRenamable(events); err != nil {
		return nil, err
	}
	s := &renamedSegment{Renaming: r, facts: references{
		output: func(old id.Output) id.Output { return renamed(r, r.outputs, old) },
		gap:    func(old id.Gap) id.Gap { return renamed(r, r.gaps, old) },
	}}
	s.startSegment()
	for _, e := range events {
		s.deriveIDs(e)
	}
	for _, e := range events {
		s.deriveFacts(e)
	}
	out := make([]event.Event, len(events))
	for i, e := range events {
		out[i] = s.rename(e)
	}
	for i := range out {
		out[i].Data = references{event: r.event}.in(out[i].Data)
	}
	return out, r.uncollected
}

// checkRenamable refuses events that cannot be renamed.
func (r *Renaming) checkRenamable(events []event.Event) error {
	for _, e := range events {
		if e.Foreign() {
			return fault.New(fault.BundleUnsupportedVersion,
				"event %d (%s) has a shape that this version does not know, so that its session cannot get other ids",
				e.Index, e.Data.Kind()).
				Suggest("Import the session with its original ids.")
		}
		if e.Owner != r.from.String() {
			return fault.New(fault.Invariant, "event %d is of %s, not of session %s", e.Index, e.Owner, r.from)
		}
	}
	return nil
}

// startSegment drops the previous segment's ids, and what only the first pass needs.
func (r *Renaming) startSegment() {
	r.seen = nil
	r.attempts.clearSegment()
	r.outputs.clearSegment()
	r.gaps.clearSegment()
	r.events.clearSegment()
}

// Pair is an old id and the new one in its place.
type Pair[T any] struct {
	Old T `json:"was"`
	New T `json:"is"`
}

// Mapping lists the new ids of sessions, runs and nodes, which people and other programs may
// have stored.
type Mapping struct {
	Session Pair[id.Session] `json:"session"`
	Runs    []Pair[id.Run]   `json:"runs"`  // as started
	Nodes   []Pair[id.Node]  `json:"nodes"` // as created
}

// Mapping returns the mapping for the segments so far.
func (r *Renaming) Mapping() Mapping {
	m := Mapping{Session: Pair[id.Session]{r.from, r.to}, Runs: []Pair[id.Run]{}}
	for _, raw := range r.runOrder {
		old := id.Run{}.OfRaw(raw)
		m.Runs = append(m.Runs, Pair[id.Run]{old, r.run(old)})
	}
	m.Nodes = make([]Pair[id.Node], r.nodes.n)
	for i := range m.Nodes {
		p := r.nodes.at(i)
		m.Nodes[i] = Pair[id.Node]{id.Node{}.OfRaw(p.old), id.Node{}.OfRaw(p.new)}
	}
	return m
}

// Run returns the new id of a run in the log; ok is false for others.
func (r *Renaming) Run(old id.Run) (newID id.Run, ok bool) {
	raw, ok := r.runs[old.Raw()]
	if !ok {
		return newID, false
	}
	return newID.OfRaw(raw), true
}

// Node returns the new id of a node in the log; ok is false for others.
func (r *Renaming) Node(old id.Node) (newID id.Node, ok bool) {
	p := r.nodes.get(old)
	if p == nil {
		return newID, false
	}
	return newID.OfRaw(p.new), true
}

// run returns the new id of a run. Run ids are random, so all new ones are derived from the
// import.
func (r *Renaming) run(old id.Run) id.Run {
	newID, ok := r.Run(old)
	if !ok {
		newID = id.ImportedRun(r.store, r.head.String(), old)
		r.runs[old.Raw()] = newID.Raw()
		r.runOrder = append(r.runOrder, old.Raw())
	}
	return newID
}

// nodeEntry returns the entry of a node. A node that is referred to before it was derived
// gets an imported id.
func (r *Renaming) nodeEntry(old id.Node) *nodeEntry {
	p := r.nodes.get(old)
	if p == nil {
		p = r.nodes.add(old, importedID(r.origin, old))
	}
	return p
}

// node returns the new id of a node.
func (r *Renaming) node(old id.Node) id.Node { return id.Node{}.OfRaw(r.nodeEntry(old).new) }

// event returns the new id of a referenced event. Verification refuses references to later or
// missing events; they are replaced all the same, since the old id must not remain.
func (r *Renaming) event(old id.Event) id.Event {
	if newID, ok := r.events.get(old); ok {
		return newID
	}
	if !r.events.retained(old) {
		r.reportUncollected(old.String())
	}
	return importedID(r.origin, old)
}
