package db

import (
	"context"
	"regexp"

	"github.com/waybill/waybill/durable/fault"
)

// tableNames are the tables of this version.
func tableNames() (out []string) {
	created := regexp.MustCompile(`(?m)^create (?:unlogged )?table @\.([a-z_]+)`)
	for _, step := range steps {
		for _, m := range created.FindAllStringSubmatch(step, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// tables is what a schema has. The zero value: nothing.
type tables struct {
	own, others int64 // how many tables have the name of one of a store, or another one
	marked      bool  // it has the table with the version
	numbered    bool  // that table has a column for it
	readable    bool  // and the role may read it
	writable    bool  // the role may add groups
	version     int64 // 0: none is stored
}

// tablesOf finds out what the schema of a connection has.
func tablesOf(ctx context.Context, c *Conn) (t tables, err error) {
	err = c.Run(ctx, Query("with all_of as (select k.oid, k.relname, k.relname = any($2) as own from pg_class k join pg_namespace n on n.oid = k.relnamespace "+
		"where n.nspname = $1 and k.relkind in ('r', 'p', 'v', 'm', 'f')), marker as (select oid from all_of where relname = 'waybill'), "+
		"usable as (select coalesce((select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = $1), false) as ok) "+
		"select (select count(*) from all_of where own), (select count(*) from all_of where not own), exists (select from marker), "+
		"exists (select from pg_attribute join marker on attrelid = oid where attname = 'version' and atttypid = 'bigint'::regtype), "+
		"ok and coalesce((select has_table_privilege(oid, 'select') from marker), false), "+
		"ok and coalesce((select has_table_privilege(oid, 'insert') from all_of where relname = 'groups'), false) from usable",
		c.schema, tableNames()).Into(func(r Row) error {
		t.own, t.others, t.marked, t.numbered, t.readable, t.writable = r.Int(0), r.Int(1), r.IsTrue(2), r.IsTrue(3), r.IsTrue(4), r.IsTrue(5)
		return nil
	}))
	if err != nil || !t.numbered || !t.readable {
		return t, err
	}
	return t, c.Run(ctx, Query("select version from @.waybill").Into(func(r Row) error {
		t.version = r.Int(0)
		return nil
	}))
}

// isForeign reports tables of another program.
func (t tables) isForeign() bool { return t.marked && !t.numbered || !t.marked && t.others > 0 }

// isPart reports a part of the tables of a store, as a restore that was interrupted leaves it.
func (t tables) isPart() bool {
	switch {
	case t.isForeign() || t.own == 0:
		return false
	case !t.marked:
		return true
	case !t.readable:
		return false
	}
	return t.version < 1 || t.version == schemaVersion && t.own < int64(len(tableNames()))
}

// check returns why tables cannot be used; nil: they can be, or the role may not read them.
func (t tables) check(a Address) error {
	switch {
	case t.isForeign():
		return fault.New(fault.StoreForeign, "the schema %s of database %s has tables of another program, and no store", a.schema, a.config.Database).
			Suggest("Name another schema in --store: ?schema=NAME.")
	case t.isPart():
		return fault.New(fault.StoreInvalid, "the schema %s of database %s has only a part of a store: %d of %d tables, version %d", a.schema, a.config.Database,
			t.own, len(tableNames()), t.version).Suggest("Restore the whole schema from a backup, or name another one in --store: ?schema=NAME.")
	case t.own == 0:
		return fault.New(fault.TargetNotFound, "there is no store in schema %s of database %s", a.schema, a.config.Database).
			Suggest("Check --store, or create the store with %s.", fault.Command{"store", "init"})
	case !t.readable:
		return nil
	}
	return checkVersion(t.version)
}
