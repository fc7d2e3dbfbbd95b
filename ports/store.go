package ports

import "context"

// Store is an opened store as the commands have it: what every store provides, in files or in a database. What only some provide
// is a capability: an interface that the caller asks the store for. A store has Briefs, or SessionStates from which an index
// is made; without both, each list reads every session.
type Store interface {
	Logs
	Locks
	Objects
	ObjectStreams
	Sessions
	UnknownEntries
	SideLogs
	Identity
	Tenancy
	Keyring
	HeadCache
	Inspector
	Digests
	Controls
	SessionControls
	SessionImporter
	Tombstones
	Retention
	Trash
	Repairs
	Availability
	Changes
	SessionTimes
	PerformerStatus

	// Performers gives the port that keeps the performers of sessions apart.
	Performers() Performers
	// Hooks are the files that the hooks of clients keep.
	Hooks() GuardFiles
	// Payloads are those that were printed for signing.
	Payloads() Payloads

	// Name is what selects the store on any command line of this machine and what people are shown: for a store in a
	// directory its absolute path.
	Name() string
	// Exists reports whether the store exists. One that does not is empty, and is created by the first write.
	Exists(ctx context.Context) (bool, error)
	// Close releases what the store holds open.
	Close() error
}

// Payloads keeps the payloads that were printed for signing, so that a signature made elsewhere finds the text that it
// is over. It is a cache: it may be lost or forged, and its reader checks each text like one from outside.
type Payloads interface {
	// Save appends a text without line ends. It creates no store. Of two processes that save at the same moment one text
	// may be lost.
	Save(text []byte) error
	// List returns the texts, the newest first; none if there are none.
	List() ([][]byte, error)
}
