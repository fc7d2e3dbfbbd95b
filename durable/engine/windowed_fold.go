package engine

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// glance reads a session for whoever wants to know only where its runs stand. What lies
// far behind is let go of on the way, so that a session of a million events takes no
// more memory than one of a thousand. The fold is not to be kept.
func (g *Engine) readWindowed(ctx context.Context, s id.Session) (*projections.Fold, manifest.Verdict, error) {
	f := &windowedFold{Fold: projections.NewFold(), nodesMax: foldNodesMax}
	v, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(s)}, f)
	if err == nil && f.Missed() {
		// An event went back to what was let go of: rare, and then all of it is needed.
		full := projections.NewFold()
		v, err = g.read(ctx, s, full)
		return full, v, err
	}
	return f.Fold, v, err
}

// passing is a fold that keeps a window of what it has read.
type windowedFold struct {
	*projections.Fold
	nodesMax int // nodes that it holds before it looks for a window
}

// Reset implements ports.Visitor.
func (p *windowedFold) Reset() { p.Fold, p.nodesMax = projections.NewFold(), foldNodesMax }

// Visit implements ports.Visitor.
func (p *windowedFold) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := p.Fold.Visit(seg, head); err != nil {
		return err
	}
	nodes := 0
	for _, r := range p.Runs {
		nodes += len(r.Order)
	}
	if nodes <= p.nodesMax {
		return nil
	}
	if w, ok := p.Window(projections.WindowNodes); ok {
		p.Session = w
	} else {
		p.nodesMax *= 2 // too much of it is open; asked again when there is twice as much
	}
	return nil
}
