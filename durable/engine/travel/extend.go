package travel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// extension is what a bundle adds to a session of this store (docs/design.md#home).
type extension struct {
	own   manifest.Head // of the session's log, before
	sides []sideExtension
}

// annotationsName is the name of the side log of annotations.
var annotationsName = feedback.Table.Name

// sideExtension is what a bundle adds to one side log.
type sideExtension struct {
	log  manifest.Log
	name string
	at   manifest.Head // before
	next int64         // the number of events after
	// made are segments of this store, for annotations of a log that does not continue the store's; otherwise the
	// bundle's segments behind at are appended.
	made []manifest.Segment
}

// came is the interval of the events that are added.
func (x sideExtension) came() imported.Span { return imported.Span{From: x.at.Next, Events: x.next} }

// planExtension compares every side log of the bundle with the store's. The session's own log of the store is the same, or
// the bundle's continues it.
func (m *importer) planExtension(ctx context.Context) (x extension, err error) {
	own := manifest.SessionEvents(m.src.Session())
	v, err := m.ex.store.Read(ctx, ports.ReadRequest{Log: own}, ports.Skip)
	if err != nil {
		return x, err
	}
	x.own = v.Head
	names, err := m.src.SideLogs(ctx, m.src.Session().String())
	if err != nil {
		return x, err
	}
	for _, name := range names {
		side, err := m.planSide(ctx, name)
		if err != nil {
			return x, err
		}
		if side.next > side.at.Next {
			x.sides = append(x.sides, side)
		}
	}
	return x, nil
}

// planSide compares one side log of the bundle with the store's.
func (m *importer) planSide(ctx context.Context, name string) (x sideExtension, err error) {
	x.name, x.log = name, m.sideLog(name)
	if name == annotationsName {
		x.log = feedback.LogOf(m.src.Session())
	}
	theirs, err := m.src.Read(ctx, ports.ReadRequest{Log: x.log}, ports.Skip)
	if err != nil {
		return x, err
	}
	here, there := false, false
	ours, err := m.ex.store.Read(ctx, ports.ReadRequest{Log: x.log}, findHead(theirs.Head, &here))
	if err == nil && ours.Damaged() {
		err = ports.Unhealthy(x.log, ours)
	}
	if err != nil {
		return x, err
	}
	x.at, x.next = ours.Head, ours.Head.Next
	if here || theirs.Head.IsZero() {
		return x, nil // the bundle adds nothing
	}
	if !ours.Head.IsZero() {
		if _, err := m.src.Read(ctx, ports.ReadRequest{Log: x.log}, findHead(ours.Head, &there)); err != nil {
			return x, err
		}
	}
	switch {
	case there || ours.Head.IsZero():
		x.next = theirs.Head.Next
		return x, nil
	case name != annotationsName:
		m.out.Warnings = append(m.out.Warnings, fmt.Sprintf(
			"The log %s of the bundle has another history than the store's, and is not imported.", name))
		return x, nil
	}
	return m.planAnnotations(ctx, x)
}

// keysOf collects the keys of the events of a side log: two events with one key record the same fact.
func keysOf(keys map[string]bool) ports.NewVisitor {
	return func(manifest.Head) ports.Visitor {
		clear(keys)
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				keys[e.DedupeKey()] = true
			}
			return nil
		})
	}
}

// annotationsPerSegment bounds how many merged annotations one segment has.
const annotationsPerSegment = 64

// planAnnotations merges annotations of a log with another history: records that this store does not have are appended
// with their actors and times, in their order.
func (m *importer) planAnnotations(ctx context.Context, x sideExtension) (sideExtension, error) {
	have, unknown := map[string]bool{}, 0
	if _, err := m.ex.store.Read(ctx, ports.ReadRequest{Log: x.log}, keysOf(have)); err != nil {
		return x, err
	}
	var added []event.Event
	_, err := m.src.Read(ctx, ports.ReadRequest{Log: x.log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
		for _, e := range seg.Events {
			switch e.Data.(type) {
			case feedback.Recorded, feedback.Retracted:
				if key := e.DedupeKey(); !have[key] {
					have[key] = true
					added = append(added, event.New(x.log.Owner, x.at.Next+int64(len(added)), e.Scope, e.Actor, e.TimestampMs, e.Data))
				}
			default:
				unknown++
			}
		}
		return nil
	}))
	if err != nil {
		return x, err
	}
	if unknown > 0 {
		m.out.Warnings = append(m.out.Warnings, fmt.Sprintf(
			"%d annotations of the bundle are of a newer version, and are not imported.", unknown))
	}
	head := x.at
	for len(added) > 0 {
		n := min(len(added), annotationsPerSegment)
		seg, err := manifest.EncodeSegment(x.log, added[:n])
		if err != nil {
			return x, fault.Wrap(err, fault.BundleIntegrityFailed, "an annotation of the bundle is not valid here: %v", err)
		}
		seg.Group = manifest.Group(x.log, head, seg)
		head, added = head.After(seg.Group, seg), added[n:]
		x.made = append(x.made, seg)
	}
	x.next = head.Next
	return x, nil
}

// isEmpty reports that the bundle adds nothing.
func (m *importer) isEmpty(x extension) bool { return x.own == m.head && len(x.sides) == 0 }

// fastForward extends the session by what the bundle adds, between the two lines of an audited act, after the caller
// accepted it. The session's lock, the performer's and those of the side logs are held while it is written.
func (m *importer) fastForward(ctx context.Context, x extension, accept Acceptance) (Import, error) {
	s := m.src.Session()
	m.out.Relation, m.out.SessionID = FastForward, s
	if m.foreign {
		return m.out, fault.New(fault.BundleUnsupportedVersion,
			"the bundle continues session %s with events that this version does not know", s).
			Suggest("Import it with the version of Waybill that wrote it; nothing was imported.")
	}
	came, err := m.describeArrivals(ctx, x)
	if err != nil {
		return m.out, err
	}
	m.out.Arrived = &came
	if accept == nil {
		accept = refuseArrivals
	}
	if err := accept(ctx, m.out); err != nil {
		return m.out, err
	}
	act := audit.Act{Action: audit.Import, Target: audit.Target{Kind: audit.OfSession, ID: s.String()},
		Details: map[string]string{"bundleId": m.out.BundleID, "head": m.head.Digest.String(),
			"events": strconv.FormatInt(m.head.Next, 10), "from": strconv.FormatInt(x.own.Next, 10)}}
	err = m.ex.ledger.Act(ctx, m.by, act, func() (map[string]string, error) {
		details := map[string]string{"sessionId": s.String()}
		for _, side := range x.sides {
			if side.name == annotationsName {
				details["annotations"] = strconv.FormatInt(side.next, 10)
				details["annotationsFrom"] = strconv.FormatInt(side.at.Next, 10)
			}
		}
		return details, m.lockAndExtend(ctx, x)
	})
	if err != nil {
		return m.out, err
	}
	m.ex.e.Drop(s)
	return m.out, m.describe(ctx)
}

// refuseArrivals is the acceptance of a caller that has none.
func refuseArrivals(_ context.Context, doc Import) error {
	return fault.New(fault.RunWaiting, "the bundle continues session %s with %d events that were made elsewhere",
		doc.SessionID, doc.Arrived.Events)
}

// lockAndExtend locks the session, its performer and the side logs, and extends the logs if their heads are still those of the plan.
func (m *importer) lockAndExtend(ctx context.Context, x extension) error {
	own := manifest.SessionEvents(m.src.Session())
	return m.locked(ctx, own, x.own, func(first ports.Extended) error {
		return ports.WithHold(ctx, m.ex.store.Performers(), m.src.Session(), func(hold ports.Hold) error {
			first.Lease = hold.Token()
			return m.lockSides(ctx, x, []ports.Extended{first}, x.sides)
		})
	})
}

// lockSides locks the side logs that remain, and then extends all logs.
func (m *importer) lockSides(ctx context.Context, x extension, held []ports.Extended, remain []sideExtension) error {
	if len(remain) == 0 {
		return m.writeExtension(ctx, x, held)
	}
	return m.locked(ctx, remain[0].log, remain[0].at, func(next ports.Extended) error {
		return m.lockSides(ctx, x, append(held, next), remain[1:])
	})
}

// locked calls fn under the lock of a log that ends with a head. STORE_CONFLICT if it has another end by now.
func (m *importer) locked(ctx context.Context, log manifest.Log, at manifest.Head, fn func(ports.Extended) error) error {
	changed := func() error {
		return fault.New(fault.StoreConflict, "session %s changed while the bundle was compared with it", log.Owner).
			Suggest("Import the bundle again; nothing was imported.")
	}
	err := ports.WithHealthySession(ctx, m.ex.store, m.ex.store, log, at, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			if v.Head != at {
				return changed()
			}
			return fn(ports.Extended{Log: log, Witness: w, At: at})
		})
	if errors.Is(err, manifest.ErrNotOnChain) {
		return changed()
	}
	return err
}

// writeExtension writes objects, mark and segments, and commits them at once.
func (m *importer) writeExtension(ctx context.Context, x extension, held []ports.Extended) (err error) {
	mark, err := m.extendedMark(ctx, x)
	if err != nil {
		return err
	}
	arrival, err := m.ex.store.BeginExtension(ctx, m.src.Session(), held)
	if err != nil {
		return err
	}
	committed := false
	defer func() {
		if endErr := arrival.End(); err == nil && !committed {
			err = endErr
		}
	}()
	if err := m.writeObjects(ctx, arrival); err != nil {
		return err
	}
	if err := m.writeNewSegments(ctx, arrival, "", held[0].Log, x.own, m.head); err != nil {
		return err
	}
	for _, side := range x.sides {
		for _, seg := range side.made {
			if err := arrival.Segment(ctx, side.name, seg); err != nil {
				return err
			}
		}
		if len(side.made) > 0 {
			continue
		}
		if err := m.writeNewSegments(ctx, arrival, side.name, side.log, side.at, manifest.Head{Next: side.next}); err != nil {
			return err
		}
	}
	if err := arrival.Control(ctx, ports.ImportedFile, ports.Control{V: imported.Version, Data: mark.Value()}); err != nil {
		return err
	}
	committed, err = arrival.Commit(ctx)
	return err
}

// writeNewSegments passes on the bundle's segments of a log behind a head. The bundle was verified before; that it did
// not change since is checked by its end.
func (m *importer) writeNewSegments(ctx context.Context, arrival ports.SessionImport, name string, log manifest.Log,
	at, end manifest.Head) error {
	v, err := m.src.Read(ctx, ports.ReadRequest{Log: log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
		if seg.First < at.Next {
			return nil
		}
		seg.Bytes, seg.Group = bytes.Clone(seg.Bytes), bytes.Clone(seg.Group)
		return arrival.Segment(ctx, name, seg)
	}))
	if err == nil && (v.Damaged() || v.Head.Next != end.Next || !end.IsZero() && !end.Digest.IsZero() && v.Head != end) {
		err = fault.New(fault.BundleIntegrityFailed, "the bundle changed while it was imported")
	}
	return err
}

// extendedMark is the import mark of the extended session: the intervals that it has already, or that the audit log
// records, with what came.
func (m *importer) extendedMark(ctx context.Context, x extension) (mark imported.Mark, err error) {
	s, own := m.src.Session(), manifest.SessionEvents(m.src.Session())
	c, err := m.ex.store.SessionControl(ctx, s, ports.ImportedFile)
	switch {
	case err != nil:
		return mark, err
	case c.V > imported.Version:
		return mark, ledger.NewerControl(ports.ImportedFile, c.V)
	case c.V == imported.Version:
		if mark, err = imported.Read(c.Data); err != nil {
			return mark, err
		}
	}
	mark.AtMs, mark.BundleID, mark.Head, mark.Pending = m.by.AtMs, m.out.BundleID, m.head.Digest, nil
	mark.Salvage = mark.Salvage || m.src.Envelope().Salvage != nil
	records := m.ex.ledger.NewImports()
	before, err := m.ex.ledger.ImportedEvents(ctx, own, records)
	if err != nil {
		return mark, err
	}
	span := before.Widened(imported.Span{From: x.own.Next, Events: m.head.Next})
	if span.IsEmpty() { // only side logs are extended
		span = imported.Span{From: x.own.Next, Events: x.own.Next}
	}
	mark = mark.WithSpan(imported.Own, span)
	for _, side := range x.sides {
		before, err := m.ex.ledger.ImportedEvents(ctx, side.log, records)
		if err != nil {
			return mark, err
		}
		mark = mark.WithSpan(side.name, before.Widened(side.came()))
	}
	return mark, nil
}

// divergence is SESSION_DIVERGED: the store and the bundle have different events behind those that they share.
func (m *importer) divergence(ctx context.Context) error {
	s := m.src.Session()
	diff, err := DiffBundles(ctx, Side{Logs: m.ex.store, Session: s}, Side{Logs: m.src, Session: s})
	if err != nil {
		return err
	}
	next := func(all []DiffedEvent) string {
		if len(all) == 0 {
			return "nothing"
		}
		return fmt.Sprintf("event %d (%s)", all[0].Index, all[0].Kind)
	}
	return fault.New(fault.SessionDiverged,
		"session %s and the bundle share %d events and differ behind them: the store continues with %s, the bundle with %s", s,
		diff.Common, next(diff.After[0]), next(diff.After[1])).
		Suggest("Import it with --as-new to have both; %s compares them. Nothing was imported.",
			fault.Command{"bundle", "diff"}).
		With("relation", string(Diverged)).With("sharedEvents", diff.Common).With("sessionId", s.String()).
		With("events", diff.Events[:]).With("heads", []canon.Digest{diff.Heads[0], diff.Heads[1]})
}
