package memstore

import (
	"bytes"
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Copy returns another disk with the content that this one has now, as a restored backup has it: no handle uses it.
func (d *Disk) Copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	to := NewDisk(d.seed)
	to.id, to.keys, to.clock = d.id, d.keys, d.clock
	for root, l := range d.logs {
		to.logs[root] = &log{manifest: bytes.Clone(l.manifest), segments: maps.Clone(l.segments)}
	}
	maps.Copy(to.objects, d.objects)
	maps.Copy(to.heads, d.heads)
	maps.Copy(to.controls, d.controls)
	maps.Copy(to.broken, d.broken)
	maps.Copy(to.tombstones, d.tombstones)
	maps.Copy(to.quarantine, d.quarantine)
	for session, g := range d.leases {
		kept := *g
		to.leases[session] = &kept
	}
	return to
}

// DamageManifest changes a byte of the first group of a log.
func (d *Disk) DamageManifest(l manifest.Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := d.logs[l.Root]
	kept.manifest = flipped(kept.manifest, 10)
}

// DamageSegment changes a byte of the segment of a log that begins with an event.
func (d *Disk) DamageSegment(l manifest.Log, first int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	segments := maps.Clone(d.logs[l.Root].segments) // readers have the old map
	for name, b := range segments {
		if at, _, ok := manifest.ParseSegmentName(name); ok && at == first {
			segments[name] = flipped(b, len(b)/2)
		}
	}
	d.logs[l.Root].segments = segments
}

// DamageObject changes a byte of an object.
func (d *Disk) DamageObject(kind manifest.ObjectKind, ref canon.Digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects[object{kind, ref}] = flipped(d.objects[object{kind, ref}], 0)
}

// DamageControl makes a control file of the store unreadable, or, with a session, of that session.
func (d *Disk) DamageControl(session id.Session, f ports.ControlFile) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := f.Name
	if session != (id.Session{}) {
		name = sessionRoot(session) + "/" + f.Name
	}
	d.broken[name] = true
}

// DamageKeyring makes the keyring unreadable.
func (d *Disk) DamageKeyring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken[keyringName] = true
}

// flipped returns a copy with one byte changed.
func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}
