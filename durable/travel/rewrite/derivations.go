package rewrite

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// renamedSegment is the state of renaming one segment: the origins of its facts, and how many
// facts of each kind it has had so far.
type renamedSegment struct {
	*Renaming
	origins []originPair
	facts   references // to outputs and gaps
	decided bool       // the segment holds a person's decision

	// Counters of facts by kind; a fact's id is derived from an origin and its number.
	outputs, gaps, changes, traces, contexts, capObs, divergences int
}

// originPair is an origin of facts in the old log, and its counterpart in the new one.
type originPair struct{ old, new id.Origin }

// originsMax bounds the origins that are tried for one segment. One append has one origin;
// segments by other programs may have more, with ids derived in other ways.
const originsMax = 4

// addOrigin adds an origin of the segment's facts.
func (s *renamedSegment) addOrigin(oldID, newID id.Origin) {
	// Origins beyond the bound yield imported ids, which are valid too.
	if len(s.origins) < originsMax {
		s.origins = append(s.origins, originPair{oldID, newID})
	}
}

// deriveIDs repeats the derivations of docs/design.md#ids for one event: the run, nodes and
// attempts that it introduces, and the number of operations recorded at its node.
func (s *renamedSegment) deriveIDs(e event.Event) {
	if !e.Scope.RunID.IsZero() {
		s.run(e.Scope.RunID)
	}
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		s.deriveAttempt(e.Scope.NodeID, p)
	case event.NodeCreated:
		s.deriveNode(e.Scope, p)
	case event.NodeOutputAppended:
		// A decision of a person is the only operation with an attempt id of its own and no event
		// that records it. Each of its outputs counts for the next one.
		if p.Payload.ArtifactKind == approvalKind || p.Decision != nil {
			at := s.nodeEntry(e.Scope.NodeID)
			oldID, newID := s.attempt(e.Scope.NodeID, id.OpApprove, &at.approval)
			if !s.decided {
				s.addOrigin(id.FromAttempt(oldID, id.OpApprove), id.FromAttempt(newID, id.OpApprove))
			}
			s.decided = true
		}
	}
}

// attempt returns the id of a node's next attempt in the old and in the new log, and counts
// it.
func (s *renamedSegment) attempt(at id.Node, op id.Operation, recorded *int32) (oldID, newID id.Attempt) {
	n := int(*recorded)
	*recorded++
	return id.NextAttempt(at, op, n), id.NextAttempt(s.node(at), op, n)
}

// deriveAttempt maps a recorded attempt: to the derived id if the old one was derived, to
// that of its first record if it is a repetition, else to an imported one.
func (s *renamedSegment) deriveAttempt(at id.Node, p event.AdvanceRecorded) {
	oldID, newID := s.attempt(at, id.OpAck, &s.nodeEntry(at).acks)
	// A repeated record of the same attempt.
	if had, ok := s.attempts.get(p.AttemptID); ok {
		newID = had
	} else if oldID != p.AttemptID {
		newID = importedID(s.origin, p.AttemptID)
	}
	s.attempts.set(p.AttemptID, newID)
	s.addOrigin(id.FromAttempt(p.AttemptID, id.OpAck), id.FromAttempt(newID, id.OpAck))
	if to := p.Outcome.ToNodeID; to != nil {
		s.child(*to, at, p.AttemptID, newID, id.OpAck)
	}
}

// child maps a node created by an attempt, if its old id was derived from that attempt.
func (s *renamedSegment) child(old, parent id.Node, oldID, newID id.Attempt, op id.Operation) {
	// id.ChildNode || Already mapped, or not derived: keep or create the entry.
	if s.nodes.get(old) != nil || id.ChildNode(parent, oldID, op) != old {
		s.nodeEntry(old)
		return
	}
	s.nodes.add(old, id.ChildNode(s.node(parent), newID, op))
}

// deriveNode maps a root or checkpoint node. Other nodes were mapped by the attempt before
// them, or have no derivation.
func (s *renamedSegment) deriveNode(at event.Scope, p event.NodeCreated) {
	before := s.nodes.get(at.NodeID) != nil
	switch {
	case p.ParentNodeID == nil:
		if !before && id.RootNode(at.RunID) == at.NodeID {
			s.nodes.add(at.NodeID, id.RootNode(s.run(at.RunID)))
		}
		s.addOrigin(id.FromStart(at.NodeID), id.FromStart(s.node(at.NodeID)))
	// The attempt id of a checkpoint is in no event; it follows from the count.
	case p.NodeKind == event.CheckpointNode && !before:
		parent := *p.ParentNodeID
		oldID, newID := s.attempt(parent, id.OpCheckpoint, &s.nodeEntry(parent).checkpoints)
		s.child(at.NodeID, parent, oldID, newID, id.OpCheckpoint)
		s.addOrigin(id.FromAttempt(oldID, id.OpCheckpoint), id.FromAttempt(newID, id.OpCheckpoint))
	default:
		s.nodeEntry(at.NodeID)
	}
}

// deriveFacts maps the gaps and outputs of the segment before it is rewritten, since evidence
// may refer to later ones.
func (s *renamedSegment) deriveFacts(e event.Event) {
	switch p := e.Data.(type) {
	case event.GapRecorded:
		storeFact(s, s.Renaming.gaps, p.GapID, &s.gaps, id.Origin.Gap)
	case event.NodeOutputAppended:
		storeFact(s, s.Renaming.outputs, p.OutputID, &s.outputs, id.Origin.Output)
	}
}

// storeFact maps one fact unless it is mapped already.
func storeFact[T idType[T]](s *renamedSegment, b idMap[T], old T, count *int, derive func(id.Origin, int) T) {
	newID := factID(s, old, count, derive)
	if _, ok := b.get(old); !ok {
		b.set(old, newID)
	}
}

// factID returns the new id of a fact: derived, if its old id is that of the count-th fact of
// its kind of one of the segment's origins, else imported.
func factID[T idType[T]](s *renamedSegment, old T, count *int, derive func(id.Origin, int) T) T {
	n := *count
	*count++
	// Usually the first origin matches.
	for _, o := range s.origins {
		if derive(o.old, n) == old {
			return derive(o.new, n)
		}
	}
	return importedID(s.origin, old)
}
