package pgstore

import (
	"context"

	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/logs"
	"github.com/waybill/waybill/infra/pgstore/repair"
	"github.com/waybill/waybill/ports"
)

type (
	// Address is where a store is: servers, a database, and the schema of the store in it. The zero Address is none.
	Address = db.Address
	// Options are those of a handle.
	Options = db.Options
	// Made is what Init did: the versions of the tables before and after.
	Made = db.Made
	// Roles are roles of the database that get rights on a store.
	Roles = db.Roles
)

// IsAddress reports that the name of a store is the URL of a database, and not a path.
func IsAddress(name string) bool { return db.IsAddress(name) }

// Parse returns the address that a URL names. Errors are those of db.Parse.
func Parse(text string) (Address, error) { return db.Parse(text) }

// Init makes the schema of a store at an address, or changes the tables of an older version, and gives roles their rights. It is called
// again without an effect. Errors are those of db.Init.
func Init(ctx context.Context, a Address, o Options, roles Roles) (Made, error) {
	return db.Init(ctx, a, o, roles)
}

// Describe returns the facts of a database for package doctor, and never fails.
func Describe(ctx context.Context, a Address, o Options) doctor.Database {
	return db.Describe(ctx, a, o)
}

// Store is one handle of a store, composed of its parts. It is safe for use by several goroutines.
type Store struct {
	*logs.Logs
	*repair.Repairer
	*objects
	*controls
	*keeper
	*watchers
	db *db.DB
}

// Store implements the ports of a store.
var (
	_ ports.Logs            = (*Store)(nil)
	_ ports.Locks           = (*Store)(nil)
	_ ports.Objects         = (*Store)(nil)
	_ ports.ObjectStreams   = (*Store)(nil)
	_ ports.Tombstones      = (*Store)(nil)
	_ ports.Sessions        = (*Store)(nil)
	_ ports.SideLogs        = (*Store)(nil)
	_ ports.Identity        = (*Store)(nil)
	_ ports.Tenancy         = (*Store)(nil)
	_ ports.Keyring         = (*Store)(nil)
	_ ports.HeadCache       = (*Store)(nil)
	_ ports.Briefs          = (*Store)(nil)
	_ ports.SessionTimes    = (*Store)(nil)
	_ ports.Changes         = (*Store)(nil)
	_ ports.UnknownEntries  = (*Store)(nil)
	_ ports.Availability    = (*Store)(nil)
	_ ports.Controls        = (*Store)(nil)
	_ ports.SessionControls = (*Store)(nil)
	_ ports.SessionImporter = (*Store)(nil)
	_ ports.Inspector       = (*Store)(nil)
	_ ports.Digests         = (*Store)(nil)
	_ ports.Repairs         = (*Store)(nil)
	_ ports.Retention       = (*Store)(nil)
	_ ports.Trash           = (*Store)(nil)
	_ ports.PerformerStatus = (*Store)(nil)
)

// Open returns a handle of the store at an address. It does not connect: the first call does.
func Open(a Address, o Options) *Store {
	d := db.Open(a, o)
	l := logs.New(d)
	s := &Store{l, repair.New(d, l), &objects{d}, &controls{d}, &keeper{d, l}, &watchers{db: d}, d}
	d.OnCommit(s.announce)
	return s
}

// Close closes the connections that are not in use.
func (s *Store) Close() error {
	s.db.Close()
	return nil
}

// Name is what selects the store on a command line.
func (s *Store) Name() string { return s.db.Address().Name() }
