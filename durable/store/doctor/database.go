package doctor

import (
	"slices"

	"github.com/waybill/waybill/durable/fault"
)

// Database describes the database of a store that many machines share (docs/design.md#many-machines). The zero Database: the store
// is not in one.
type Database struct {
	Address string // what selects the store; "" for the zero Database
	// Problem is why the facts behind it are not known; nil where they are.
	Problem *fault.Fault

	Server       string // the version of the server, and as a number, such as 150018
	ServerNumber int64
	Name         string // of the database
	Role         string // of the connection
	Schema       string
	Standby      bool // the server is a replica: it allows no writing
	ReadOnly     bool // transactions of the role are read-only
	// HasTables: the schema has the tables of a store, of version Tables; 0 where the role may not read it. KnownTables is the version
	// that this binary uses. Foreign: the schema has tables of another program. Part: it has a part of the tables of a store.
	HasTables           bool
	Tables, KnownTables int64
	Foreign, Part       bool
	StoreID             string // "" before the first commit
	Sessions            int64
	MayWrite, MayCreate bool // the role may write to the tables; it may make a schema

	Fsync, FullPageWrites bool
	SynchronousCommit     string // the default of the server
	SynchronousStandbys   string // the setting synchronous_standby_names
	// SynchronousAttached is how many of them are connected, Attached how many replicas are; less than there are if the role may
	// not see them.
	SynchronousAttached, Attached int64
	LocksExclude                  bool      // an advisory lock excludes another connection
	CommitMs                      []float64 // times of commits
}

// usable reports that the tables can be read.
func (d Database) usable() bool {
	return d.Problem == nil && d.HasTables && !d.Part && d.Tables == d.KnownTables
}

// initCommand makes or changes the tables.
var initCommand = fault.Command{"store", "init"}.String()

// serverLeast is the least version of a server, by its number: 13. Older ones get no corrections of errors any more.
const serverLeast = 130000

// database concludes whether there is a store in a database.
func database(f Facts) Check {
	d := f.Database
	where := "schema " + d.Schema + " of database " + d.Name + ", role " + d.Role + ", PostgreSQL " + d.Server
	problem := fault.Fault{}
	if d.Problem != nil {
		problem = *d.Problem
	}
	return first([]rule{
		{d.Address == "", unknown},
		{d.Problem != nil && d.Server == "", fail(problem.Suggestion.String(), "%s", problem.Message)},
		{d.Standby, fail("Name the primary server in --store; target_session_attrs of the address must not be other than primary.",
			"the server is a replica: %s", where)},
		{d.Part, fail("Restore the whole schema from a backup, or name another one in --store: ?schema=NAME.",
			"the schema has only a part of the tables of a store: %s", where)},
		{d.Foreign, fail("Name another schema in --store: ?schema=NAME.", "the schema has tables that are not of a store: %s", where)},
		{d.Problem == nil && !d.HasTables, fail("Run "+initCommand+".", "there is no store: %s", where)},
		{d.Tables > d.KnownTables, fail("Use a newer version of Waybill.", "the tables have version %d, this binary knows version %d: %s",
			d.Tables, d.KnownTables, where)},
		{d.Problem == nil && d.Tables == 0, fail("Let the owner of the schema grant the rights: "+
			fault.Command{"store", "init", "--reader", d.Role}.String()+".", "the role may not read the tables: %s", where)},
		{d.Problem == nil && d.Tables < d.KnownTables, fail("Let the owner of the schema run "+initCommand+".",
			"the tables have version %d, this binary needs version %d: %s", d.Tables, d.KnownTables, where)},
		{d.Problem != nil, fail("See the log of the server.", "%s: %s", where, problem.Message)},
		{d.ServerNumber < serverLeast, warn("Use PostgreSQL 13 or newer.", "%s, which is older than what Waybill is tested with", where)},
		{d.StoreID == "", ok("no store yet, the first commit creates it: %s", where)},
		{true, ok("%s with %s: %s", d.StoreID, plural(int(d.Sessions), "session"), where)},
	})
}

// rights concludes what the role may do.
func rights(f Facts) Check {
	d := f.Database
	return first([]rule{
		{d.Address == "" || !d.usable(), unknown},
		{d.ReadOnly, warn("Connect with a role that may write.", "transactions of the role %s are read-only", d.Role)},
		{!d.MayWrite, warn("Let the owner of the schema grant the rights: "+fault.Command{"store", "init", "--writer", d.Role}.String()+".",
			"the role %s may read only", d.Role)},
		{!d.LocksExclude, fail("Use PostgreSQL, without a pool of connections that shares transactions.",
			"an advisory lock does not exclude other connections: writers could overwrite each other")},
		{true, ok("the role %s reads and writes; a lock excludes other connections", d.Role)},
	})
}

// durability concludes what an acknowledged commit survives.
func durability(f Facts) Check {
	d := f.Database
	ms := 0.0
	if n := len(d.CommitMs); n > 0 {
		ms = slices.Sorted(slices.Values(d.CommitMs))[n/2]
	}
	c := first([]rule{
		{d.Address == "" || d.Server == "" || d.Standby, unknown},
		{!d.Fsync, fail("Set fsync = on in the configuration of the server.",
			"fsync is off: a power cut of the server can lose or damage what was acknowledged")},
		{!d.FullPageWrites, warn("Set full_page_writes = on, unless the filesystem of the server writes pages as a whole.",
			"full_page_writes is off: a power cut of the server can damage pages")},
		{d.SynchronousStandbys == "", ok("what is acknowledged is on the disk of the server; no replica is waited for, so the loss of that " +
			"disk loses what was not copied")},
		{d.Attached > 0 && d.SynchronousAttached == 0, warn("Start the replicas that synchronous_standby_names names.",
			"commits wait for replicas (%s), and none of them is connected", d.SynchronousStandbys)},
		{true, ok("what is acknowledged is on the disks of the server and of the replicas that it waits for: %s", d.SynchronousStandbys)},
	})
	c.Ms = ms
	return c
}
