package rewrite

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// renamedSegment is one segment on its way: where its facts may come from, and how many
// of each kind it had so far.
type renamedSegment struct {
	*Renaming
	origins []twin

	outputs, gaps, changes, traces, contexts, capObs, divergences int
}

// twin is one origin of facts in the old log, and the one in its place.
type twin struct{ was, is id.Origin }

// originsMax is how many origins the facts of one segment are looked for under. One
// append has one; more are of another program's segments, whose ids are made otherwise.
const originsMax = 4

func (s *renamedSegment) from(was, is id.Origin) {
	if len(s.origins) < originsMax {
		s.origins = append(s.origins, twin{was, is})
	}
}

// learn follows the derivations of format.md, section 5: which runs, nodes and attempts
// an event brings, and what counts as recorded at a node from here on.
func (s *renamedSegment) learn(e event.Event) {
	if !e.Scope.RunID.IsZero() {
		s.run(e.Scope.RunID)
	}
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		s.learnAttempt(e.Scope.NodeID, p)
	case event.NodeCreated:
		s.learnNode(e.Scope, p)
	case event.NodeOutputAppended:
		if p.Payload.ArtifactKind == approvalKind {
			at := s.place(e.Scope.NodeID)
			was, is := s.attempt(e.Scope.NodeID, id.OpApprove, &at.approval)
			s.from(id.FromAttempt(was, id.OpApprove), id.FromAttempt(is, id.OpApprove))
		}
	}
}

// attempt is the next attempt of a node, in the old log and in the new, and counts it.
func (s *renamedSegment) attempt(at id.Node, op id.Operation, recorded *int32) (was, is id.Attempt) {
	n := int(*recorded)
	*recorded++
	return id.NextAttempt(at, op, n), id.NextAttempt(s.node(at), op, n)
}

func (s *renamedSegment) learnAttempt(at id.Node, p event.AdvanceRecorded) {
	was, is := s.attempt(at, id.OpAck, &s.place(at).acks)
	if had, ok := s.attempts.get(p.AttemptID); ok {
		is = had
	} else if was != p.AttemptID {
		is = elsewise(s.origin, p.AttemptID)
	}
	s.attempts.set(p.AttemptID, is)
	s.from(id.FromAttempt(p.AttemptID, id.OpAck), id.FromAttempt(is, id.OpAck))
	if to := p.Outcome.ToNodeID; to != nil {
		s.child(*to, at, p.AttemptID, is, id.OpAck)
	}
}

// child gives a node that an attempt creates its new id.
func (s *renamedSegment) child(old, parent id.Node, was, is id.Attempt, op id.Operation) {
	if s.nodes.get(old) != nil || id.ChildNode(parent, was, op) != old {
		s.place(old)
		return
	}
	s.nodes.add(old, id.ChildNode(s.node(parent), is, op))
}

func (s *renamedSegment) learnNode(at event.Scope, p event.NodeCreated) {
	before := s.nodes.get(at.NodeID) != nil
	switch {
	case p.ParentNodeID == nil:
		if !before && id.RootNode(at.RunID) == at.NodeID {
			s.nodes.add(at.NodeID, id.RootNode(s.run(at.RunID)))
		}
		s.from(id.FromStart(at.NodeID), id.FromStart(s.node(at.NodeID)))
	case p.NodeKind == event.CheckpointNode && !before:
		parent := *p.ParentNodeID
		was, is := s.attempt(parent, id.OpCheckpoint, &s.place(parent).checkpoints)
		s.child(at.NodeID, parent, was, is, id.OpCheckpoint)
		s.from(id.FromAttempt(was, id.OpCheckpoint), id.FromAttempt(is, id.OpCheckpoint))
	default:
		s.place(at.NodeID)
	}
}

// own gives gaps and outputs their new ids, those that stand later in the segment too:
// evidence may name them.
func (s *renamedSegment) own(e event.Event) {
	switch p := e.Data.(type) {
	case event.GapRecorded:
		remember(s, s.Renaming.gaps, p.GapID, &s.gaps, id.Origin.Gap)
	case event.NodeOutputAppended:
		remember(s, s.Renaming.outputs, p.OutputID, &s.outputs, id.Origin.Output)
	}
}

func remember[T named[T]](s *renamedSegment, b book[T], old T, count *int, derive func(id.Origin, int) T) {
	is := fact(s, old, count, derive)
	if _, ok := b.get(old); !ok {
		b.set(old, is)
	}
}

// fact is the new id of a fact: the count-th of its kind in the segment, of whichever
// origin has it.
func fact[T named[T]](s *renamedSegment, old T, count *int, derive func(id.Origin, int) T) T {
	n := *count
	*count++
	for _, o := range s.origins {
		if derive(o.was, n) == old {
			return derive(o.is, n)
		}
	}
	return elsewise(s.origin, old)
}
