package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// Sessions lists the sessions of a store.
type Sessions interface {
	// Sessions returns the ids of the sessions in order; a store that does not exist has none.
	// Sessions without commits may be included.
	Sessions(ctx context.Context) ([]id.Session, error)
}

// UnknownEntries reports unknown entries among the sessions. It is a separate port because only stores
// that other programs write to need it.
type UnknownEntries interface {
	// UnknownEntries lists, by name, what is among the sessions, contains a log and has a
	// name that is not a session id. They are never read (docs/design.md#foreign-stores).
	UnknownEntries(ctx context.Context) ([]string, error)
}

// Identity identifies a store.
type Identity interface {
	// StoreID returns the id of the store. With MayCreate a store that does not exist is created;
	// with ReadOnly it has the zero id.
	StoreID(ctx context.Context, create Create) (id.Store, error)
}

// Tenancy names the tenant to which a store belongs.
type Tenancy interface {
	// Tenant returns the name of the tenant, which is never empty: the one that the store recorded when it
	// was created, else the one under which it was opened.
	Tenant(ctx context.Context) (string, error)
}

// Create states whether an operation may create what does not exist.
type Create bool

// The values of Create.
const (
	MayCreate Create = true
	ReadOnly  Create = false
)
