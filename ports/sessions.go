package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// Sessions enumerates a store.
type Sessions interface {
	// Sessions lists the sessions of the store by id; a store that is not there
	// has none. Unborn ones (nothing committed) may be among them.
	Sessions(ctx context.Context) ([]id.Session, error)
}

// Strangers is what a store may tell beside its sessions. It is a port of its own
// since a store that only we write to has none.
type Strangers interface {
	// Strangers lists, by name, the folders that hold a log where a session's would
	// stand and that are called like no session. Nothing reads them (R14).
	Strangers(ctx context.Context) ([]string, error)
}

// Identity tells which store this is.
type Identity interface {
	// StoreID is the store's id. Create says whether a store that is not there
	// yet may be made; without it, one that is not there has the zero id.
	StoreID(ctx context.Context, create Create) (id.Store, error)
}

// Create says whether an operation may bring something into being.
type Create bool

// The two answers.
const (
	MayCreate Create = true
	ReadOnly  Create = false
)
