package memstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports"
)

var _ ports.SessionImporter = (*Store)(nil)

// arrival is a session that is being imported. No reader sees its logs and control files before
// Commit; its objects and tombstones are visible at once, as they are in a file store.
type arrival struct {
	s        *Store
	session  id.Session
	logs     map[string]*log          // by root
	controls map[string]ports.Control // by path
	failed   error                    // the first error; every later call returns it
	ended    bool                     // Commit succeeded or End was called
	release  func()                   // ends the use of the store; nil for an extension, and after End
}

// BeginImport implements ports.SessionImporter. It creates the store where it does not exist.
func (s *Store) BeginImport(ctx context.Context, session id.Session) (ports.SessionImport, error) {
	if _, err := s.StoreID(ctx, ports.MayCreate); err != nil {
		return nil, err
	}
	release, err := s.use(ctx, shared)
	if err != nil {
		return nil, err
	}
	return &arrival{s: s, session: session, logs: map[string]*log{}, controls: map[string]ports.Control{},
		release: release}, nil
}

// do runs one call of an import that has neither failed nor ended, and records its error. A call
// after the end is INTERNAL, a context that has ended INTERRUPTED.
func (a *arrival) do(ctx context.Context, call func() error) error {
	switch {
	case a.failed != nil:
		return a.failed
	case a.ended:
		return fault.New(fault.Internal, "the import has ended")
	}
	err := a.s.reach(ctx)
	if err == nil {
		err = call()
	}
	a.failed = err // also an interruption: what was read from the caller may be incomplete
	return err
}

// Segment implements ports.SessionImport. It stores bytes and group as they are; whether they fit
// together is the caller's responsibility. A segment without a group, one of the same name as an
// earlier one, and a name that no side log can have are INTERNAL: callers check bundles before they
// import them.
func (a *arrival) Segment(ctx context.Context, name string, seg manifest.Segment) error {
	return a.do(ctx, func() error {
		if _, _, ok := manifest.ParseSegmentName(seg.Name()); !ok || len(seg.Group) == 0 || name != "" &&
			!bundle.ValidLogName(name) {
			return fault.New(fault.Internal, "events %d to %d of log %q cannot be imported", seg.First, seg.Last, name)
		}
		root := sessionRoot(a.session)
		if name != "" {
			root += "/" + name
		}
		l := a.logs[root]
		if l == nil {
			l = &log{segments: map[string][]byte{}}
			a.logs[root] = l
		}
		if _, exists := l.segments[seg.Name()]; exists {
			return fault.New(fault.Internal, "%s was imported twice", seg.Name())
		}
		// Copied: the caller may reuse its buffer for the next segment.
		l.segments[seg.Name()] = bytes.Clone(seg.Bytes)
		l.manifest = append(l.manifest, seg.Group...)
		return nil
	})
}

// Object implements ports.SessionImport. It reads at most one byte more than the limit of the kind
// (limits.SnapshotBytesMax, limits.ArtifactBytesMax). An artifact with a tombstone stays erased.
func (a *arrival) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	return a.do(ctx, func() error {
		// One byte more than the limit is enough to detect an object that is too large.
		limit := int64(limits.ArtifactBytesMax)
		if kind == manifest.Snapshot {
			limit = limits.SnapshotBytesMax
		}
		b, err := io.ReadAll(io.LimitReader(r, limit+1))
		switch {
		case err != nil:
			return err
		case int64(len(b)) > limit:
			return fault.New(fault.StoreLimit, "%s %s has more than %d bytes, the limit of a store", kind,
				ref, limit)
		case !ref.IsOf(b):
			return fault.New(fault.StoreCorrupt, "the imported bytes of %s %s do not have that digest", kind, ref)
		}
		a.s.disk.mu.Lock()
		defer a.s.disk.mu.Unlock()
		// A tombstone is about artifacts only: an object of another kind may have the same bytes.
		if data, erased := a.s.disk.tombstones[ref]; !erased || isImported(data) || kind != manifest.Artifact {
			a.s.disk.objects[object{kind, ref}] = b
		}
		return nil
	})
}

// Tombstone implements ports.SessionImport. An existing artifact or tombstone stays as it is.
func (a *arrival) Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	return a.do(ctx, func() error {
		a.s.disk.mu.Lock()
		defer a.s.disk.mu.Unlock()
		// Bytes that the store holds are not erased by an import.
		_, exists := a.s.disk.objects[object{manifest.Artifact, ref}]
		if _, erased := a.s.disk.tombstones[ref]; !erased && !exists {
			a.s.disk.tombstones[ref] = data
		}
		return nil
	})
}

// Tombstone implements ports.Tombstones.
func (s *Store) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	if err := s.reach(ctx); err != nil {
		return canon.Value{}, false, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	data, ok := s.disk.tombstones[ref]
	return data, ok, nil
}

// Control implements ports.SessionImport. Files other than ports.ImportedFile and ports.KeepFile are
// INTERNAL.
func (a *arrival) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return a.do(ctx, func() error {
		name, err := controlName(ctx, a.s, a.session, f)
		if err == nil {
			a.controls[name] = c
		}
		return err
	})
}

// Commit implements ports.SessionImport. A session with a commit stays, and placed is false; one that was
// only locked is replaced once its lock is released, or SESSION_LOCKED is returned. A session
// without events is INTERNAL.
func (a *arrival) Commit(ctx context.Context) (placed bool, err error) {
	err = a.do(ctx, func() error {
		root := sessionRoot(a.session)
		if a.logs[root] == nil {
			return fault.New(fault.Internal, "the import of session %s has no events", a.session)
		}
		return a.s.await(ctx, manifest.SessionEvents(a.session), func(kept *log) bool {
			if len(kept.manifest) > 0 {
				return true // the session exists: nothing is placed
			}
			if kept.inUse() {
				return false // its holder may be about to commit
			}
			// await holds the disk's lock, so that all of the session becomes visible at once.
			for root, l := range a.logs {
				a.s.disk.logs[root] = l
			}
			for name, c := range a.controls {
				a.s.disk.controls[name] = c
			}
			a.s.disk.announce(slices.Collect(maps.Keys(a.logs))...)
			placed = true
			return true
		})
	})
	a.ended = a.ended || err == nil
	return placed, err
}

// End implements ports.SessionImport. Objects and tombstones stay in the store.
func (a *arrival) End() error {
	a.ended = true
	if a.release != nil {
		a.release()
		a.release = nil
	}
	return nil
}

// extension is the import of events that continue logs of a session.
type extension struct {
	arrival
	leave []func()
	at    map[string]manifest.Head // by root
	plans []manifest.Plan          // the logs and leases
}

// BeginExtension implements ports.SessionImporter.
func (s *Store) BeginExtension(ctx context.Context, session id.Session, logs []ports.Extended) (ports.SessionImport, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	x := &extension{arrival: arrival{s: s, session: session, logs: map[string]*log{}, controls: map[string]ports.Control{}},
		at: map[string]manifest.Head{}}
	for _, to := range logs {
		leave, err := to.Witness.Enter(to.Log)
		if err == nil {
			x.leave = append(x.leave, leave)
			if !holds(s, to.Log) {
				err = ports.ErrWitness
			}
		}
		if err == nil {
			var v manifest.Verdict
			v, err = manifest.Read(s.disk.input(ports.ReadRequest{Log: to.Log, From: to.At}),
				func(manifest.Segment, manifest.Head) error { return nil })
			if errors.Is(err, manifest.ErrNotOnChain) || err == nil && v.Head != to.At {
				err = fault.New(fault.StoreConflict, "%s moved between reading and writing", to.Log.Owner)
			}
		}
		if err != nil {
			_ = x.End()
			return nil, err
		}
		x.at[to.Log.Root] = to.At
		x.plans = append(x.plans, manifest.Plan{Log: to.Log, Lease: to.Lease})
	}
	return x, nil
}

// Segment implements ports.SessionImport.
func (x *extension) Segment(ctx context.Context, name string, seg manifest.Segment) error {
	root := sessionRoot(x.session)
	if name != "" {
		root += "/" + name
	}
	at, ok := x.at[root]
	if !ok || at.Next != seg.First {
		return x.do(ctx, func() error {
			return fault.New(fault.Internal, "events %d to %d of log %q do not continue a log that is extended", seg.First,
				seg.Last, name)
		})
	}
	err := x.arrival.Segment(ctx, name, seg)
	if err == nil {
		x.at[root] = at.After(seg.Group, seg)
	}
	return err
}

// Control implements ports.SessionImport.
func (x *extension) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	if f != ports.ImportedFile || c.V != imported.Version {
		return x.do(ctx, func() error { return fault.New(fault.Internal, "%s is not part of an extension", f.Name) })
	}
	return x.arrival.Control(ctx, f, c)
}

// Commit implements ports.SessionImport. The logs are locked: nothing changed since they were compared.
func (x *extension) Commit(ctx context.Context) (placed bool, err error) {
	err = x.do(ctx, func() error {
		if len(x.controls) == 0 {
			return fault.New(fault.Internal, "session %s is extended without an import mark", x.session)
		}
		x.s.disk.mu.Lock()
		defer x.s.disk.mu.Unlock()
		for _, p := range x.plans {
			if err := x.s.disk.checkLease(p); err != nil {
				return err
			}
		}
		for root, l := range x.logs {
			kept := x.s.disk.log(root)
			kept.manifest = append(kept.manifest, l.manifest...)
			maps.Copy(kept.segments, l.segments)
		}
		maps.Copy(x.s.disk.controls, x.controls)
		x.s.disk.announce(slices.Collect(maps.Keys(x.logs))...)
		return nil
	})
	x.ended = x.ended || err == nil
	return err == nil, err
}

// End implements ports.SessionImport.
func (x *extension) End() error {
	for _, leave := range x.leave {
		leave()
	}
	x.leave = nil
	return x.arrival.End()
}
