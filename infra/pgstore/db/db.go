package db

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/ports"
)

// Options are those of a handle.
type Options struct {
	// LockWait is how long a lock is waited for; 0: it is tried once.
	LockWait time.Duration
	// Who is the process that has the handle, as others see it; the zero Holder: this one.
	Who ports.Holder
	// Random is the source of ids and keys; nil: crypto/rand.
	Random io.Reader
	// Clock is that of this process, by which it renews leases and notices their loss; nil: lease.System.
	Clock lease.Clock
	// CommitMost is how long the answer to a commit is waited for; 0: 20 s.
	CommitMost time.Duration
	// ResolveMost is how long the store tries to find out what became of a commit; 0: 15 s.
	ResolveMost time.Duration
}

// The bounds of waiting for the server. A commit waits for the replicas of the server, which can take long or for ever; what is
// not answered in time is resolved.
const (
	// AnswerMost is how long one answer of the server may take.
	AnswerMost  = 30 * time.Second
	commitMost  = 20 * time.Second // for the answer to a commit
	resolveMost = 15 * time.Second // for knowing what became of a commit
	idleLockMs  = 60_000           // how long a lock is held by a process that does nothing
)

// messageMost is the length of the longest message of a server that is read: a row has a segment, with its lines, or a part of an object.
const messageMost = 64 << 20

// DB is one handle of the database of a store. It is safe for use by several goroutines.
type DB struct {
	address   Address
	o         Options
	pool      *pool
	committed func(places ...string)
	unreached *unreached
}

// Open returns a handle of the store at an address. It does not connect: the first call does.
func Open(a Address, o Options) *DB {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Clock == nil {
		o.Clock = lease.System
	}
	o.CommitMost, o.ResolveMost = cmp.Or(o.CommitMost, commitMost), cmp.Or(o.ResolveMost, resolveMost)
	if o.Who == (ports.Holder{}) {
		o.Who.PID = os.Getpid()
		o.Who.Host, _ = os.Hostname()
	}
	d := &DB{address: a, o: o, committed: func(...string) {}, unreached: &unreached{}}
	d.pool = &pool{connect: d.connect}
	return d
}

// OnCommit sets what is called with the places that a commit of this handle changed: roots of logs, and places of control files. It is
// called before the handle is used.
func (d *DB) OnCommit(committed func(places ...string)) { d.committed = committed }

// Close closes the connections that are not in use.
func (d *DB) Close() { d.pool.close() }

// Address is where the store is.
func (d *DB) Address() Address { return d.address }

// Options are those that the handle was opened with, with the defaults for what was not set.
func (d *DB) Options() Options { return d.o }

// connect makes a connection to the primary server, and checks that it has a store of this version.
func (d *DB) connect(ctx context.Context) (*Conn, error) {
	c, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	var version, own int64
	err = c.Run(ctx, Query("select version, (select count(*) from pg_class k join pg_namespace n on n.oid = k.relnamespace "+
		"where n.nspname = $1 and k.relkind = 'r' and k.relname = any($2)) from @.waybill", c.schema, tableNames()).
		Into(func(r Row) error { version, own = r.Int(0), r.Int(1); return nil }))
	if stateOf(err) == "" && err != nil || version == schemaVersion && own == int64(len(tableNames())) {
		return c.orClosed(Failure(ctx, err))
	}
	t, whyErr := tablesOf(ctx, c)
	if whyErr == nil {
		whyErr = t.check(d.address)
	}
	return c.orClosed(Failure(ctx, cmp.Or(whyErr, err)))
}

// orClosed returns the connection, or an error that is not nil and nothing.
func (c *Conn) orClosed(err error) (*Conn, error) {
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// checkVersion refuses tables of other versions.
func checkVersion(version int64) error {
	switch {
	case version > schemaVersion:
		return fault.New(fault.StoreNewer, "the store has tables of version %d; this binary knows version %d", version, schemaVersion).
			Suggest("Use a newer version of Waybill.")
	case version < schemaVersion:
		return fault.New(fault.StoreInvalid, "the store has tables of version %d; this binary needs version %d", version, schemaVersion).
			Suggest("Let the owner of the schema run %s, which changes them.", fault.Command{"store", "init"})
	}
	return nil
}

// dial makes a connection to the primary server.
func (d *DB) dial(ctx context.Context) (*Conn, error) { return d.dialWith(ctx, nil) }

// dialWith is dial with a receiver of notifications.
func (d *DB) dialWith(ctx context.Context, notified pgconn.NotificationHandler) (*Conn, error) {
	config, c := d.address.config.Copy(), &Conn{schema: d.address.schema, limit: AnswerMost, unreached: d.unreached}
	config.OnNotification, config.MaxProtocolMessageBodyLen = notified, messageMost
	config.RuntimeParams["application_name"] = applicationName(d.o.Who)
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" || n.Severity == "WARNING" {
			c.warned = n
		}
	}
	var err error
	if c.pg, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return nil, dialFault(ctx, d.address, err)
	}
	return c, nil
}

// applicationName is the name of a connection, from which others learn who holds a lock; the server keeps 63 bytes of it.
func applicationName(who ports.Holder) string {
	const most = 63
	name := "waybill:" + strconv.Itoa(who.PID) + ":" + who.Host
	return name[:min(len(name), most)]
}

// holderOf is the inverse of applicationName, for a process on another machine or on this one.
func (d *DB) holderOf(name string) (h ports.Holder, ok bool) {
	rest, ok := strings.CutPrefix(name, "waybill:")
	pid, host, cut := strings.Cut(rest, ":")
	if h.PID, _ = strconv.Atoi(pid); !ok || !cut || h.PID <= 0 {
		return ports.Holder{}, false
	}
	return d.Seen(ports.Holder{PID: h.PID, Host: host}), true
}

// Holder returns the process that holds a lock, as its connection is named; ok is false if there is none, or it cannot be found out.
func (d *DB) Holder(ctx context.Context, name string) (by ports.Holder, ok bool) {
	_ = d.Run(ctx, Query("select a.application_name::text from pg_locks k join pg_stat_activity a using (pid) where k.locktype = 'advisory' "+
		"and k.granted and k.database = (select oid from pg_database where datname = current_database()) and k.objsubid = 1 "+
		"and ((k.classid::bigint << 32) | k.objid::bigint) = $1 limit 1", LockName(name)).Into(func(r Row) error {
		by, ok = d.holderOf(r.Text(0))
		return nil
	}))
	return by, ok
}

// Seen returns a holder as this machine names it: without its own name.
func (d *DB) Seen(h ports.Holder) ports.Holder {
	if h.Host == d.o.Who.Host {
		h.Host = ""
	}
	return h
}

// WithPID adds the process id of a holder on this machine to a fault, as a store in a directory does.
func WithPID(f *fault.Fault, by ports.Holder) *fault.Fault {
	if by.Host == "" && by.PID > 0 {
		f = f.With("holderPid", by.PID)
	}
	return f
}

// Run runs statements on a connection of the pool, in one transaction. What fails on a connection that was made earlier,
// before it gave a row, is tried once more on a new one: the server may have been started again since. It is for reading, and for
// changes that may be made twice. Errors are those of Failure.
func (d *DB) Run(ctx context.Context, all ...Statement) error {
	for {
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		c, fresh, err := d.pool.take(ctx)
		if err != nil {
			return d.unreached.note(err)
		}
		rows := false
		counted := make([]Statement, len(all))
		for i, one := range all {
			counted[i] = one.Into(func(r Row) error {
				rows = true
				if one.each == nil {
					return nil
				}
				return one.each(r)
			})
		}
		err = c.Run(ctx, counted...)
		gone := c.pg.IsClosed()
		d.pool.give(c)
		if err == nil || fresh || rows || !gone || ctx.Err() != nil {
			return d.unreached.note(Failure(ctx, err))
		}
	}
}

// RunOnce runs statements on a connection of the pool without a second try. They may begin and commit a transaction; one that an
// error leaves open is rolled back. Errors are those of Failure.
func (d *DB) RunOnce(ctx context.Context, all ...Statement) error {
	c, _, err := d.pool.take(ctx)
	if err != nil {
		return d.unreached.note(err)
	}
	defer d.Rollback(c)
	return d.unreached.note(Failure(ctx, c.Run(ctx, all...)))
}

// interrupted is the fault of a call whose context ended.
func interrupted(ctx context.Context) error {
	return fault.Wrap(ctx.Err(), fault.Interrupted, "using the store was interrupted")
}

// channel is the name of the notifications of the store.
func (d *DB) channel() string { return "waybill_" + d.address.schema }

// Listen receives the notifications of commits on a connection of its own, until it or ctx ends; begun is called when it begins to, and
// each with each place that changed. Places may be missed: the caller looks for changes as well.
func (d *DB) Listen(ctx context.Context, begun func(), each func(place string)) {
	received := make(chan string, 64)
	c, err := d.dialWith(ctx, func(_ *pgconn.PgConn, n *pgconn.Notification) {
		select {
		case received <- n.Payload:
		default: // the look finds it
		}
	})
	if err != nil {
		return
	}
	defer c.close()
	if c.Run(ctx, Query(`listen "`+d.channel()+`"`)) != nil {
		return
	}
	begun()
	for c.pg.WaitForNotification(ctx) == nil {
		for more := true; more; {
			select {
			case place := <-received:
				each(place)
			default:
				more = false
			}
		}
	}
}
