package engine

import (
	"context"
	"strconv"

	"github.com/waybill/waybill/durable/advance"
	"github.com/waybill/waybill/durable/audit"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/imported"
	"github.com/waybill/waybill/durable/manifest"
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

// broughtWith is how many events of a log came with a bundle: the first ones.
func (g *Engine) broughtWith(ctx context.Context, log manifest.Log) (int64, error) {
	s, err := id.ParseSession(log.Owner)
	if err != nil || g.Marks == nil {
		return 0, nil // no log of the store comes with a bundle
	}
	if log.Root == manifest.SessionEvents(s).Root {
		return g.broughtIn(ctx, s)
	}
	c, err := g.Marks.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil || c.V != imported.Version {
		return 0, err
	}
	mark, err := imported.Read(c.Data)
	return mark.Logs[log.Table.Name], err
}

// broughtIn is how many events of a session's log came with a bundle: the first ones.
// The mark says so. Where it is gone the record of the import counts: a file that is
// lost must not make approvals count that nobody gave here.
func (g *Engine) broughtIn(ctx context.Context, s id.Session) (int64, error) {
	if g.Marks == nil {
		return 0, nil
	}
	c, err := g.Marks.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil {
		return 0, err
	}
	if c.V == 0 {
		return g.broughtInByRecord(ctx, s)
	}
	if c.V != imported.Version {
		return 0, newer(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	return mark.Events, err
}

// broughtInByRecord is what the audit log says about the import of a session, 0 where it
// says nothing of one.
func (g *Engine) broughtInByRecord(ctx context.Context, s id.Session) (int64, error) {
	if g.Controls == nil {
		return 0, nil // nothing is audited here
	}
	store, err := g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return 0, err
	}
	r := &importRecords{session: s.String()}
	_, err = g.Logs.Read(ctx, ports.Reading{Log: manifest.StoreLog(store, audit.Table)}, r)
	return r.events, err
}

// importRecords looks through the audit log for the import of one session.
type importRecords struct {
	session string
	events  int64
}

// Reset implements ports.Visitor.
func (r *importRecords) Reset() { r.events = 0 }

// Visit implements ports.Visitor.
func (r *importRecords) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		p, ok := e.Data.(audit.Intended)
		if !ok || p.Action != audit.Import || p.Target.ID != r.session {
			continue
		}
		if n, err := strconv.ParseInt(p.Details["events"], 10, 64); err == nil {
			r.events = n
		}
	}
	return nil
}
