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
func ArtifactPath(ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(manifest.Artifact), manifest.ObjectName(manifest.Artifact, ref))
}

// InstalledPath is the second file with the same bytes, once a proposal of them was applied.
func InstalledPath(ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(manifest.Installed), manifest.ObjectName(manifest.Installed, ref))
}

// HeadPath is the path of the head cache of a log: for a session's log and its side logs in the
// session's cache directory, for a log of the store in the store's. Each format has its own file,
// so that two versions of the binary do not replace each other's cache.
//
// Examples, for format 3:
//
//	cache/audit-3
//	sessions/sess_…/cache/head-3
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
func SessionDir(session id.Session) string { return path.Join("sessions", session.String()) }

// TrashName is the name of a session in the trash. It includes the time, since a session may be
// deleted, restored and deleted again.
func TrashName(s id.Session, atMs int64) string { return fmt.Sprintf("%s.%d", s, atMs) }

// ParseTrashName is the inverse of trashName; other spellings are not names of the trash.
func ParseTrashName(name string) (s id.Session, atMs int64, ok bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return s, 0, false
	}
	s, err := id.ParseSession(name[:at])
	if err != nil {
		return s, 0, false
	}
	atMs, err = strconv.ParseInt(name[at+1:], 10, 64)
	return s, atMs, err == nil && TrashName(s, atMs) == name
}
