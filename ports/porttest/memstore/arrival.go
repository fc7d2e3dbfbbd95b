package memstore

import (
	"bytes"
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports"
)

var _ ports.Arrivals = (*Store)(nil)

// arrival is a session that is being imported and that no reader sees yet.
type arrival struct {
	s        *Store
	session  id.Session
	logs     map[string]*log // by root
	controls map[string]ports.Control
	failed   error
	over     bool
}

// Arrive implements ports.Arrivals.
func (s *Store) Arrive(ctx context.Context, session id.Session) (ports.Arrival, error) {
	if _, err := s.StoreID(ctx, ports.MayCreate); err != nil {
		return nil, err
	}
	return &arrival{s: s, session: session, logs: map[string]*log{}, controls: map[string]ports.Control{}}, nil
}

func (a *arrival) do(ctx context.Context, call func() error) error {
	switch {
	case a.failed != nil:
		return a.failed
	case a.over:
		return fault.New(fault.Internal, "the arrival is over")
	}
	err := ctx.Err()
	if err != nil {
		err = fault.Wrap(err, fault.Interrupted, "using the store was interrupted")
	} else {
		err = call()
	}
	a.failed = err
	return err
}

// Segment implements ports.Arrival.
func (a *arrival) Segment(ctx context.Context, name string, seg manifest.Segment) error {
	return a.do(ctx, func() error {
		if _, _, ok := manifest.ParseSegmentName(seg.Name()); !ok || len(seg.Group) == 0 || name != "" &&
			!bundle.LogName(name) {
			return fault.New(fault.Internal, "events %d to %d of log %q cannot arrive", seg.First, seg.Last, name)
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
		if _, twice := l.segments[seg.Name()]; twice {
			return fault.New(fault.Internal, "%s arrived twice", seg.Name())
		}
		l.segments[seg.Name()] = bytes.Clone(seg.Bytes)
		l.manifest = append(l.manifest, seg.Group...)
		return nil
	})
}

// Object implements ports.Arrival.
func (a *arrival) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	return a.do(ctx, func() error {
		most := int64(limits.ArtifactBytesMax)
		if kind == manifest.Snapshot {
			most = limits.SnapshotBytesMax
		}
		b, err := io.ReadAll(io.LimitReader(r, most+1))
		switch {
		case err != nil:
			return err
		case int64(len(b)) > most:
			return fault.New(fault.StoreLimit, "%s %s has more than %d bytes, which is all that a store takes", kind,
				ref, most)
		case canon.Sum(b) != ref:
			return fault.New(fault.StoreCorrupt, "the bytes that came as %s %s do not have that digest", kind, ref)
		}
		a.s.disk.mu.Lock()
		defer a.s.disk.mu.Unlock()
		if _, erased := a.s.disk.tombstones[ref]; !erased || kind != manifest.Artifact {
			a.s.disk.objects[manifest.ObjectDir(kind)+"/"+manifest.ObjectName(kind, ref)] = b
		}
		return nil
	})
}

// Tombstone implements ports.Arrival.
func (a *arrival) Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	return a.do(ctx, func() error {
		a.s.disk.mu.Lock()
		defer a.s.disk.mu.Unlock()
		_, whole := a.s.disk.objects[manifest.ObjectDir(manifest.Artifact)+"/"+
			manifest.ObjectName(manifest.Artifact, ref)]
		if _, erased := a.s.disk.tombstones[ref]; !erased && !whole {
			a.s.disk.tombstones[ref] = data
		}
		return nil
	})
}

// Tombstone implements ports.Tombstones.
func (s *Store) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	data, ok := s.disk.tombstones[ref]
	return data, ok, ctx.Err()
}

// Control implements ports.Arrival.
func (a *arrival) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return a.do(ctx, func() error {
		name, err := controlName(ctx, a.session, f)
		if err == nil {
			a.controls[name] = c
		}
		return err
	})
}

// Commit implements ports.Arrival.
func (a *arrival) Commit(ctx context.Context) (placed bool, err error) {
	err = a.do(ctx, func() error {
		root := sessionRoot(a.session)
		if a.logs[root] == nil {
			return fault.New(fault.Internal, "session %s arrives without events", a.session)
		}
		return a.s.await(ctx, manifest.SessionEvents(a.session), func(kept *log) bool {
			if len(kept.manifest) > 0 {
				return true
			}
			if kept.held {
				return false // somebody is about to commit
			}
			for root, l := range a.logs {
				a.s.disk.logs[root] = l
			}
			for name, c := range a.controls {
				a.s.disk.controls[name] = c
			}
			placed = true
			return true
		})
	})
	a.over = a.over || err == nil
	return placed, err
}

// End implements ports.Arrival.
func (a *arrival) End() error {
	a.over = true
	return nil
}
