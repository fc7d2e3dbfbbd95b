package travel

import (
	"bytes"
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// writeArrival writes objects, logs and the import mark to an arrival and
// commits it at once. committed is false if the session appeared meanwhile.
func (m *importer) writeArrival(ctx context.Context, store id.Store, asNew bool) (committed bool, err error) {
	arrival, err := m.ex.store.BeginImport(ctx, m.out.SessionID)
	if err != nil {
		return false, err
	}
	defer func() {
		// Remains of an arrival are not part of any session; a cleanup removes
		// them.
		if endErr := arrival.End(); err == nil && !committed {
			err = endErr
		}
	}()
	if err := m.writeObjects(ctx, arrival); err != nil {
		return false, err
	}
	names, err := m.src.SideLogs(ctx, m.src.Session().String())
	if err != nil {
		return false, err
	}
	renaming := (*rewrite.Renaming)(nil)
	if asNew {
		if renaming, err = m.newRenaming(ctx, store, names); err != nil {
			return false, err
		}
	}
	if _, err := m.writeLog(ctx, arrival, "", manifest.SessionEvents(m.src.Session()), renaming); err != nil {
		return false, err
	}
	m.logs = map[string]int64{}
	for _, name := range names {
		if m.logs[name], err = m.writeLog(ctx, arrival, name, m.sideLog(name), renaming); err != nil {
			return false, err
		}
	}
	m.renaming = renaming
	// The mark is a part of the arrival: no session is visible without it.
	mark := imported.Mark{BundleID: m.out.BundleID, Head: m.head.Digest, Events: m.head.Next, Logs: m.logs,
		AtMs: m.by.AtMs, Salvage: m.src.Envelope().Salvage != nil}
	if err := arrival.Control(ctx, ports.ImportedFile,
		ports.Control{V: imported.Version, Data: mark.Value()}); err != nil {
		return false, err
	}
	return arrival.Commit(ctx)
}

// writeObjects copies the objects that the log refers to: workflows and
// snapshots before artifacts.
func (m *importer) writeObjects(ctx context.Context, arrival ports.SessionImport) error {
	for _, kind := range []manifest.ObjectKind{manifest.Workflow, manifest.Snapshot, manifest.Artifact} {
		for ref := range m.src.Each(kind) {
			if err := m.writeObject(ctx, arrival, kind, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeObject copies one object, or the tombstone of an erased artifact.
func (m *importer) writeObject(ctx context.Context, arrival ports.SessionImport, kind manifest.ObjectKind,
	ref canon.Digest) error {
	if kind == manifest.Artifact {
		data, erased, err := m.src.Tombstone(ctx, ref)
		if err != nil {
			return err
		}
		if erased {
			// The erasure was decided in another store. Marked as imported, it
			// does not prevent the same bytes from being stored here.
			return arrival.Tombstone(ctx, ref, data.With("imported", canon.OfBool(true)))
		}
	}
	r, _, err := m.src.ObjectStream(ctx, kind, ref)
	if err != nil {
		return err
	}
	return errors.Join(arrival.Object(ctx, kind, ref, r), r.Close())
}

// writeLog copies one log, unchanged or under the session's new ids. The bundle
// was verified before; that it did not change since is checked by its head. It
// returns the number of events.
func (m *importer) writeLog(ctx context.Context, arrival ports.SessionImport, name string, log manifest.Log,
	renaming *rewrite.Renaming) (events int64, err error) {
	put := func(seg manifest.Segment) error { return arrival.Segment(ctx, name, seg) }
	written := func(read manifest.Head) manifest.Head { return read }
	if renaming != nil {
		renamedLog := log
		renamedLog.Root, renamedLog.Owner = manifest.SessionEvents(m.out.SessionID).Root, m.out.SessionID.String()
		if name != "" {
			renamedLog.Root += "/" + name
		}
		chain := rewrite.NewChain(renamedLog)
		written = func(manifest.Head) manifest.Head { return chain.Head() }
		put = func(seg manifest.Segment) error {
			events, err := renameEvents(renaming, name, renamedLog, seg)
			if err != nil {
				return err
			}
			next, err := chain.Next(events)
			if err != nil {
				return fault.Wrap(err, fault.BundleIntegrityFailed, "the log is not valid under new ids: %v",
					err)
			}
			return arrival.Segment(ctx, name, next)
		}
	}
	v, err := m.src.Read(ctx, ports.ReadRequest{Log: log},
		ports.Each(func(seg manifest.Segment, head manifest.Head) error {
			if name == "" && m.written != nil {
				m.written(head.Next, m.head.Next)
			}
			return put(seg)
		}))
	if err == nil && (v.Damaged() || name == "" && v.Head != m.head) {
		err = fault.New(fault.BundleIntegrityFailed, "%s changed while it was imported", m.parties.source)
	}
	if name == "" {
		m.placed = written(v.Head)
	}
	return v.Head.Next, err
}

// renameEvents returns a segment's events under the session's new ids. The
// events of side logs are rewritten as text, because their kinds are not known
// here.
func renameEvents(r *rewrite.Renaming, name string, log manifest.Log, seg manifest.Segment) ([]event.Event, error) {
	if name == "" {
		return r.Segment(seg.Events)
	}
	var out []event.Event
	for line := range bytes.Lines(seg.Bytes) {
		again, err := r.OpaqueLine(bytes.TrimSuffix(line, []byte{'\n'}))
		if err != nil {
			return nil, err
		}
		e, err := log.Table.DecodeLine(again)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
