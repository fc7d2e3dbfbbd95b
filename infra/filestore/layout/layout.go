// Package layout names everything in a store: its directories, files, locks, control files and their formats, and what
// may be where (docs/format.md). It opens no file.
package layout

import (
	"runtime"
	"strings"

	"github.com/waybill/waybill/durable/log/manifest"
)

// SuspectFile marks a log whose manifest failed to sync; its syncs prove nothing until the manifest
// is copied. It also contains the arrival mark of an imported session (package arrive).
const SuspectFile = "suspect"

// QuarantineDir holds files that were moved out of use: orphaned segments, what a repair removed,
// and unborn sessions in the way of an import. Nothing in it is read as part of the store.
const QuarantineDir = "quarantine"

// UseLock is held shared while a commit refers to objects, and exclusively by every operation that
// unlinks or moves files, so that no object disappears between its check and the commit
// (docs/design.md#commit-protocol).
const UseLock = ".use.lock"

// LockName is the path of a log's single-writer lock, relative to the store.
func LockName(log manifest.Log) string { return log.Root + "/.lock" }

// LockNames are the names of the lock files in the directory of a log.
var LockNames = []string{".lock", PerformerLock}

// PerformerLock is held by the process that performs a run of a session
// (docs/design.md#ends-and-branches).
const PerformerLock = ".performer.lock"

// TempPrefix marks files that have not been placed at their final name. Readers ignore them, and gc
// removes those that a crash left.
const TempPrefix = ".tmp-"

// IsTemp reports a name of such a file.
func IsTemp(name string) bool { return strings.HasPrefix(name, TempPrefix) }

// The file that makes a directory a store, its kind and its only format so far.
const (
	StoreFile    = "store.json"
	StoreKind    = "store"
	StoreVersion = 1
)

// Skeleton lists the directories that a new store contains. They are durable before store.json is,
// so that no commit has to sync the path to them.
var Skeleton = []string{"sessions", "snapshots", "artifacts", "workflows", "workflows/pinned", "keys", "quarantine"}

// MoveNeedsClosedFiles: Windows refuses to move a directory with open files in it. There the locks
// inside a directory are released before the move; a file that another process opens in between
// makes the move fail.
const MoveNeedsClosedFiles = runtime.GOOS == "windows"
