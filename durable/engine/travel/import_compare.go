package travel

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
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
	all, err := m.ex.store.Sessions(ctx)
	if err != nil || !slices.Contains(all, m.src.Session()) {
		return "", err
	}
	log := manifest.SessionEvents(m.src.Session())
	here := false
	v, err := m.ex.store.Read(ctx, ports.ReadRequest{Log: log}, findHead(m.head, &here))
	switch {
	case err != nil:
		return "", err
	case v.Unborn():
		return "", nil
	case v.Head == m.head && !v.Damaged():
		return Same, nil
	case here:
		// Damage behind the bundle's head does not change the relation.
		return Ahead, nil
	}
	there := false
	if _, err := m.src.Read(ctx, ports.ReadRequest{Log: log}, findHead(v.Head, &there)); err != nil {
		return "", err
	}
	if there {
		return Behind, nil
	}
	return Diverged, nil
}

// findHead sets *found if a log has a head on its chain.
func findHead(head manifest.Head, found *bool) ports.NewVisitor {
	return func(manifest.Head) ports.Visitor {
		*found = false
		return ports.VisitorFunc(func(_ manifest.Segment, at manifest.Head) error {
			*found = *found || at == head
			return nil
		})
	}
}

// compareNew relates an earlier import of the same log under new ids to the
// bundle, "" if there was none. Its lines have other ids and therefore another
// chain. The first event of a session is not sufficient proof, since a bundle
// may have been made under that very id; the import mark does not travel with
// bundles, and names the head that was imported. The number of events decides
// the rest.
func (m *importer) compareNew(ctx context.Context) (Relation, error) {
	all, err := m.ex.store.Sessions(ctx)
	if err != nil || !slices.Contains(all, m.out.SessionID) {
		return "", err
	}
	var origin *event.ImportedFrom
	verdict, err := m.ex.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(m.out.SessionID)},
		func(manifest.Head) ports.Visitor {
			origin = nil
			return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
				if p, ok := seg.Events[0].Data.(event.SessionCreated); ok {
					origin = p.ImportedFrom
				}
				return nil
			})
		})
	switch {
	case err != nil:
		return "", err
	case verdict.Unborn():
		return "", nil
	case origin == nil || origin.Head != m.head.Digest:
		return Diverged, nil
	}
	from, err := m.ex.importedHead(ctx, m.out.SessionID)
	switch {
	case err != nil:
		return "", err
	case from != m.head.Digest:
		return Diverged, nil
	case verdict.Head.Next > m.head.Next, verdict.Head.Next == m.head.Next && verdict.Damaged():
		return Ahead, nil
	case verdict.Head.Next < m.head.Next: // damaged since, or repaired
		return Diverged, nil
	}
	return Same, nil
}

// importedHead is the head of the bundle that a session was imported from,
// according to its mark; zero without a mark.
func (x *Exchange) importedHead(ctx context.Context, s id.Session) (canon.Digest, error) {
	c, err := x.store.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil || c.V == 0 {
		return canon.Digest{}, err
	}
	if c.V != imported.Version {
		return canon.Digest{}, ledger.NewerControl(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	return mark.Head, err
}
