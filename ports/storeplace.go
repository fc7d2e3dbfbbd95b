package ports

import (
	"context"

	"github.com/waybill/waybill/durable/store/doctor"
)

// StorePlace is where a store is, or would be. It is asked without opening the store, since a store that cannot be opened
// is one of the facts. It never fails: that a fact cannot be determined is a fact as well, and it creates no store.
type StorePlace interface {
	// Describe returns what is at the place.
	Describe() doctor.Store
	// Probe tries what a store relies on, in the store or near it, and removes what it wrote.
	Probe(ctx context.Context) doctor.Probes
	// InUse reports whether a process has the store to itself, and its process id as far as it is known.
	InUse(ctx context.Context) (held bool, pid int)
	// Leftovers counts what a cleanup would look at.
	Leftovers() doctor.Leftovers
	// HasSessions reports whether there are sessions, readable or not.
	HasSessions() bool
}
