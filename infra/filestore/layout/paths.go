package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// ArtifactPath is the file of an artifact, relative to the store.
func ArtifactPath(ref canon.Digest) string { return ObjectPath(manifest.Artifact, ref) }

// TombstonePath is the tombstone of an artifact: a control file beside the artifact's name.
func TombstonePath(ref canon.Digest) string { return ArtifactPath(ref) + erasedSuffix }

// ParseTombstoneName returns the artifact whose tombstone has a name; ok is false for other names.
func ParseTombstoneName(name string) (ref canon.Digest, ok bool) {
	if name, ok = strings.CutSuffix(name, erasedSuffix); !ok {
		return ref, false
	}
	return ParseObjectName(manifest.Artifact, name)
}

// InstalledPath is the second file with the same bytes, once a proposal of them was applied.
func InstalledPath(ref canon.Digest) string { return ObjectPath(manifest.Installed, ref) }

// HeadPath is the path of the head cache of a log: for a session's log and its side logs in the
// session's cache directory, for a log of the store in the store's. Each format has its own file,
// so that two versions of the binary do not replace each other's cache.
//
// Examples:
//
//	cache/audit-7
//	sessions/sess_…/cache/head-8
//	sessions/sess_…/cache/annotations-3
func HeadPath(log manifest.Log, format int) string {
	switch session, err := id.ParseSession(log.Owner); {
	case err != nil:
		return fmt.Sprintf("cache/%s-%d", log.Table.Name, format)
	case log.Root == manifest.SessionEvents(session).Root:
		return fmt.Sprintf("sessions/%s/cache/head-%d", session, format)
	default:
		return fmt.Sprintf("sessions/%s/cache/%s-%d", session, log.Table.Name, format)
	}
}

// Within is path.Join for an entry of a listed directory. It does not inspect each byte: there may
// be a million entries.
func Within(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// SessionDir is the directory of a session, relative to the store.
//
//go:noinline
func SessionDir(session id.Session) string { return path.Join("sessions", session.String()) }

// PerformerPath is the performer lock of a session.
func PerformerPath(session id.Session) string { return path.Join(SessionDir(session), PerformerLock) }

// TrashName is the name of a session in the trash. It includes the time, since a session may be
// deleted, restored and deleted again.
func TrashName(s id.Session, atMs int64) string { return fmt.Sprintf("%s.%d", s, atMs) }

// ParseTrashName is the inverse of TrashName; other spellings are not names of the trash.
func ParseTrashName(name string) (s id.Session, atMs int64, ok bool) {
	session, ms, _ := strings.Cut(name, ".")
	s, err := id.ParseSession(session)
	atMs, msErr := strconv.ParseInt(ms, 10, 64)
	return s, atMs, err == nil && msErr == nil && TrashName(s, atMs) == name
}

// ManifestPath is the manifest of a log.
//
//go:noinline
func ManifestPath(log manifest.Log) string { return path.Join(log.Root, manifest.FileName) }

// SegmentsDir is the directory of the segments of a log.
//
//go:noinline
func SegmentsDir(log manifest.Log) string { return path.Join(log.Root, manifest.SegmentDir) }

// ObjectPath is the file of an object.
func ObjectPath(kind manifest.ObjectKind, ref canon.Digest) string {
	return Within(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
}

// ParseObjectName returns the digest of the object of a kind whose file has a name; ok is false for other names.
func ParseObjectName(kind manifest.ObjectKind, name string) (ref canon.Digest, ok bool) {
	ref, err := canon.ParseFileName(strings.TrimSuffix(name, ".json"))
	return ref, err == nil && manifest.ObjectName(kind, ref) == name
}

// SuspectPath is the suspect file of a log.
func SuspectPath(log manifest.Log) string { return path.Join(log.Root, SuspectFile) }
