package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// errStopReading ends a reading early. It never leaves the package.
var errStopReading = errors.New("enough")

// prefixVisitor folds a log up to and including the first segment for which
// isLast returns true.
type prefixVisitor struct {
	*runs.Fold
	isLast func(manifest.Segment) bool
}

// Visit implements ports.Visitor.
func (u prefixVisitor) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := u.Fold.Visit(seg, head); err != nil {
		return err
	}
	if u.isLast(seg) {
		return errStopReading
	}
	return nil
}

// foldPrefix folds the log of a session up to and including the first segment
// for which last returns true. Answers to repeated calls are rendered over such
// a prefix. A segment that an earlier reading saw and this one does not is
// INVARIANT.
func (g *Engine) foldPrefix(ctx context.Context, s id.Session, last func(manifest.Segment) bool) (*runs.Fold,
	error) {
	u := prefixVisitor{runs.NewFold(), last}
	_, err := g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)}, u)
	// The visitor stopped at the segment, so the fold ends with it.
	if errors.Is(err, errStopReading) {
		return u.Fold, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Invariant, "session %s does not hold a segment that was read before", s)
}

// confirm makes the log durable up to the fold's head. Every answer that
// acknowledges events calls it before it is returned, unless this call appended
// them (docs/design.md#reading). A session that was moved away since the
// reading is STORE_CONFLICT.
func (g *Engine) confirm(ctx context.Context, s id.Session, f *runs.Fold) error {
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

// attemptPrefix returns the prefix that ends with a recorded attempt. When the
// attempt is the last event, as after a lost answer, the current fold is that
// prefix and nothing is read.
func (g *Engine) attemptPrefix(ctx context.Context, s id.Session, f *runs.Fold, index int64) (*runs.Fold,
	error) {
	if index >= f.Last {
		return f, nil
	}
	return g.foldPrefix(ctx, s, func(seg manifest.Segment) bool { return seg.Last >= index })
}
