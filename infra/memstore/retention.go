package memstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
)

var _ ports.Retention = (*Store)(nil)

// isImported reports a tombstone that came with a bundle: it gives way to bytes that are stored here.
func isImported(data canon.Value) bool {
	imported, _ := data.Get("imported")
	return imported.True()
}

// erased returns the tombstone that is in effect for a digest; the caller holds mu.
func (d *Disk) erased(ref canon.Digest) (canon.Value, bool) {
	data, ok := d.tombstones[ref]
	if ok && isImported(data) && d.erasableSize(ref) >= 0 {
		return canon.Value{}, false
	}
	return data, ok
}

// erasableSize returns the size of the bytes that a tombstone covers, -1 if there are none; the caller holds mu.
func (d *Disk) erasableSize(ref canon.Digest) int64 {
	for _, kind := range []manifest.ObjectKind{manifest.Artifact, manifest.Installed} {
		if b, ok := d.objects[object{kind, ref}]; ok {
			return int64(len(b))
		}
	}
	return -1
}

// LogRoots implements ports.Retention.
func (k keeper) LogRoots(ctx context.Context) ([]ports.LogRoot, error) {
	s := k.s
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var out []ports.LogRoot
	for _, root := range slices.Sorted(maps.Keys(s.disk.logs)) {
		r := ports.LogRoot{Root: root}
		parts := strings.Split(root, "/")
		switch {
		case len(parts) == 1:
			r.Owner, r.Name = s.disk.id.String(), root
		case parts[0] == "trash":
			e := trashEntry(parts[1])
			r.Session, r.TrashName = e.Session, e.Name
		default:
			r.Session, _ = id.ParseSession(parts[1])
		}
		if len(parts) > 1 {
			r.Owner = r.Session.String()
		}
		if len(parts) > 2 {
			r.Name = parts[2]
		}
		if r.Name == "" || len(s.disk.logs[root].manifest) > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// UnreadEntries implements ports.Retention: everything is read.
func (k keeper) UnreadEntries(ctx context.Context) ([]ports.UnreadEntry, error) {
	s := k.s
	return nil, s.reach(ctx)
}

// ReadOtherContent implements ports.Retention: other content is what is in the quarantine.
func (k keeper) ReadOtherContent(ctx context.Context, visit func(content []byte)) error {
	s := k.s
	if err := s.reach(ctx); err != nil {
		return err
	}
	s.disk.mu.Lock()
	other := maps.Clone(s.disk.quarantine)
	s.disk.mu.Unlock()
	for _, place := range slices.Sorted(maps.Keys(other)) {
		visit(other[place])
	}
	return nil
}

// EachSize implements ports.Retention.
func (k keeper) EachSize(ctx context.Context, kind manifest.ObjectKind, each func(ports.SizedObject)) error {
	s := k.s
	if err := s.reach(ctx); err != nil {
		return err
	}
	s.disk.mu.Lock()
	var all []ports.SizedObject
	for o, b := range s.disk.objects {
		if o.kind == kind {
			data, erased := s.disk.tombstones[o.ref]
			all = append(all, ports.SizedObject{Ref: o.ref, Bytes: int64(len(b)),
				Erased: erased && kind.IsErasable() && !isImported(data)})
		}
	}
	s.disk.mu.Unlock()
	for _, o := range all {
		each(o)
	}
	return nil
}

// Survey implements ports.Retention. Nothing is left over: what is not complete is in no map.
func (k keeper) Survey(ctx context.Context) (ports.Survey, error) {
	s := k.s
	if err := s.reach(ctx); err != nil {
		return ports.Survey{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	places := map[string]ports.PlaceUsage{}
	add := func(place string, b []byte) {
		u := places[place]
		places[place] = ports.PlaceUsage{Place: place, Count: u.Count + 1, Bytes: u.Bytes + int64(len(b))}
	}
	for root, l := range s.disk.logs {
		add(root, l.manifest)
		for _, b := range l.segments {
			add(root+"/"+manifest.SegmentDir, b)
		}
	}
	for o, b := range s.disk.objects {
		add(manifest.ObjectDir(o.kind), b)
	}
	for name, b := range s.disk.heads {
		log, _, _ := cutLast(name, "-")
		add(log+"/cache", b)
	}
	for _, b := range s.disk.quarantine {
		add(quarantine, b)
	}
	out := ports.Survey{Places: slices.Collect(maps.Values(places))}
	sorting.By(out.Places, func(a, b ports.PlaceUsage) int { return strings.Compare(a.Place, b.Place) })
	return out, nil
}

// Erase implements ports.Retention.
func (k keeper) Erase(ctx context.Context, ref canon.Digest, data func(bytes int64) canon.Value) (out ports.ErasureResult,
	err error) {
	s := k.s
	release, err := s.use(ctx, exclusive)
	if err != nil {
		return out, err
	}
	defer release()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	size := s.disk.erasableSize(ref)
	out.Data, out.Already = s.disk.tombstones[ref]
	if size < 0 && !out.Already {
		return out, fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref)
	}
	if size >= 0 && (!out.Already || isImported(out.Data)) {
		out.Data, out.Already = data(size), false
	}
	out.Bytes = max(size, 0)
	s.disk.tombstones[ref] = out.Data
	delete(s.disk.objects, object{manifest.Artifact, ref})
	delete(s.disk.objects, object{manifest.Installed, ref})
	return out, nil
}

// Exclusive implements ports.Retention.
func (k keeper) Exclusive(ctx context.Context, do func(ports.Sweeper) error) error {
	s := k.s
	release, err := s.use(ctx, exclusive)
	if err != nil {
		return err
	}
	defer release()
	w := &sweeper{s: s, open: true}
	defer func() { w.open = false }()
	return do(w)
}

// sweeper implements ports.Sweeper. It is used by one goroutine.
type sweeper struct {
	s    *Store
	open bool
}

// do runs a removal under mu. After Exclusive it is INTERNAL.
func (w *sweeper) do(ctx context.Context, remove func(*Disk) (bool, error)) (bool, error) {
	if err := w.s.reach(ctx); err != nil {
		return false, err
	}
	if !w.open {
		return false, fault.New(fault.Internal, "a removal was requested without the store's lock")
	}
	w.s.disk.mu.Lock()
	defer w.s.disk.mu.Unlock()
	return remove(w.s.disk)
}

// RemoveObject implements ports.Sweeper.
func (w *sweeper) RemoveObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) error {
	_, err := w.do(ctx, func(d *Disk) (bool, error) { delete(d.objects, object{kind, ref}); return true, nil })
	return err
}

// RemoveLeftover implements ports.Sweeper: there are none.
func (w *sweeper) RemoveLeftover(ctx context.Context, place string) (gone bool, err error) {
	return w.do(ctx, func(*Disk) (bool, error) {
		return false, fault.New(fault.Internal, "%q is not left over", place)
	})
}

// RemoveUnborn implements ports.Sweeper.
func (w *sweeper) RemoveUnborn(ctx context.Context, session id.Session) (gone bool, err error) {
	return w.do(ctx, func(d *Disk) (bool, error) { return d.removeUnborn(sessionRoot(session)), nil })
}

// RemoveLog implements ports.Sweeper.
func (w *sweeper) RemoveLog(ctx context.Context, log manifest.Log, head manifest.Head) (gone bool, err error) {
	return w.do(ctx, func(d *Disk) (bool, error) {
		if _, err := id.ParseStore(log.Owner); err != nil || log.Root != log.Table.Name {
			return false, fault.New(fault.Internal, "%s is no side log of the store", log.Root)
		}
		l := d.logs[log.Root]
		if l == nil {
			return true, nil
		}
		// The digest of the last group covers, through the chain, every group before it.
		if l.inUse() || int64(len(l.manifest)) != head.Bytes ||
			canon.Sum(l.manifest[head.GroupAt:]) != head.Digest {
			return false, nil
		}
		d.remove(log.Root)
		return true, nil
	})
}
