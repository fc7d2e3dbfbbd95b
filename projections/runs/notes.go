package runs

import (
	"cmp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/sorting"
)

// Note is what is known of the notes of one node: those that no later notes of their branch replaced. Value is what a
// NotesFold was asked to keep of the text.
type Note[T any] struct {
	Run         id.Run
	Node        id.Node
	SnapshotRef canon.Digest // of the node
	Checkpoint  bool         // the node is a checkpoint
	Index       int64        // event index of the record
	// Whole is the artifact with the whole text, zero if the recap holds all of it.
	Whole canon.Digest
	Value T
}

// NotesFold folds events into the notes of all nodes of all runs of a session: on the path to the preferred tip, on
// other branches, and of checkpoints. It keeps a value instead of each text, so that a session of thousands of steps
// can be searched in little memory.
type NotesFold[T any] struct {
	of    func(text string) T
	nodes map[id.Node]*notesOfNode[T]
	// order are the nodes in the order of their creation.
	order []id.Node
}

// notesOfNode is the state of one node.
type notesOfNode[T any] struct {
	about   Note[T] // without Index, Whole and Value
	current *Note[T]
	// left are the notes with which accepted attempts left the node.
	left []Note[T]
	// isLeft reports that an attempt was accepted since the current notes were recorded, theirs included; wasLeft is
	// isLeft before the last attempt, and accepted its outcome.
	isLeft, wasLeft, accepted bool
}

// NewNotesFold returns the fold of an empty log. of is called once for each text as it is recorded.
func NewNotesFold[T any](of func(text string) T) *NotesFold[T] {
	return &NotesFold[T]{of: of, nodes: map[id.Node]*notesOfNode[T]{}}
}

// Visit folds an event. Events have to be visited in the order of the log, each once.
func (f *NotesFold[T]) Visit(e event.Event) {
	e, _ = readForeign(e)
	if p, ok := e.Data.(event.NodeCreated); ok && f.nodes[e.Scope.NodeID] == nil {
		f.nodes[e.Scope.NodeID] = &notesOfNode[T]{about: Note[T]{Run: e.Scope.RunID, Node: e.Scope.NodeID,
			SnapshotRef: p.SnapshotRef, Checkpoint: p.NodeKind == event.CheckpointNode}}
		f.order = append(f.order, e.Scope.NodeID)
		return
	}
	n := f.nodes[e.Scope.NodeID]
	if n == nil {
		return
	}
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		n.accepted = p.Outcome.Kind == event.Advanced
		n.wasLeft = n.isLeft
		n.isLeft = n.isLeft || n.accepted
	case event.NodeOutputAppended:
		switch {
		case p.OutputChannel == event.Recap:
			if n.current != nil && n.wasLeft {
				n.left = append(n.left, *n.current)
			}
			note := n.about
			note.Index, note.Value = e.Index, f.of(p.Payload.NotesMarkdown)
			n.current, n.isLeft = &note, n.accepted
		case p.Payload.IsFullNotes() && n.current != nil:
			n.current.Whole = p.Payload.SHA256
		}
	}
}

// Of returns the notes of a run, those that were recorded last first.
func (f *NotesFold[T]) Of(run id.Run) (out []Note[T]) {
	for _, nodeID := range f.order {
		n := f.nodes[nodeID]
		if n.about.Run != run {
			continue
		}
		out = append(out, n.left...)
		if n.current != nil {
			out = append(out, *n.current)
		}
	}
	sorting.By(out, func(a, b Note[T]) int { return cmp.Compare(b.Index, a.Index) })
	return out
}
