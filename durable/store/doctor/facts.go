// Package doctor judges facts about a machine and a store for the command doctor: each check
// passes, warns or fails, with a suggestion what to do.
//
// It collects no facts, reads no files and changes nothing; the caller passes Facts. The entry
// point is Judge.
package doctor

import "github.com/waybill/waybill/durable/fault"

// Facts are the collected facts. A zero member was not collected, and has no check.
type Facts struct {
	Binary    Binary
	Store     Store
	Database  Database
	Probes    Probes
	Clock     Clock
	Keys      Keys
	Settings  []Setting
	Workflows Workflows
	Git       Git
	Terminal  Terminal
	Verified  Verified
	Leftovers Leftovers
}

// Binary describes the program.
type Binary struct{ Version, Platform, Commit string }

// Kind is the closed set of kinds of the selected path.
type Kind string

// The kinds.
const (
	Directory Kind = "folder" // a directory
	File      Kind = "file"
	Other     Kind = "other" // a device, a pipe
	Missing   Kind = "missing"
	Hidden    Kind = "hidden" // its parent directories do not permit access
)

// Store describes the selected directory.
type Store struct {
	Dir string
	// From is the flag or variable that selects Dir.
	From string
	// NotSelected is the reason why no directory is selected; nil where one is.
	NotSelected *fault.Fault
	Kind        Kind
	// Why is the reason for kind Hidden.
	Why string
	// Problem is why the store cannot be opened; nil where it can.
	Problem *fault.Fault
	// Foreign: another program wrote the store.
	Foreign bool
	// ID is the store id, "" for a directory without a store.
	ID     string
	Format int
	// Mode is the permission bits of Dir, 0 where the platform has none.
	Mode uint32
	// OwnedByUser: Dir is owned by the user who runs the command.
	OwnedByUser bool
	// Owner is the name of another owner, as far as known.
	Owner string
	// InUse: a cleanup or a repair has locked the store.
	InUse bool
	// Holder is the process id of the lock's holder, 0 if unknown.
	Holder int
}

// Probes describes the probes of the filesystem: what was tried, in which directory.
type Probes struct {
	Dir string
	// InStore: Dir is the store itself, and not a directory above it.
	InStore bool
	// Why is the reason why nothing could be tried.
	Why string

	// Write, Read, Sync and SyncDir are the errors of those probes, "" for none.
	Write, Read, Sync, SyncDir string
	// Lock is the error of acquiring a lock.
	Lock string
	// Excludes: a held lock excludes a second one.
	Excludes bool
	// RenameError is the error of renaming a file.
	RenameError string
	// RenameKeepsExisting: a rename does not replace an existing file.
	RenameKeepsExisting bool
	// Unremoved is the path of a probe file that could not be removed.
	Unremoved string
	// SyncMs is the times of writing and syncing 4 KiB.
	SyncMs     []float64
	Umask      uint32
	UmaskKnown bool

	// Filesystem is its type, "" if unknown; Network and Memory classify it.
	Filesystem string
	Network    bool
	Memory     bool
	// Allowed: --allow-network-fs was given.
	Allowed    bool
	FreeBytes  int64
	SpaceKnown bool
	// WallDriftMs is the drift of the system clock against a monotonic one during the probes.
	WallDriftMs int64
}

// Clock is the time of the system clock and that of the newest event, in Unix milliseconds.
type Clock struct{ NowMs, NewestMs int64 }

// Keys is the state of the keyring.
type Keys struct {
	// State and Problem are as in the document "keys"; State is "" where it was not read.
	State, Problem string
	// Current and Previous are short key ids.
	Current, Previous string
}

// Setting is a control file; Problem is why it cannot be used, "" for none.
type Setting struct{ File, Problem string }

// Workflows describes where workflows are searched and what was found.
type Workflows struct {
	Sources []Source
	// Broken is the files that do not validate.
	Broken []string
	Total  int
	// Why is the reason why they could not be listed.
	Why string
}

// Source is one source of workflows.
type Source struct {
	Name string
	// Exists: the directory exists.
	Exists bool
	Count  int
}

// Git states whether the working directory is in a repository, and whether the program is
// installed.
type Git struct {
	Checked, Repository, Program bool
}

// Terminal describes standard input and output.
type Terminal struct {
	// In and Out: standard input and output are connected to a terminal.
	Checked, In, Out bool
	// Width is in columns, 0 if unknown.
	Width  int
	Colors bool
}

// Verified is the result of verifying sessions.
type Verified struct {
	Checked bool
	// Sessions is how many were verified, Of how many exist.
	Sessions, Of     int
	Errors, Warnings int
	// First is the message of the first error.
	First string
	// Why is the reason why sessions could not be read.
	Why string
}

// Leftovers is the files that a cleanup may remove.
type Leftovers struct {
	Checked bool
	// Temporary is the number of files of interrupted calls.
	Temporary                   int
	Trashed, Quarantined        int
	TrashBytes, QuarantineBytes int64
	// More: the counts are incomplete, since there were too many files.
	More bool
}
