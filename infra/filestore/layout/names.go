package layout

import (
	"path"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// StoreNames lists the names at the top of a store, those included whose content is checked
// elsewhere or not at all.
var StoreNames = []string{StoreFile, "config.json", "trust.json", UseLock, "keys", "sessions", "snapshots", "artifacts",
	"workflows", "proposals", "audit", "idempotency", "installed", QuarantineDir, "trash", "cache"}

// StoreDirs lists the names at the top of a store that are directories, those of logs included.
var StoreDirs = []string{"keys", "sessions", "snapshots", "artifacts", "workflows", "proposals", "audit",
	"idempotency", "installed", QuarantineDir, TrashDir, "cache"}

// KeyNames lists the names in the directory of keys.
var KeyNames = []string{path.Base(KeyringFile), path.Base(HTTPKeysFile)}

// DirsWithoutMentions lists those of StoreDirs in which no file refers to an object: objects, keys and caches.
var DirsWithoutMentions = []string{"keys", "snapshots", "artifacts", "installed", "cache"}

// SessionDirs lists the names in a session's directory that are directories.
var SessionDirs = []string{manifest.SegmentDir, "annotations", "cache"}

// SessionNames lists the names in a session's directory.
var SessionNames = []string{manifest.FileName, manifest.SegmentDir, "annotations", ".lock", PerformerLock, SuspectFile,
	ports.KeepFile.Name, ports.ImportedFile.Name, "cache"}

// KnownSideLogs lists the names of the side logs of this version, those of a session first.
var KnownSideLogs = []string{"annotations", "proposals", "audit", "idempotency"}

// SideLogNames lists the names in a side log's directory.
var SideLogNames = []string{manifest.FileName, manifest.SegmentDir, ".lock", SuspectFile, "cache"}

// PartsWithoutMentions lists the parts of a store that ReadOtherContent omits: logs, objects, locks and
// control files, whose references are found in other ways or which have none.
var PartsWithoutMentions = []string{
	StoreFile,
	"config.json",
	"trust.json",
	UseLock,
	"keys",
	"sessions",
	"snapshots",
	"artifacts",
	"workflows",
	TrashDir,
	"cache",
}

// RemovableUnborn lists the names in the directory of a session without commits that upkeep
// may remove. Any other file keeps the directory.
var RemovableUnborn = []string{manifest.FileName, manifest.SegmentDir, ".lock", PerformerLock, SuspectFile, "cache"}

// NotSideLogs are the directories of a store and of a session that are never side logs, independent
// of their content.
var NotSideLogs = []string{"sessions", "snapshots", "artifacts", "workflows", "keys", QuarantineDir, "trash", "cache",
	"installed", manifest.SegmentDir}
