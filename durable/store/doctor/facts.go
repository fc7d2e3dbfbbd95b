// Package doctor judges what was found out about a machine and a store: which of it is
// in order, which is worth a warning, which keeps Waybill from working, and what to do
// about each. It looks at nothing itself.
package doctor

import "github.com/waybill/waybill/durable/fault"

// Facts are what was found out. What was not tried is zero, and has no check.
type Facts struct {
	Binary    Binary
	Store     Store
	Ground    Ground
	Clock     Clock
	Keys      Keys
	Settings  []Setting
	Workflows Workflows
	Git       Git
	Terminal  Terminal
	Verified  Verified
	Left      Left
}

// Binary is the program.
type Binary struct{ Version, Platform, Commit string }

// Kind is the closed set of what may stand where the store should be.
type Kind string

// The kinds.
const (
	Folder  Kind = "folder"
	File    Kind = "file"
	Other   Kind = "other" // a device, a pipe
	Missing Kind = "missing"
	Hidden  Kind = "hidden" // nobody may look
)

// Store is the folder that is meant.
type Store struct {
	Dir     string
	From    string // by which flag or variable
	Unnamed *fault.Fault
	Kind    Kind
	Why     string       // it is hidden
	Problem *fault.Fault // it cannot be opened
	Foreign bool         // another program's
	ID      string
	Format  int
	Mode    uint32 // permission bits; 0 where the platform has none
	Mine    bool   // owned by whoever asks
	Owner   string // else: by whom, as far as that is known
	InUse   bool   // a cleanup or a repair is at work
	Holder  int    // its process
}

// Ground is what was tried, and where.
type Ground struct {
	Dir     string
	InStore bool
	Why     string // nothing could be tried

	Write, Read, Sync, SyncDir string // what went wrong, "" for nothing
	Lock                       string // locks cannot be taken
	Excludes                   bool   // a second one waits for the first
	Place                      string
	Keeps                      bool // a rename does not replace what is there
	Left                       string
	SyncMs                     []float64 // each a write of 4 KiB and a sync
	Umask                      uint32
	UmaskKnown                 bool

	Filesystem  string
	Network     bool
	Memory      bool
	Allowed     bool // --allow-network-fs
	FreeBytes   int64
	SpaceKnown  bool
	WallDriftMs int64 // of the clock against one that never jumps
}

// Clock is what the clock says, and the newest event.
type Clock struct{ NowMs, NewestMs int64 }

// Keys is the state of the keyring.
type Keys struct {
	State, Problem    string // as the document "keys" has it; State "" was not looked at
	Current, Previous string
}

// Setting is a control file; Problem is why it cannot be used.
type Setting struct{ File, Problem string }

// Workflows is where workflows are looked for, and what is there.
type Workflows struct {
	Places []Place
	Broken []string // files that do not validate
	Total  int
	Why    string // they could not be listed
}

// Place is one of those.
type Place struct {
	Name  string
	There bool
	Count int
}

// Git is whether work is done in a repository; the program is not needed.
type Git struct {
	Looked, Repository, Program bool
}

// Terminal is what stands in front of the person.
type Terminal struct {
	Looked, In, Out bool
	Width           int
	Colors          bool
}

// Verified is what verification came to.
type Verified struct {
	Looked           bool
	Sessions, Of     int
	Errors, Warnings int
	First            string // the first error
	Why              string // it could not be done
}

// Left is what lies around.
type Left struct {
	Looked                      bool
	Temporary                   int
	Trashed, Quarantined        int
	TrashBytes, QuarantineBytes int64
	More                        bool // there was too much to look at all of it
}
