package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

var _ ports.Repairs = (*Store)(nil)

// The places of what a repair moved, and the name of the keyring where control files have theirs.
const (
	quarantine  = "quarantine"
	keyringName = "keyring"
)

// putInQuarantine stores a copy in the quarantine and returns the place of all that one repair puts there; the caller holds mu.
func (d *Disk) putInQuarantine(owner string, atMs int64, name string, b []byte) (place string) {
	place = fmt.Sprintf("%s/%s.%d", quarantine, owner, atMs)
	d.quarantine[place+"/"+name] = b
	return place
}

// RepairLog implements ports.Repairs. Nothing waits for a repair, so all of it runs under the log's lock.
func (k keeper) RepairLog(ctx context.Context, r ports.LogRepair) (out ports.RepairResult, err error) {
	s := k.s
	if !r.DryRun {
		unlock, err := s.Lock(ctx, r.Log)
		if err != nil {
			return out, err
		}
		defer func() { _ = unlock() }()
		release, err := s.use(ctx, exclusive)
		if err != nil {
			return out, err
		}
		defer release()
	}
	v, err := s.Read(ctx, ports.ReadRequest{Log: r.Log, Locked: true}, ports.Skip)
	if err != nil {
		return out, err
	}
	out.Verdict = r.Judge(v)
	unknown := func(f manifest.Finding) bool { return f.Code == manifest.UnknownEvents }
	if len(r.Log.Table.Kinds()) > 0 && slices.ContainsFunc(v.Findings, unknown) {
		return out, fault.New(fault.SessionUnhealthy, "%s has events of an unknown version; it is not repaired", r.Log.Root)
	}
	if !out.Verdict.Damaged() {
		return out, nil
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	parts := s.disk.behind(r.Log.Root, out.Verdict)
	out.QuarantinePlace = fmt.Sprintf("%s/%s.%d", quarantine, r.Log.Owner, r.AtMs)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		out.Steps = append(out.Steps, ports.RepairStep{What: ports.MoveToQuarantine, From: name,
			To: out.QuarantinePlace + "/" + name, Bytes: int64(len(parts[name]))})
	}
	whole := out.Verdict.Health == manifest.CorruptHead
	if !whole {
		out.Steps = append(out.Steps, ports.RepairStep{What: ports.KeepPrefix, From: r.Log.Root, To: r.Log.Root,
			Bytes: out.Verdict.Head.Bytes})
	}
	if r.Quarantine != nil {
		s.disk.report(r, out.Verdict)
	}
	if r.DryRun {
		return out, nil
	}
	for name, b := range parts {
		s.disk.putInQuarantine(r.Log.Owner, r.AtMs, name, b)
	}
	s.disk.cut(r.Log.Root, out.Verdict, whole)
	return out, nil
}

// behind returns what a repair moves, by place: what follows the usable prefix, and all of the log and below it if there
// is none.
func (d *Disk) behind(root string, v manifest.Verdict) map[string][]byte {
	parts := map[string][]byte{}
	for _, at := range within(d.logs, root) {
		if at != root && v.Health != manifest.CorruptHead {
			continue
		}
		parts[at] = d.logs[at].manifest
		for name, b := range d.logs[at].segments {
			if first, _, ok := manifest.ParseSegmentName(name); at != root || v.Head.IsZero() || ok && first >= v.Head.Next {
				parts[at+"/"+manifest.SegmentDir+"/"+name] = b
			}
		}
	}
	return parts
}

// report passes the events that are moved to the caller.
func (d *Disk) report(r ports.LogRepair, v manifest.Verdict) {
	l := d.logs[r.Log.Root]
	for _, name := range slices.Sorted(maps.Keys(l.segments)) {
		if first, _, ok := manifest.ParseSegmentName(name); ok && first >= v.Head.Next {
			r.Quarantine(name, l.segments[name])
		}
	}
	r.Quarantine(manifest.FileName, l.manifest[v.Head.Bytes:])
}

// cut removes what behind returned, and the caches of the log.
func (d *Disk) cut(root string, v manifest.Verdict, whole bool) {
	l := d.logs[root]
	if whole {
		d.remove(root)
		return
	}
	// Readers have the old slice and map.
	next := &log{manifest: slices.Clone(l.manifest[:v.Head.Bytes]), segments: maps.Clone(l.segments), holder: l.holder,
		readers: l.readers}
	maps.DeleteFunc(next.segments, func(name string, _ []byte) bool {
		first, _, ok := manifest.ParseSegmentName(name)
		return ok && first >= v.Head.Next
	})
	d.logs[root] = next
	maps.DeleteFunc(d.heads, func(name string, _ []byte) bool {
		log, _, _ := cutLast(name, "-")
		return log == root
	})
}

// RepairControl implements ports.Repairs.
func (k keeper) RepairControl(ctx context.Context, r ports.ControlRepair, check func(ports.Control) error) (
	out ports.RepairResult, err error) {
	s := k.s
	if strings.Contains(r.File.Name, "..") || r.File == (ports.ControlFile{}) {
		return out, fault.New(fault.Internal, "%q is not a control file that can be repaired", r.File.Name)
	}
	release := func() {}
	if !r.DryRun {
		if release, err = s.use(ctx, exclusive); err != nil {
			return out, err
		}
	}
	defer release()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	c, exists := s.disk.controls[r.File.Name]
	why := "it cannot be read"
	if !s.disk.broken[r.File.Name] {
		if !exists {
			return out, nil
		}
		switch err := check(c); {
		case err == nil:
			return out, nil
		case fault.Is(err, fault.StoreNewer):
			return out, err
		default:
			why = fault.Of(err).Message
		}
	}
	out.Verdict.Findings = []manifest.Finding{manifest.NewFinding(manifest.ControlDamaged, r.File.Name, "%s", why)}
	out.QuarantinePlace = fmt.Sprintf("%s/%s.%d", quarantine, s.disk.id, r.AtMs)
	b, _ := c.Data.MarshalJSON()
	out.Steps = []ports.RepairStep{{What: ports.MoveToQuarantine, From: r.File.Name,
		To: out.QuarantinePlace + "/" + r.File.Name, Bytes: int64(len(b))}}
	if !r.DryRun {
		s.disk.putInQuarantine(s.disk.id.String(), r.AtMs, r.File.Name, b)
		delete(s.disk.controls, r.File.Name)
		delete(s.disk.broken, r.File.Name)
	}
	return out, nil
}
