package engine

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

// renaming begins an import as new: the log and the side logs of these names are gone
// through once, for what they name. That costs a reading more; to remember all that
// might be named would take more memory than an import may.
func (m *importer) newRenaming(ctx context.Context, store id.Store, names []string) (*rewrite.Renaming, error) {
	renaming := rewrite.NewRenaming(m.src.Session(), m.out.SessionID, store, m.head.Digest)
	_, err := m.src.Read(ctx, ports.Reading{Log: manifest.SessionEvents(m.src.Session())},
		segmentFunc(func(seg manifest.Segment) error {
			renaming.Foresee(seg.Events)
			return nil
		}))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		_, err := m.src.Read(ctx, ports.Reading{Log: m.sideLog(name)}, segmentFunc(func(seg manifest.Segment) error {
			for line := range bytes.Lines(seg.Bytes) {
				if err := renaming.ForeseeLine(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
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

// renamedBefore works out the new ids of an import that was made before.
func (m *importer) recomputeRenaming(ctx context.Context, store id.Store) error {
	renaming, err := m.newRenaming(ctx, store, nil)
	if err != nil {
		return err
	}
	_, err = m.src.Read(ctx, ports.Reading{Log: manifest.SessionEvents(m.src.Session())},
		segmentFunc(func(seg manifest.Segment) error {
			_, err := renaming.Segment(seg.Events)
			return err
		}))
	m.renaming = renaming
	return err
}

// mapping says what became of the ids, where they were changed. It is made last, since
// it is long: a million events may have some hundred thousand nodes.
func (m *importer) setMapping() {
	if m.renaming != nil {
		mapping := m.renaming.Mapping()
		m.out.Mapping, m.renaming = &mapping, nil
	}
}
