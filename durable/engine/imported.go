package engine

import (
	"context"

	"github.com/waybill/waybill/durable/advance"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// counting are a node's outputs without the approvals that came with a bundle: they
// are shown, and a person of this store has not given them (R20). What was decided
// before it came, which a re-drive decides once more, was decided with them: next is
// the index of the event that the decision would make.
func (g *Engine) counting(ctx context.Context, s id.Session, n *projections.Node, next int64) ([]projections.Output, error) {
	if n.Approvals == 0 {
		return n.Outputs, nil
	}
	foreign, err := g.broughtIn(ctx, s)
	if err != nil || next < foreign {
		return n.Outputs, err
	}
	var out []projections.Output
	for _, o := range n.Outputs {
		if o.Payload.ArtifactKind != advance.ApprovalKind || o.Index >= foreign {
			out = append(out, o)
		}
	}
	return out, nil
}

// broughtIn is how many events of a session's log came with a bundle: the first ones.
func (g *Engine) broughtIn(ctx context.Context, s id.Session) (int64, error) {
	if g.Marks == nil {
		return 0, nil
	}
	c, err := g.Marks.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil || c.V == 0 {
		return 0, err
	}
	if c.V != imported.Version {
		return 0, newer(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	return mark.Events, err
}
