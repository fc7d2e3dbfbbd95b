package manifest

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// ObjectKind is the closed set of content-addressed files that ride in a commit.
type ObjectKind string

// The object kinds.
const (
	Snapshot ObjectKind = "snapshot"
	Artifact ObjectKind = "artifact"
	Workflow ObjectKind = "workflow"
	// Installed is what an applied proposal brought. It counts as far as the log of the
	// proposals says so.
	Installed ObjectKind = "installed"
)

// ObjectKinds lists the closed set.
func ObjectKinds() []ObjectKind { return []ObjectKind{Snapshot, Workflow, Artifact, Installed} }

// Object is bytes that a plan's events refer to by their digest.
type Object struct {
	Kind  ObjectKind
	Bytes []byte
}

// Ref is the object's digest.
func (o Object) Ref() canon.Digest { return canon.Sum(o.Bytes) }

// ObjectDir is the folder of a kind, relative to the store.
func ObjectDir(kind ObjectKind) string {
	switch kind {
	case Snapshot:
		return "snapshots"
	case Workflow:
		return "workflows/pinned"
	case Installed:
		return "installed"
	}
	return "artifacts"
}

// ObjectName is the file name of an object (R4): artifacts carry no suffix.
func ObjectName(kind ObjectKind, ref canon.Digest) string {
	if kind == Artifact {
		return ref.FileName()
	}
	return ref.FileName() + ".json"
}

// Plan is what one append commits: all of it, or nothing.
type Plan struct {
	Log     Log
	Events  []event.Event
	Objects []Object
}
