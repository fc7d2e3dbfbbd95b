package travel

import (
	"bytes"
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// sideLog is one of the bundle's side logs.
func (m *importer) sideLog(name string) manifest.Log {
	return manifest.SessionSide(m.src.Session(), event.Opaque(name, "sessionId"))
}

// newRenaming prepares an import under new ids. It reads the log and the named
// side logs once, to find which ids they refer to. That costs a reading;
// collecting the ids while renaming would take memory in proportion to the
// session.
func (m *importer) newRenaming(ctx context.Context, store id.Store, names []string) (*rewrite.Renaming, error) {
	renaming := rewrite.NewRenaming(m.src.Session(), m.out.SessionID, store, m.head.Digest)
	_, err := m.src.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(m.src.Session())},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			renaming.CollectReferences(seg.Events)
			return nil
		}))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		_, err := m.src.Read(ctx, ports.ReadRequest{Log: m.sideLog(name)},
			ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
				for line := range bytes.Lines(seg.Bytes) {
					if err := renaming.CollectLineReferences(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
						return err
					}
				}
				return nil
			}))
		if err != nil {
			return nil, err
		}
	}
	return renaming, nil
}

// recomputeRenaming computes the new ids of an import that was made earlier,
// for the mapping in the result.
func (m *importer) recomputeRenaming(ctx context.Context, store id.Store) error {
	renaming, err := m.newRenaming(ctx, store, nil)
	if err != nil {
		return err
	}
	_, err = m.src.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(m.src.Session())},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			_, err := renaming.Segment(seg.Events)
			return err
		}))
	m.renaming = renaming
	return err
}

// setMapping adds the mapping of ids to the result. It is built last because of
// its size: a million events may have some hundred thousand nodes.
func (m *importer) setMapping() {
	if m.renaming != nil {
		mapping := m.renaming.Mapping()
		m.out.Mapping, m.renaming = &mapping, nil
	}
}
