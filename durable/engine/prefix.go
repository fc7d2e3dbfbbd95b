package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// errEnough ends a reading that has what it wants.
var errStopReading = errors.New("enough")

// upTo folds a log until a segment that last says is the last one.
type prefixVisitor struct {
	*projections.Fold
	isLast func(manifest.Segment) bool
}

// Visit folds one more segment.
func (u prefixVisitor) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := u.Fold.Visit(seg, head); err != nil {
		return err
	}
	if u.isLast(seg) {
		return errStopReading
	}
	return nil
}

// prefix folds the log of a session up to and with a segment: what a replay is
// answered over. That the segment is not there any more contradicts the log that
// was read before.
func (g *Engine) foldPrefix(ctx context.Context, s id.Session, last func(manifest.Segment) bool) (*projections.Fold,
	error) {
	u := prefixVisitor{projections.NewFold(), last}
	_, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(s)}, u)
	if errors.Is(err, errStopReading) {
		return u.Fold, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Invariant, "session %s does not hold a segment that was read before", s)
}

// confirm makes sure that what an answer acknowledges survives a power cut (R8). A
// session that was read a moment ago may have been moved away since.
func (g *Engine) confirm(ctx context.Context, s id.Session, f *projections.Fold) error {
	log := manifest.SessionEvents(s)
	err := g.Logs.Confirm(ctx, log, f.Head)
	if err == nil {
		g.noteDurable(log, f.Head, false)
	}
	if errors.Is(err, manifest.ErrNotOnChain) {
		g.dropCached(s)
		return fault.Wrap(err, fault.StoreConflict, "session %s was moved away or replaced while it was read", s)
	}
	return err
}

// attemptPrefix is the prefix that a recorded attempt ends. When nothing came after
// it, as when an answer was lost and asked for again, the fold at hand is it.
func (g *Engine) attemptPrefix(ctx context.Context, s id.Session, f *projections.Fold, index int64) (*projections.Fold,
	error) {
	if index >= f.Last {
		return f, nil
	}
	return g.foldPrefix(ctx, s, func(seg manifest.Segment) bool { return seg.Last >= index })
}
