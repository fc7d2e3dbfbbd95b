package manifest

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// ObjectKind is the closed set of content-addressed files that a commit stores.
type ObjectKind string

// The object kinds.
const (
	Snapshot ObjectKind = "snapshot"
	Artifact ObjectKind = "artifact"
	Workflow ObjectKind = "workflow"
	// Installed is the artifact of an applied proposal. It is in effect only as long as the
	// proposals log states so.
	Installed ObjectKind = "installed"
)

// ObjectKinds lists the closed set.
func ObjectKinds() []ObjectKind { return []ObjectKind{Snapshot, Workflow, Artifact, Installed} }

// Object is a file that a plan's events refer to by its digest.
type Object struct {
	Kind  ObjectKind
	Bytes []byte
}

// Ref returns the object's digest, which also is its file name.
func (o Object) Ref() canon.Digest { return canon.Sum(o.Bytes) }

var objectDirs = map[ObjectKind]string{Snapshot: "snapshots", Workflow: "workflows/pinned", Artifact: "artifacts",
	Installed: "installed"}

// IsErasable reports the kinds whose bytes the tombstone of an artifact covers.
func (k ObjectKind) IsErasable() bool { return k == Artifact || k == Installed }

// ObjectDir returns the directory of the objects of a kind, relative to the store.
func ObjectDir(kind ObjectKind) string { return objectDirs[kind] }

// ObjectName returns the file name of an object (docs/design.md#lines-and-files). Artifacts have no
// suffix, since their content type is in the event that refers to them.
func ObjectName(kind ObjectKind, ref canon.Digest) string {
	if kind == Artifact {
		return ref.FileName()
	}
	return ref.FileName() + ".json"
}

// Plan is the content of one append to a log. An append commits all of it or nothing: objects and
// the segment of events are stored first, then the group that commits them
// (docs/design.md#commit-protocol).
type Plan struct {
	Log     Log
	Events  []event.Event
	Objects []Object
	// Lease is the token of the lease under which a performer made what is appended, 0 for any other append.
	// A store with leases refuses one that is not the present lease of the session.
	Lease int64
	// Brief is what the catalogue shows of the session after the append, for a store that has one (ports.Briefs); nil if it is
	// not known.
	Brief *Brief
}
