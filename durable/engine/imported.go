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
	if err != nil {
		return 0, err
	}
	if c.V == 0 {
		r, err := g.importRecord(ctx, s)
		if log.Table.Name == audit.Annotations {
			return r.annotations, err
		}
		return 0, err
	}
	if c.V != imported.Version {
		return 0, newer(ports.ImportedFile, c.V)
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
		r, err := g.importRecord(ctx, s)
		return r.events, err
	}
	if c.V != imported.Version {
		return 0, newer(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	return mark.Events, err
}

// importRecord is what the audit log says about the import of a session; zero where it
// says nothing of one.
func (g *Engine) importRecord(ctx context.Context, s id.Session) (r importRecords, err error) {
	r.session = s.String()
	if g.Controls == nil {
		return r, nil // nothing is audited here
	}
	store, err := g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return r, err
	}
	_, err = g.Logs.Read(ctx, ports.Reading{Log: manifest.StoreLog(store, audit.Table)}, &r)
	return r, err
}

// importRecords looks through the audit log for the import of one session.
type importRecords struct {
	session     string
	intended    id.Event
	events      int64 // of the session's own log
	annotations int64
}

// Reset implements ports.Visitor.
func (r *importRecords) Reset() { *r = importRecords{session: r.session} }

// Visit implements ports.Visitor.
func (r *importRecords) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		switch p := e.Data.(type) {
		case audit.Intended:
			if p.Action == audit.Import && p.Target.ID == r.session {
				r.intended = e.ID
				r.events = numberIn(p.Details["events"], r.events)
			}
		case audit.Done:
			if p.IntendedEventID == r.intended {
				r.annotations = numberIn(p.Details["annotations"], r.annotations)
			}
		}
	}
	return nil
}

// numberIn reads a number of a record; where it says none, what was known holds.
func numberIn(text string, known int64) int64 {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return known
}
