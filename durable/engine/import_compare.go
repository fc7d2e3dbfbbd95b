package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// compare relates the store's session of the bundle's id to the bundle, "" if
// the store has none. Of two logs one is a prefix of the other exactly if its
// head is on the other's chain (docs/design.md#lines-and-files).
func (m *importer) compare(ctx context.Context) (Relation, error) {
	all, err := m.g.Sessions.Sessions(ctx)
	if err != nil || !slices.Contains(all, m.src.Session()) {
		return "", err
	}
	log := manifest.SessionEvents(m.src.Session())
	here := &headSearch{head: m.head}
	v, err := m.g.Logs.Read(ctx, ports.ReadRequest{Log: log}, here)
	switch {
	case err != nil:
		return "", err
	case v.Unborn():
		return "", nil
	case v.Head == m.head && !v.Damaged():
		return Same, nil
	case here.found:
		// Damage behind the bundle's head does not change the relation.
		return Ahead, nil
	}
	there := &headSearch{head: v.Head}
	if _, err := m.src.Read(ctx, ports.ReadRequest{Log: log}, there); err != nil {
		return "", err
	}
	if there.found {
		return Behind, nil
	}
	return diverged, nil
}

// headSearch is a visitor that looks for a head on a log's chain.
type headSearch struct {
	head  manifest.Head
	found bool
}

// Reset implements ports.Visitor.
func (m *headSearch) Reset() { m.found = false }

// Visit implements ports.Visitor.
func (m *headSearch) Visit(_ manifest.Segment, head manifest.Head) error {
	m.found = m.found || head == m.head
	return nil
}

// compareNew relates an earlier import of the same log under new ids to the
// bundle, "" if there was none. Its lines have other ids and therefore another
// chain. The first event of a session is not sufficient proof, since a bundle
// may have been made under that very id; the import mark does not travel with
// bundles, and names the head that was imported. The number of events decides
// the rest.
func (m *importer) compareNew(ctx context.Context) (Relation, error) {
	all, err := m.g.Sessions.Sessions(ctx)
	if err != nil || !slices.Contains(all, m.out.SessionID) {
		return "", err
	}
	v := &importOrigin{}
	verdict, err := m.g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(m.out.SessionID)}, v)
	switch {
	case err != nil:
		return "", err
	case verdict.Unborn():
		return "", nil
	case v.from == nil || v.from.Head != m.head.Digest:
		return diverged, nil
	}
	from, err := m.head.Digest, error(nil)
	if m.g.SessionControls != nil {
		from, err = m.g.importedHead(ctx, m.out.SessionID)
	}
	switch {
	case err != nil:
		return "", err
	case from != m.head.Digest:
		return diverged, nil
	case verdict.Head.Next > m.head.Next, verdict.Head.Next == m.head.Next && verdict.Damaged():
		return Ahead, nil
	case verdict.Head.Next < m.head.Next: // damaged since, or repaired
		return Behind, nil
	}
	return Same, nil
}

// importedHead is the head of the bundle that a session was imported from,
// according to its mark; zero without a mark.
func (g *Engine) importedHead(ctx context.Context, s id.Session) (canon.Digest, error) {
	c, err := g.SessionControls.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil || c.V == 0 {
		return canon.Digest{}, err
	}
	if c.V != imported.Version {
		return canon.Digest{}, newerControl(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	return mark.Head, err
}

// importOrigin is a visitor that keeps the origin stated by a session's first
// event.
type importOrigin struct{ from *event.ImportedFrom }

// Reset implements ports.Visitor.
func (o *importOrigin) Reset() { o.from = nil }

// Visit implements ports.Visitor.
func (o *importOrigin) Visit(seg manifest.Segment, _ manifest.Head) error {
	if p, ok := seg.Events[0].Data.(event.SessionCreated); ok {
		o.from = p.ImportedFrom
	}
	return nil
}

// segmentFunc is a visitor for a log without writers, which is never reset.
type segmentFunc func(manifest.Segment) error

// Reset implements ports.Visitor.
func (segmentFunc) Reset() {}

// Visit implements ports.Visitor.
func (v segmentFunc) Visit(seg manifest.Segment, _ manifest.Head) error { return v(seg) }
