package runs

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Moment is a run at a head of its session's log.
type Moment struct {
	// SnapshotRef is the snapshot of the preferred tip, which has the step that was pending.
	SnapshotRef canon.Digest
	// Closed reports that the run was closed before it was complete.
	Closed bool
}

// Moments folds a session and records its runs at given heads of the log (docs/design.md#commits). It implements
// ports.Visitor.
type Moments struct {
	fold *Fold
	// at is nil for a head that the log has not had yet.
	at map[canon.Digest]map[id.Run]Moment
}

// NewMoments returns the fold of an empty log that will record its runs at some heads.
func NewMoments(heads []canon.Digest) *Moments {
	m := &Moments{fold: NewFold(), at: map[canon.Digest]map[id.Run]Moment{}}
	for _, h := range heads {
		m.at[h] = nil
	}
	return m
}

// Visit implements ports.Visitor.
func (m *Moments) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := m.fold.Visit(seg, head); err != nil {
		return err
	}
	if _, wanted := m.at[head.Digest]; !wanted {
		return nil
	}
	found := map[id.Run]Moment{}
	for runID, r := range m.fold.Runs {
		// A run that was started has a node, but for damaged and foreign logs.
		if tip := r.Node(r.Tip); tip != nil {
			found[runID] = Moment{tip.SnapshotRef, r.Closed != nil}
		}
	}
	m.at[head.Digest] = found
	return nil
}

// At returns a run at a head. known is false if the log does not contain the head, ok if the log up to it has no such run.
func (m *Moments) At(head canon.Digest, run id.Run) (at Moment, known, ok bool) {
	found := m.at[head]
	at, ok = found[run]
	return at, found != nil, ok
}
