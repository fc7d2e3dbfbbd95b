package memstore

import (
	"context"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

var (
	_ ports.Inspector = (*Store)(nil)
	_ ports.Digests   = (*Store)(nil)
)

// Inspect implements ports.Inspector.
func (s *Store) Inspect(ctx context.Context) ([]manifest.Finding, error) {
	return s.InspectWithObjects(ctx, func(manifest.ObjectKind, canon.Digest) {})
}

// InspectWithObjects implements ports.Digests. There are findings about control files, the keyring and objects that were
// damaged.
func (s *Store) InspectWithObjects(ctx context.Context,
	seen func(kind manifest.ObjectKind, ref canon.Digest)) ([]manifest.Finding, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	out := s.disk.brokenWithin("")
	objects := maps.Clone(s.disk.objects)
	s.disk.mu.Unlock()
	for o, b := range objects {
		if canon.Sum(b) == o.ref {
			seen(o.kind, o.ref)
		} else {
			out = append(out, manifest.NewFinding(manifest.ObjectDamaged, objectPlace(o),
				"it does not have the digest that its name says"))
		}
	}
	return out, nil
}

// objectPlace returns the place of an object.
func objectPlace(o object) string {
	return manifest.ObjectDir(o.kind) + "/" + manifest.ObjectName(o.kind, o.ref)
}

// brokenWithin returns the findings about damaged control files below a root, "" for all; the caller holds mu.
func (d *Disk) brokenWithin(root string) (out []manifest.Finding) {
	for _, name := range slices.Sorted(maps.Keys(d.broken)) {
		if root == "" || isWithin(name, root) {
			out = append(out, manifest.NewFinding(manifest.ControlDamaged, name, "it cannot be read"))
		}
	}
	return out
}

// InspectSession implements ports.Inspector.
func (s *Store) InspectSession(ctx context.Context, session id.Session) ([]manifest.Finding, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.disk.brokenWithin(sessionRoot(session)), nil
}

// WithoutChanges implements ports.Inspector.
func (s *Store) WithoutChanges(ctx context.Context, l manifest.Log, do func() error) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	err := s.await(ctx, l, func(kept *log) bool {
		if kept.holder != nil {
			return false
		}
		kept.readers++
		return true
	})
	if err != nil {
		return err
	}
	defer func() {
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		s.disk.log(l.Root).readers--
	}()
	return do()
}

// Digests implements ports.Digests.
func (s *Store) Digests(ctx context.Context, l manifest.Log, visit func() ports.DigestVisitor) (manifest.Verdict, error) {
	if err := s.reach(ctx); err != nil {
		return manifest.Verdict{}, err
	}
	in := s.disk.input(ports.ReadRequest{Log: l})
	in.Hash = func(name string) (canon.Digest, int64, bool, error) {
		b, ok, err := in.Open(name)
		return canon.Sum(b), int64(len(b)), ok, err
	}
	return manifest.Digests(in, visit().Group)
}

// EachStored implements ports.Digests.
func (s *Store) EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error {
	return s.EachSize(ctx, kind, func(o ports.SizedObject) { each(o.Ref) })
}

// LogBytes implements ports.Digests.
func (s *Store) LogBytes(ctx context.Context, l manifest.Log) (int64, error) {
	if err := s.reach(ctx); err != nil {
		return 0, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if kept := s.disk.logs[l.Root]; kept != nil {
		return int64(len(kept.manifest)), nil
	}
	return 0, nil
}
