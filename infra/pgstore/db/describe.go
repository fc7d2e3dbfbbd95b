package db

import (
	"context"
	"strconv"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
)

// commitsTimed is how many commits Describe times.
const commitsTimed = 5

// Describe returns the facts of a database for package doctor. That something cannot be found out is a fact too: it never fails,
// and changes nothing but the write-ahead log of the server, in which each timed commit leaves a record.
func Describe(ctx context.Context, a Address, o Options) doctor.Database {
	out := doctor.Database{Address: a.name, Schema: a.schema, KnownTables: schemaVersion}
	d := Open(a, o)
	defer d.Close()
	c, err := d.dial(ctx)
	if err == nil {
		defer c.close()
		err = d.describe(ctx, c, &out)
	}
	if err != nil {
		out.Problem = fault.Of(Failure(ctx, err))
	}
	return out
}

// describe reads the facts on a connection.
func (d *DB) describe(ctx context.Context, c *Conn, out *doctor.Database) error {
	err := c.Run(ctx,
		Query("select current_setting('server_version'), current_setting('server_version_num')::bigint, current_database()::text, current_user::text, "+
			"pg_is_in_recovery(), current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on', current_setting('synchronous_commit'), "+
			"current_setting('synchronous_standby_names'), current_setting('transaction_read_only') = 'on'").Into(func(r Row) error {
			out.Server, out.ServerNumber, out.Name, out.Role, out.Standby = r.Text(0), r.Int(1), r.Text(2), r.Text(3), r.IsTrue(4)
			out.Fsync, out.FullPageWrites, out.SynchronousCommit, out.SynchronousStandbys = r.IsTrue(5), r.IsTrue(6), r.Text(7), r.Text(8)
			out.ReadOnly = r.IsTrue(9)
			return nil
		}),
		Query("select count(*) filter (where sync_state in ('sync', 'quorum')), count(sync_state) from pg_stat_replication").Into(func(r Row) error {
			out.SynchronousAttached, out.Attached = r.Int(0), r.Int(1)
			return nil
		}),
		Query("select has_database_privilege(current_database(), 'create')").Into(func(r Row) error { out.MayCreate = r.IsTrue(0); return nil }))
	if err != nil {
		return err
	}
	t, err := tablesOf(ctx, c)
	out.HasTables, out.Foreign, out.Part, out.MayWrite, out.Tables = t.own > 0, t.isForeign(), t.isPart(), t.writable, t.version
	if err != nil || !t.readable || out.Part || out.Tables != schemaVersion {
		return err
	}
	err = c.Run(ctx, Query("select id from @.store").Into(func(r Row) error { out.StoreID = r.Text(0); return nil }),
		Query("select count(*) from @.logs where "+OwnSession).Into(func(r Row) error { out.Sessions = r.Int(0); return nil }))
	if err != nil || out.Standby || out.ReadOnly || !out.MayWrite {
		return err
	}
	return d.timeCommits(ctx, c, out)
}

// timeCommits measures commits that wait for what a commit of the store waits for, and tries whether a lock excludes another connection.
func (d *DB) timeCommits(ctx context.Context, c *Conn, out *doctor.Database) error {
	for range commitsTimed {
		if err := c.Run(ctx, d.begin()...); err != nil {
			return err
		}
		began := time.Now()
		if err := d.Commit(ctx, c); err != nil {
			return err
		}
		out.CommitMs = append(out.CommitMs, float64(time.Since(began).Microseconds())/1000)
	}
	other, err := d.dial(ctx)
	if err != nil {
		return err
	}
	defer other.close()
	name := "check/" + strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := c.Run(ctx, append(d.begin(), LockStatement(name, false))...); err != nil {
		return err
	}
	free := true
	err = other.Run(ctx, Query("select pg_try_advisory_xact_lock($1)", LockName(name)).Into(func(r Row) error { free = r.IsTrue(0); return nil }))
	out.LocksExclude = err == nil && !free
	_ = c.Run(ctx, Query("rollback"))
	return err
}
