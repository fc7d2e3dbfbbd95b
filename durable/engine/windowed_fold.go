package engine

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// readWindowed reads a session for use cases that need the current state of its
// runs and not their history. Old nodes are dropped during the reading, so that
// a session of a million events takes no more memory than one of a thousand.
// The returned fold may be incomplete for older nodes and must not be cached.
func (g *Engine) readWindowed(ctx context.Context, s id.Session) (*runs.Fold, manifest.Verdict, error) {
	f := &windowedFold{Fold: runs.NewFold(), nodesMax: foldNodesMax}
	v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)}, f)
	if err == nil && f.Missed() {
		// An event refers to a dropped node. That is rare; the log is read
		// again without a window.
		full := runs.NewFold()
		v, err = g.read(ctx, s, full)
		return full, v, err
	}
	return f.Fold, v, err
}

// windowedFold is a fold that keeps a window of the nodes that it has read.
type windowedFold struct {
	*runs.Fold
	// nodesMax is the number of nodes at which a window is taken.
	nodesMax int
}

// Reset implements ports.Visitor.
func (p *windowedFold) Reset() { p.Fold, p.nodesMax = runs.NewFold(), foldNodesMax }

// Visit implements ports.Visitor. It takes a window when the number of nodes
// exceeds nodesMax.
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
	// A window can be taken only if the dropped nodes are closed.
	if w, ok := p.Window(runs.WindowNodes); ok {
		p.Session = w
	} else {
		p.nodesMax *= 2 // too many nodes are open for a window; retried at twice as many
	}
	return nil
}
